// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A file system in user mode is asked the same by fast paths, in the same order, and what it answers
// is what the program gets: with caches and without, reads that fail or end early, a server that dies.
// REQUIRES: root
// RUN: %cosy-cc -O2 -Wall -Wextra -D_GNU_SOURCE %s -o %t
// RUN: %vm %S/Inputs/ways --on tmpfs %S/Inputs/make-files %t | FileCheck %s
// CHECK: tmpfs, as root: {{[1-9][0-9][0-9][0-9]}} lines
// CHECK-NEXT: tmpfs, as user: 0 lines
#include "Inputs/more-regions.h"

#include <linux/fuse.h>
#include <stdarg.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/statfs.h>
#include <sys/uio.h>
#include <sys/wait.h>

/* --- the file system ------------------------------------------------------------ */

#define LARGEST 100000

/* Inode numbers are indices here; 1 is the root. */
static struct node {
	const char *name;
	uint32_t mode;
	uint64_t size;
} nodes[] = {
	[1] = { "", S_IFDIR | 0755, 0 },
	[2] = { "data", S_IFREG | 0644, LARGEST },
	[3] = { "small", S_IFREG | 0644, 10 },
	[4] = { "empty", S_IFREG | 0644, 0 },
	[5] = { "fails", S_IFREG | 0644, LARGEST },	/* behind its 40000th byte */
	[6] = { "ends-early", S_IFREG | 0644, LARGEST },	/* there are 5000 */
	[7] = { "written", S_IFREG | 0666, 0 },
	[8] = { "dies", S_IFREG | 0644, LARGEST },	/* with its server */
	[9] = { "link", S_IFLNK | 0777, 4 },
	[10] = { "directory", S_IFDIR | 0755, 0 },
	[11] = { "closed", S_IFREG | 0, 10 },
};
#define NODES (sizeof(nodes) / sizeof(nodes[0]))

static const struct variant {
	const char *name;
	uint32_t open_flags;	/* FOPEN_... */
	uint64_t valid;		/* seconds that names and attributes may be kept */
	uint32_t init_flags;	/* FUSE_... */
} variants[] = {
	{ "cached", 0, 1000, 0 },
	{ "kept", FOPEN_KEEP_CACHE, 1000, FUSE_ASYNC_READ | FUSE_PARALLEL_DIROPS },
	{ "not cached", FOPEN_DIRECT_IO, 0, 0 },
	{ "with readdirplus", 0, 0, FUSE_DO_READDIRPLUS | FUSE_ATOMIC_O_TRUNC },
};
static const struct variant *variant;

/* What was asked, for the process that prints it. */
static struct log {
	size_t length;
	char text[1 << 20];
} *asked;

__attribute__((format(printf, 1, 2))) static void note(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	asked->length += (size_t)vsnprintf(asked->text + asked->length,
					   sizeof(asked->text) - asked->length, format, args);
	va_end(args);
}

static void answer(int fuse, uint64_t unique, int error, const void *data, size_t size)
{
	struct fuse_out_header header = {
		.len = (uint32_t)(sizeof(header) + size), .error = error, .unique = unique,
	};
	struct iovec parts[2] = { { &header, sizeof(header) }, { (void *)data, size } };

	/* Whoever asked may be gone. */
	if (writev(fuse, parts, size ? 2 : 1) < 0 && errno != ENOENT)
		note("  answer: %s\n", strerror(errno));
}

static void fill_attr(uint64_t number, struct fuse_attr *attr)
{
	*attr = (struct fuse_attr){
		.ino = number, .size = nodes[number].size, .blocks = nodes[number].size / 512,
		.mode = nodes[number].mode, .nlink = 1, .blksize = 4096,
	};
}

static struct fuse_entry_out entry_of(uint64_t number)
{
	struct fuse_entry_out out = { .nodeid = number, .entry_valid = variant->valid,
				      .attr_valid = variant->valid };

	fill_attr(number, &out.attr);
	return out;
}

static void do_lookup(int fuse, const struct fuse_in_header *in, const char *name)
{
	struct fuse_entry_out out;

	for (uint64_t i = 2; in->nodeid == 1 && i < NODES; i++) {
		if (strcmp(nodes[i].name, name))
			continue;
		out = entry_of(i);
		answer(fuse, in->unique, 0, &out, sizeof(out));
		return;
	}
	answer(fuse, in->unique, -ENOENT, NULL, 0);
}

static void do_read(int fuse, const struct fuse_in_header *in, const struct fuse_read_in *arg)
{
	static char bytes[1 << 17];
	uint64_t end = nodes[in->nodeid].size;
	size_t n = 0;

	if (in->nodeid == 8)
		_exit(0);
	if (in->nodeid == 5 && arg->offset >= 40000) {
		answer(fuse, in->unique, -EIO, NULL, 0);
		return;
	}
	if (in->nodeid == 6)
		end = 5000;
	if (arg->offset < end)
		n = end - arg->offset < arg->size ? end - arg->offset : arg->size;
	for (size_t i = 0; i < n; i++)
		bytes[i] = (char)((arg->offset + i) * 7 + (arg->offset + i) / 4096);
	answer(fuse, in->unique, 0, bytes, n);
}

static void do_readdir(int fuse, const struct fuse_in_header *in, const struct fuse_read_in *arg,
		       bool plus)
{
	static char bytes[1 << 13] __attribute__((aligned(8)));
	size_t n = 0;

	memset(bytes, 0, sizeof(bytes));
	for (uint64_t i = in->nodeid == 1 ? arg->offset + 2 : NODES; i < NODES; i++) {
		size_t length = strlen(nodes[i].name);
		size_t size = plus ? sizeof(struct fuse_direntplus) : sizeof(struct fuse_dirent);
		struct fuse_dirent *entry = (struct fuse_dirent *)(bytes + n);

		size = FUSE_DIRENT_ALIGN(size + length);
		if (n + size > arg->size || n + size > sizeof(bytes))
			break;
		if (plus) {
			struct fuse_direntplus *more = (struct fuse_direntplus *)entry;

			more->entry_out = entry_of(i);
			entry = &more->dirent;
		}
		entry->ino = i;
		entry->off = i - 1;
		entry->namelen = (uint32_t)length;
		entry->type = nodes[i].mode >> 12;
		memcpy(entry->name, nodes[i].name, length);
		n += size;
	}
	answer(fuse, in->unique, 0, bytes, n);
}

static void do_attr(int fuse, const struct fuse_in_header *in)
{
	struct fuse_attr_out out = { .attr_valid = variant->valid };

	fill_attr(in->nodeid, &out.attr);
	answer(fuse, in->unique, 0, &out, sizeof(out));
}

static void serve(int fuse)
{
	static char request[1 << 18] __attribute__((aligned(8)));
	const struct fuse_in_header *in = (struct fuse_in_header *)request;
	const void *arg = in + 1;

	while (read(fuse, request, sizeof(request)) > 0) {
		switch (in->opcode) {
		case FUSE_INIT: {
			struct fuse_init_out out = {
				.major = FUSE_KERNEL_VERSION, .minor = 31, .max_readahead = 65536,
				.flags = variant->init_flags, .max_write = 65536,
			};

			answer(fuse, in->unique, 0, &out, sizeof(out));
			break;
		}
		case FUSE_FORGET:
		case FUSE_BATCH_FORGET:
		case FUSE_INTERRUPT:
			break;	/* when these come is a matter of luck */
		case FUSE_STATFS: {
			struct fuse_statfs_out out = { .st = { .bsize = 4096, .namelen = 255 } };

			answer(fuse, in->unique, 0, &out, sizeof(out));
			break;
		}
		case FUSE_LOOKUP:
			note("  lookup %s\n", (const char *)arg);
			do_lookup(fuse, in, arg);
			break;
		case FUSE_GETATTR:
			note("  getattr %s\n", nodes[in->nodeid].name);
			do_attr(fuse, in);
			break;
		case FUSE_SETATTR: {
			const struct fuse_setattr_in *set = arg;

			note("  setattr %s %#x\n", nodes[in->nodeid].name, set->valid);
			if (set->valid & FATTR_SIZE && in->nodeid == 7)
				nodes[7].size = set->size;
			do_attr(fuse, in);
			break;
		}
		case FUSE_READLINK:
			note("  readlink %s\n", nodes[in->nodeid].name);
			answer(fuse, in->unique, 0, "data", 4);
			break;
		case FUSE_OPEN:
		case FUSE_OPENDIR: {
			struct fuse_open_out out = { .open_flags = variant->open_flags };

			note("  open %s %#x\n", nodes[in->nodeid].name,
			     ((const struct fuse_open_in *)arg)->flags);
			if (in->opcode == FUSE_OPENDIR)
				out.open_flags = 0;
			answer(fuse, in->unique, 0, &out, sizeof(out));
			break;
		}
		case FUSE_READ: {
			const struct fuse_read_in *read_in = arg;

			note("  read %s %llu %u\n", nodes[in->nodeid].name,
			     (unsigned long long)read_in->offset, read_in->size);
			do_read(fuse, in, read_in);
			break;
		}
		case FUSE_READDIR:
		case FUSE_READDIRPLUS:
			note("  readdir %s %d\n", nodes[in->nodeid].name, in->opcode);
			do_readdir(fuse, in, arg, in->opcode == FUSE_READDIRPLUS);
			break;
		case FUSE_WRITE: {
			const struct fuse_write_in *write_in = arg;
			struct fuse_write_out out = { .size = write_in->size };
			uint64_t end = write_in->offset + write_in->size;

			note("  write %s %llu %u\n", nodes[in->nodeid].name,
			     (unsigned long long)write_in->offset, write_in->size);
			/* Full, in the middle. */
			if (end > 50000) {
				answer(fuse, in->unique, -ENOSPC, NULL, 0);
				break;
			}
			if (end > nodes[in->nodeid].size)
				nodes[in->nodeid].size = end;
			answer(fuse, in->unique, 0, &out, sizeof(out));
			break;
		}
		case FUSE_RELEASE:
		case FUSE_RELEASEDIR:
			note("  release %s\n", nodes[in->nodeid].name);
			answer(fuse, in->unique, 0, NULL, 0);
			break;
		case FUSE_FLUSH:
			/* What close() says. */
			note("  flush %s\n", nodes[in->nodeid].name);
			answer(fuse, in->unique, in->nodeid == 5 ? -EIO : 0, NULL, 0);
			break;
		default:
			note("  request %u of %s\n", in->opcode, nodes[in->nodeid].name);
			answer(fuse, in->unique, in->opcode == FUSE_ACCESS ? 0 : -EROFS, NULL, 0);
		}
	}
	_exit(0);
}

/* --- what is done with it ------------------------------------------------------- */

/* What was asked up to now; requests are answered in their order. */
static void print_asked(void)
{
	struct statfs statfs_now;
	size_t length;

	if (statfs(".", &statfs_now))
		printf("  statfs: %s\n", strerror(errno));
	length = __atomic_load_n(&asked->length, __ATOMIC_ACQUIRE);
	printf("%.*s", (int)length, asked->text);
	asked->length = 0;
}

static void tell(const char *what, struct end e)
{
	say(what, e);
	print_asked();
}

static void everything(pid_t server, const char *outside)
{
	static const char *const files[] = { "data", "small", "empty", "fails", "ends-early", "link",
					     "directory", "closed", "missing" };
	char text[4200];
	struct end dies;
	int in, out;

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		tell(files[i], slurp(files[i], O_RDONLY));
		tell("again", slurp(files[i], O_RDONLY));
		tell("directly", slurp(files[i], O_RDONLY | O_DIRECT));
		say_names(files[i]);
		print_asked();
		tell("names at", names_at(files[i]));
	}
	tell("create", create("written", O_RDWR, 5000));
	tell("create, full", create("written", O_RDWR | O_TRUNC, 20000));
	tell("append", create("written", O_RDWR | O_APPEND, 1000));
	tell("create, missing", create("missing", O_RDWR, 1000));
	tell("private", private("written"));
	tell("list", list("."));
	tell("list again", list("."));

	in = must_open("data", O_RDONLY);
	tell("read at", read_at(in, 100, 5000));
	tell("read at its end", read_at(in, LARGEST - 10, 5000));
	tell("read behind it", read_at(in, LARGEST + 10, 5000));
	snprintf(text, sizeof(text), "%s/to", outside);
	out = must_open(text, O_RDWR | O_CREAT | O_TRUNC);
	lseek(in, 0, SEEK_SET);
	tell("copy from it", copy(in, out, 4096));
	tell("copy at", copy_at(in, out, 65536));
	lseek(in, 0, SEEK_SET);
	tell("send to a file", copy_by_send(in, out, 65536));
	close(in);
	in = must_open("fails", O_RDONLY);
	tell("copy what fails", copy(in, out, 5000));
	close(in);
	in = must_open("ends-early", O_RDONLY);
	tell("copy what ends early", copy(in, out, 4096));
	close(in);
	close(out);
	out = must_open("written", O_RDWR);
	in = must_open(text, O_RDONLY);
	tell("copy to it", copy(in, out, 4096));
	tell("write at", write_at(out, 100, 5000));
	tell("copy at", copy_at(in, out, 8192));
	close(in);
	in = must_open("data", O_RDONLY);
	lseek(out, 0, SEEK_SET);
	tell("copy within", copy(in, out, 4096));
	close(in);
	close(out);

	/* With a descriptor of each kind, while the server dies, and after that. */
	in = must_open("data", O_RDONLY);
	out = must_open("written", O_RDWR);
	dies = slurp("dies", O_RDONLY);
	/* The connection is seen to be gone, or cut. */
	printf("dies: %ld %d\n", dies.total, dies.error == ENOTCONN || dies.error == ECONNABORTED);
	waitpid(server, NULL, 0);
	print_asked();
	tell("dead", slurp("small", O_RDONLY));
	tell("read", read_at(in, 3 * 4096, 8192));
	tell("write", write_at(out, 0, 100));
	tell("list", list("."));
	say_names("data");
	say("create", create("written", O_RDWR, 10));
	printf("closed: %d %d\n", close(in), close(out));
}

static void with(const struct variant *how, const char *outside)
{
	int fuse = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	char options[100];
	pid_t server;

	variant = how;
	printf("%s\n", how->name);
	snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=0,group_id=0", fuse);
	if (fuse < 0 || mkdir("fuse", 0700) || mount("fuse", "fuse", "fuse", 0, options)) {
		printf("fuse: %s\n", strerror(errno));
		exit(1);
	}
	fflush(stdout);
	server = fork();
	if (!server)
		serve(fuse);
	close(fuse);
	if (chdir("fuse"))
		exit(1);
	everything(server, outside);
	if (chdir(outside) || umount2("fuse", MNT_DETACH) || rmdir("fuse"))
		printf("umount: %s\n", strerror(errno));
}

int main(int argc, char **argv)
{
	if (argc != 2)
		return 2;
	if (geteuid() != 0)
		return 0;
	setvbuf(stdout, NULL, _IOLBF, 0);
	asked = mmap(NULL, sizeof(*asked), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (asked == MAP_FAILED)
		return 1;
	for (size_t i = 0; i < sizeof(variants) / sizeof(variants[0]); i++)
		with(&variants[i], argv[1]);
	return 0;
}
