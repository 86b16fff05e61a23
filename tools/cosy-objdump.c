/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * cosy-objdump - show the compounds in executables, libraries and object files.
 *
 * Bytes that begin with the magic number at an 8-byte boundary and pass the verifier are a
 * compound. So neither symbols nor a section are needed, and stripped files work. The files
 * are not trusted.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <getopt.h>
#include <inttypes.h>
#include <libelf.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cosy/asm.h>
#include <cosy/region.h>

static const char program[] = "cosy-objdump";

enum { WRONG_USAGE = 2 };

/** struct options - the form of the output; by default a line per compound */
struct options {
	bool disassemble;
	bool summary;
};

/** struct totals - the contents of a file or compound */
struct totals {
	unsigned long compounds;
	unsigned long operations;
	unsigned long calls;
	unsigned long upcalls;
	unsigned long bytes;
};

/** struct target - a file that is scanned */
struct target {
	const char *name;	/* as printed, with the member of an archive */
	const struct options *options;
	struct totals totals;
	bool damaged;
	const struct cosy_region *regions;	/* as in the file, or NULL */
	size_t nregions;
};

/* Print a name, also of an untrusted file, without bytes that are commands to a terminal. */
static void print_name_to(FILE *out, const char *name)
{
	for (; *name; name++)
		putc((unsigned char)*name < ' ' || *name == 127 ? '?' : *name,
		     out);
}

static void print_name(const char *name)
{
	print_name_to(stdout, name);
}

static void __attribute__((format(printf, 2, 3)))
complain(const char *name, const char *format, ...)
{
	va_list arguments;
	char *text;

	fflush(stdout);
	fprintf(stderr, "%s: ", program);
	print_name_to(stderr, name);
	fputs(": ", stderr);
	va_start(arguments, format);
	if (vasprintf(&text, format, arguments) >= 0) {
		print_name_to(stderr, text);
		free(text);
	}
	va_end(arguments);
	fputc('\n', stderr);
}

/*
 * One compound. In these functions, @image is a verified image.
 */

static const struct cosy_op *ops_of(const struct cosy_header *image)
{
	return (const void *)(image + 1);
}

static const struct cosy_line *lines_of(const struct cosy_header *image)
{
	return (const void *)(ops_of(image) + image->nops);
}

static const char *string_of(const struct cosy_header *image, uint32_t offset)
{
	return (const char *)(lines_of(image) + image->nlines) + offset;
}

static void count_operations(const struct cosy_header *image,
			     struct totals *totals)
{
	const struct cosy_op *ops = ops_of(image);

	for (uint32_t i = 0; i < image->nops; i++) {
		switch (ops[i].code) {
		case COSY_OP_ARG:
		case COSY_OP_CASE:
			break;
		case COSY_OP_SYS:
		case COSY_OP_LIBC:
			totals->calls++;
			totals->operations++;
			break;
		case COSY_OP_CALL:
		case COSY_OP_UPCALL:
			totals->upcalls++;
			totals->operations++;
			break;
		default:
			totals->operations++;
		}
	}
	totals->compounds++;
	totals->bytes += image->size;
}

/*
 * Return the line of COSY_START. The plugin and the linker keep regions and compounds in the
 * same order. Return 0 if they are not in this file, or if it has no regions.
 */
static uint32_t line_of_region(const struct cosy_header *image,
			       const struct target *target)
{
	size_t index = target->totals.compounds;
	struct cosy_region region;

	if (index >= target->nregions)
		return 0;
	memcpy(&region, &target->regions[index], sizeof(region));
	if (region.abi != COSY_REGION_ABI || region.size != image->size ||
	    region.nregs != image->nregs)
		return 0;
	return region.line;
}

/* Print the source line of the region, or that of its first operation if only that is known. */
static void print_place(const struct cosy_header *image, uint32_t region_line)
{
	const struct cosy_line *lines = lines_of(image);

	for (uint32_t i = 0; i < image->nlines; i++) {
		if (lines[i].line) {
			print_name(string_of(image, lines[i].file));
			printf(":%" PRIu32,
			       region_line ? region_line : lines[i].line);
			return;
		}
	}
	printf("unknown place");
}

static void print_plural(unsigned long n, const char *what)
{
	printf("%lu %s%s", n, what, n == 1 ? "" : "s");
}

static void print_totals(const struct totals *totals)
{
	print_plural(totals->operations, "operation");
	printf(", ");
	print_plural(totals->calls, "system call");
	if (totals->upcalls) {
		printf(", ");
		print_plural(totals->upcalls, "up-call");
	}
}

static void print_compound(const struct cosy_header *image,
			   uint32_t region_line)
{
	const char *function = string_of(image, image->name);
	struct totals own = { 0 };

	count_operations(image, &own);
	printf("  ");
	print_place(image, region_line);
	printf(": ");
	print_name(*function ? function : "(no name)");
	printf(": ");
	print_totals(&own);
	printf(", ");
	print_plural(image->ninputs, "input");
	printf(", ");
	print_plural(image->nout, "output");
	printf(", ");
	print_plural(image->size, "byte");
	putchar('\n');
}

static void show(const struct cosy_header *image, struct target *target)
{
	uint32_t region_line = line_of_region(image, target);
	struct cosy_diag diag;

	if (!target->totals.compounds && !target->options->summary) {
		print_name(target->name);
		puts(":");
	}
	count_operations(image, &target->totals);
	if (target->options->summary)
		return;
	print_compound(image, region_line);
	if (target->options->disassemble) {
		putchar('\n');
		cosy_disassemble(image, image->size,
				 COSY_DIS_PC | COSY_DIS_SOURCE, stdout, &diag);
		putchar('\n');
	}
}

/*
 * Search for compounds
 */

/*
 * Return a copy of the image at @bytes in aligned memory, or NULL. @rest bytes are there, at
 * least those of a header.
 */
static struct cosy_header *copy_image(const char *bytes, size_t rest,
				      const char *where, size_t offset,
				      struct target *target)
{
	struct cosy_header header, *image;
	struct cosy_diag diag;

	memcpy(&header, bytes, sizeof(header));
	if (header.magic != COSY_MAGIC || header.size < sizeof(header) ||
	    header.size > rest || header.size > COSY_MAX_SIZE)
		return NULL;
	image = malloc(header.size);
	if (!image) {
		complain(target->name, "out of memory");
		exit(EXIT_FAILURE);
	}
	memcpy(image, bytes, header.size);
	if (!cosy_verify(image, header.size, &diag))
		return image;
	complain(target->name,
		 "%s+0x%zx: looks like a compound, but offset %u: %s", where,
		 offset, diag.offset, diag.reason);
	target->damaged = true;
	free(image);
	return NULL;
}

static void scan(const char *bytes, size_t size, const char *where,
		 struct target *target)
{
	size_t offset = 0;

	while (size - offset >= sizeof(struct cosy_header)) {
		struct cosy_header *image = copy_image(bytes + offset,
						       size - offset, where,
						       offset, target);
		size_t step = 8;

		if (image) {
			show(image, target);
			step = ((size_t)image->size + 7) / 8 * 8;
			free(image);
		}
		if (step > size - offset)
			break;
		offset += step;
	}
}

/* Scan a section or segment of @size bytes. @data: NULL if it is not in the file. */
static void scan_data(Elf_Data *data, uint64_t size, const char *where,
		      struct target *target)
{
	if (data && data->d_buf) {
		scan(data->d_buf, data->d_size, where, target);
	} else if (size) {
		complain(target->name,
			 "damaged ELF file: %s is beyond its end", where);
		target->damaged = true;
	}
}

static void find_regions(Elf *elf, size_t names, struct target *target)
{
	Elf_Scn *section = NULL;

	while ((section = elf_nextscn(elf, section))) {
		const char *name;
		GElf_Shdr header;
		Elf_Data *data;

		if (!gelf_getshdr(section, &header))
			return;
		name = elf_strptr(elf, names, header.sh_name);
		if (!name || strcmp(name, "cosy_regions") ||
		    header.sh_type == SHT_NOBITS)
			continue;
		data = elf_rawdata(section, NULL);
		if (!data || !data->d_buf)
			continue;
		target->regions = data->d_buf;
		target->nregions = data->d_size / sizeof(*target->regions);
	}
}

static bool scan_sections(Elf *elf, struct target *target)
{
	Elf_Scn *section = NULL;
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return false;
	find_regions(elf, names, target);
	while ((section = elf_nextscn(elf, section))) {
		const char *name;
		GElf_Shdr header;

		if (!gelf_getshdr(section, &header))
			return false;
		if (header.sh_type == SHT_NOBITS ||
		    !(header.sh_flags & SHF_ALLOC))
			continue;
		name = elf_strptr(elf, names, header.sh_name);
		scan_data(elf_rawdata(section, NULL), header.sh_size,
			  name ? name : "section", target);
	}
	return true;
}

static bool scan_segments(Elf *elf, struct target *target)
{
	size_t count, size;

	if (elf_getphdrnum(elf, &count))
		return false;
	elf_rawfile(elf, &size);
	for (size_t i = 0; i < count && i < INT32_MAX; i++) {
		GElf_Phdr header;
		bool is_in_file;

		if (!gelf_getphdr(elf, (int)i, &header))
			return false;
		if (header.p_type != PT_LOAD)
			continue;
		is_in_file = header.p_offset <= size &&
			     header.p_filesz <= size - header.p_offset;
		scan_data(is_in_file ?
				  elf_getdata_rawchunk(elf,
						       (int64_t)header.p_offset,
						       header.p_filesz,
						       ELF_T_BYTE) :
				  NULL,
			  header.p_filesz, "segment", target);
	}
	return true;
}

static bool dump_object(Elf *elf, const char *name,
			const struct options *options)
{
	struct target target = { .name = name, .options = options };
	GElf_Ehdr header;
	size_t sections;
	bool ok;

	if (!gelf_getehdr(elf, &header) || elf_getshdrnum(elf, &sections)) {
		complain(name, "damaged ELF file: %s", elf_errmsg(-1));
		return false;
	}
	/* libelf reports no sections, too, if they are not in the file. */
	if (!sections && header.e_shoff) {
		complain(name,
			 "damaged ELF file: the section headers are beyond its end");
		target.damaged = true;
	}
	/* A file whose section headers are stripped still has segments. */
	ok = sections ? scan_sections(elf, &target) :
			scan_segments(elf, &target);
	if (!ok) {
		complain(name, "damaged ELF file: %s", elf_errmsg(-1));
		return false;
	}
	if (!target.totals.compounds && target.damaged)
		return false;
	if (!target.totals.compounds) {
		print_name(name);
		puts(": no compounds");
	} else if (options->summary) {
		print_name(name);
		printf(": ");
		print_plural(target.totals.compounds, "compound");
		printf(", ");
		print_totals(&target.totals);
		printf(", ");
		print_plural(target.totals.bytes, "byte");
		putchar('\n');
	}
	return !target.damaged;
}

static bool is_bitcode(const char *bytes, size_t size)
{
	return size >= 4 && !memcmp(bytes, "BC\xc0\xde", 4);
}

/* Report a file that is not an ELF file, or a member of an archive. @bytes: its first ones. */
static void explain_no_elf(const char *name, const char *bytes, size_t size)
{
	if (is_bitcode(bytes, size))
		complain(name,
			 "LLVM bitcode (-flto): the linker adds the compounds; use the linked program");
	else
		complain(name, "not an ELF file or archive");
}

static bool dump_member(Elf *member, const char *name,
			const struct options *options)
{
	size_t size = 0;
	const char *bytes;

	if (elf_kind(member) == ELF_K_ELF)
		return dump_object(member, name, options);
	/* An archive may contain files of any other kind. */
	bytes = elf_rawfile(member, &size);
	if (!bytes || !is_bitcode(bytes, size))
		return true;
	explain_no_elf(name, bytes, size);
	return false;
}

static bool dump_archive(int fd, Elf *archive, const char *name,
			 const struct options *options)
{
	Elf_Cmd command = ELF_C_READ;
	bool ok = true;
	Elf *member;

	while ((member = elf_begin(fd, command, archive))) {
		Elf_Arhdr *header = elf_getarhdr(member);
		char *full = NULL;

		if (header &&
		    asprintf(&full, "%s(%s)", name, header->ar_name) >= 0) {
			ok &= dump_member(member, full, options);
			free(full);
		}
		command = elf_next(member);
		elf_end(member);
	}
	return ok;
}

static bool dump_file(const char *name, const struct options *options)
{
	char magic[4] = { 0 };
	bool ok = false;
	struct stat st;
	Elf *elf;
	int fd;

	fd = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0 || fstat(fd, &st)) {
		complain(name, "%s", strerror(errno));
		goto out;
	}
	if (!S_ISREG(st.st_mode)) {
		complain(name, "not a regular file");
		goto out;
	}
	elf = elf_begin(fd, ELF_C_READ, NULL);
	switch (elf ? elf_kind(elf) : ELF_K_NONE) {
	case ELF_K_ELF:
		ok = dump_object(elf, name, options);
		break;
	case ELF_K_AR:
		ok = dump_archive(fd, elf, name, options);
		break;
	default:
		if (pread(fd, magic, sizeof(magic), 0) < 0)
			complain(name, "%s", strerror(errno));
		else
			explain_no_elf(name, magic, sizeof(magic));
	}
	elf_end(elf);
out:
	if (fd >= 0)
		close(fd);
	return ok;
}

static void usage(FILE *out)
{
	fprintf(out,
		"usage: %s [-d | -s] FILE...\n"
		"Show the compounds in executables, libraries, object files and archives.\n"
		"\n"
		"  -d, --disassemble  print the operations with their source lines\n"
		"  -s, --summary      print one line per file\n"
		"  -h, --help         print this text\n"
		"      --version      print the version\n",
		program);
}

int main(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "disassemble", no_argument, NULL, 'd' },
		{ "summary", no_argument, NULL, 's' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'v' },
		{ 0 },
	};
	struct options options = { 0 };
	int status = EXIT_SUCCESS;
	int option;

	while ((option = getopt_long(argc, argv, "dsh", longs, NULL)) != -1) {
		switch (option) {
		case 'd':
			options.disassemble = true;
			break;
		case 's':
			options.summary = true;
			break;
		case 'h':
			usage(stdout);
			return EXIT_SUCCESS;
		case 'v':
			printf("%s %s\n", program, COSY_RELEASE);
			return EXIT_SUCCESS;
		default:
			usage(stderr);
			return WRONG_USAGE;
		}
	}
	if (optind == argc) {
		usage(stderr);
		return WRONG_USAGE;
	}
	if (options.disassemble && options.summary) {
		fprintf(stderr, "%s: -d and -s cannot be combined\n", program);
		return WRONG_USAGE;
	}
	elf_version(EV_CURRENT);
	for (int i = optind; i < argc; i++)
		if (!dump_file(argv[i], &options))
			status = EXIT_FAILURE;
	if (fflush(stdout) || ferror(stdout)) {
		fprintf(stderr, "%s: cannot write the output: %s\n", program,
			strerror(errno));
		status = EXIT_FAILURE;
	}
	return status;
}
