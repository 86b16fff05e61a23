// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 // Fast paths send the same requests to a file system in user mode, in the same order, and return
// its answers: with and without caches, with reads that fail or end early, with calls that signals
// interrupt or kill, and with a server that dies.
// REQUIRES: root
// RUN: %cosy-cc -O2 -Wall -Wextra -D_GNU_SOURCE %s -o %t
// RUN: %vm %S/Inputs/ways --on tmpfs --as root %S/Inputs/make-files %t | FileCheck %s
// CHECK: tmpfs, as root: {{[1-9][0-9][0-9][0-9]}} lines
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
#define GO_ON	"go-on"

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
	[5] = { "fails", S_IFREG | 0644, LARGEST },	/* after byte 40000 */
	[6] = { "ends-early", S_IFREG | 0644, LARGEST },	/* there are 5000 */
	[7] = { "written", S_IFREG | 0666, 0 },
	[8] = { "dies", S_IFREG | 0644, LARGEST },	/* with its server */
	[9] = { "link", S_IFLNK | 0777, 4 },
	[10] = { "directory", S_IFDIR | 0755, 0 },
	[11] = { "closed", S_IFREG | 0, 10 },
	[12] = { "interrupted", S_IFREG | 0644, LARGEST }, /* without a signal */
	[13] = { "waits", S_IFREG | 0666, 10000 },
};
#define NODES (sizeof(nodes) / sizeof(nodes[0]))

static const struct variant {
	const char *name;
	uint32_t open_flags;	/* FOPEN_... */
	uint64_t valid;		/* validity of names and attributes in seconds */
	uint32_t init_flags;	/* FUSE_... */
} variants[] = {
	{ "cached", 0, 1000, 0 },
	{ "kept", FOPEN_KEEP_CACHE, 1000, FUSE_ASYNC_READ | FUSE_PARALLEL_DIROPS },
	{ "not cached", FOPEN_DIRECT_IO, 0, 0 },
	{ "with readdirplus", 0, 0, FUSE_DO_READDIRPLUS | FUSE_ATOMIC_O_TRUNC },
	{ "writing back", 0, 1000, FUSE_WRITEBACK_CACHE },
};
static const struct variant *variant;

static bool writes_back(void)
{
	return variant->init_flags & FUSE_WRITEBACK_CACHE;
}

/*
 * The requests, for the process that prints them; and the waiting request of the file "waits",
 * which is answered only when a process continues it or a signal interrupts it.
 */
static struct log {
	uint32_t opcode;
	volatile uint64_t waits; /* that request */
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

	/* The process of the request may have ended. */
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
	if (in->nodeid == 12) {
		answer(fuse, in->unique, -EINTR, NULL, 0);
		return;
	}
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

static void go_on(int fuse)
{
	if (asked->waits)
		answer(fuse, asked->waits, -EINTR, NULL, 0);
	asked->waits = 0;
}

/* One is too long for the longest buffer, another one for its own buffer. */
static void do_xattr(int fuse, const struct fuse_in_header *in, const struct fuse_getxattr_in *arg)
{
	static const char value[] = "user.attribute";
	struct fuse_getxattr_out out = { .size = in->nodeid == 6 ? 1 << 20 : sizeof(value) };

	if (in->nodeid != 2 && in->nodeid != 3 && in->nodeid != 6)
		answer(fuse, in->unique, -ENODATA, NULL, 0);
	else if (!arg->size)
		answer(fuse, in->unique, 0, &out, sizeof(out));
	else if (arg->size < out.size)
		answer(fuse, in->unique, -ERANGE, NULL, 0);
	else
		answer(fuse, in->unique, 0, value, sizeof(value));
}

/* Return true if this is the request that must wait. */
static bool waits(const struct fuse_in_header *in)
{
	if (in->opcode != asked->opcode)
		return false;
	if (in->opcode == FUSE_LOOKUP	 ? strcmp((const char *)(in + 1), nodes[13].name)
	    : in->opcode == FUSE_READDIR ? in->nodeid != 1
					 : in->nodeid != 13)
		return false;
	note("  %u waits\n", in->opcode);
	asked->opcode = 0;
	asked->waits = in->unique;
	return true;
}

static void do_init(int fuse, const struct fuse_in_header *in)
{
	struct fuse_init_out out = {
		.major = FUSE_KERNEL_VERSION, .minor = 31, .max_readahead = 65536,
		.flags = variant->init_flags, .max_write = 65536,
	};

	answer(fuse, in->unique, 0, &out, sizeof(out));
}

static void do_setattr(int fuse, const struct fuse_in_header *in, const struct fuse_setattr_in *set)
{
	/* The time and the sizes of write-back vary. */
	if (!writes_back() || set->valid != (FATTR_FH | FATTR_MTIME | FATTR_CTIME))
		note("  setattr %s %#x\n", nodes[in->nodeid].name, set->valid);
	if (set->valid & FATTR_SIZE && in->nodeid == 7)
		nodes[7].size = set->size;
	do_attr(fuse, in);
}

static void do_open(int fuse, const struct fuse_in_header *in, const struct fuse_open_in *open_in)
{
	struct fuse_open_out out = { .open_flags = variant->open_flags };

	note("  open %s %#x\n", nodes[in->nodeid].name, open_in->flags);
	if (in->opcode == FUSE_OPENDIR)
		out.open_flags = 0;
	answer(fuse, in->unique, 0, &out, sizeof(out));
}

static void do_write(int fuse, const struct fuse_in_header *in, const struct fuse_write_in *write_in)
{
	struct fuse_write_out out = { .size = write_in->size };
	uint64_t end = write_in->offset + write_in->size;

	if (!writes_back())
		note("  write %s %llu %u\n", nodes[in->nodeid].name,
		     (unsigned long long)write_in->offset, write_in->size);
	/* Full, in the middle. */
	if (end > 50000 && !writes_back()) {
		answer(fuse, in->unique, -ENOSPC, NULL, 0);
		return;
	}
	if (end > nodes[in->nodeid].size)
		nodes[in->nodeid].size = end;
	answer(fuse, in->unique, 0, &out, sizeof(out));
}

static void do_statfs(int fuse, const struct fuse_in_header *in)
{
	struct fuse_statfs_out out = { .st = { .bsize = 4096, .namelen = 255 } };

	answer(fuse, in->unique, 0, &out, sizeof(out));
}

/* Answer a request with the argument @arg. */
static void do_request(int fuse, const struct fuse_in_header *in, const void *arg)
{
	const char *name = nodes[in->nodeid].name;
	const struct fuse_read_in *read_in = arg;

	switch (in->opcode) {
	case FUSE_INIT:
		do_init(fuse, in);
		break;
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
		break; /* the time of these varies */
	case FUSE_INTERRUPT:
		go_on(fuse);
		break;
	case FUSE_STATFS:
		do_statfs(fuse, in);
		break;
	case FUSE_LOOKUP:
		if (!strcmp(arg, GO_ON)) {
			go_on(fuse);
			answer(fuse, in->unique, -ENOENT, NULL, 0);
			break;
		}
		note("  lookup %s\n", (const char *)arg);
		do_lookup(fuse, in, arg);
		break;
	case FUSE_GETATTR:
		note("  getattr %s\n", name);
		do_attr(fuse, in);
		break;
	case FUSE_SETATTR:
		do_setattr(fuse, in, arg);
		break;
	case FUSE_GETXATTR:
	case FUSE_LISTXATTR:
		note("  attributes of %s %d %u\n", name, in->opcode,
		     ((const struct fuse_getxattr_in *)arg)->size);
		do_xattr(fuse, in, arg);
		break;
	case FUSE_READLINK:
		note("  readlink %s\n", name);
		answer(fuse, in->unique, 0, "data", 4);
		break;
	case FUSE_OPEN:
	case FUSE_OPENDIR:
		do_open(fuse, in, arg);
		break;
	case FUSE_READ:
		note("  read %s %llu %u\n", name, (unsigned long long)read_in->offset,
		     read_in->size);
		do_read(fuse, in, read_in);
		break;
	case FUSE_READDIR:
	case FUSE_READDIRPLUS:
		note("  readdir %s %d\n", name, in->opcode);
		do_readdir(fuse, in, arg, in->opcode == FUSE_READDIRPLUS);
		break;
	case FUSE_WRITE:
		do_write(fuse, in, arg);
		break;
	case FUSE_RELEASE:
	case FUSE_RELEASEDIR:
		note("  release %s\n", name);
		answer(fuse, in->unique, 0, NULL, 0);
		break;
	case FUSE_FLUSH:
		/* The result of close(). */
		note("  flush %s\n", name);
		answer(fuse, in->unique, in->nodeid == 5 ? -EIO : 0, NULL, 0);
		break;
	default:
		note("  request %u of %s\n", in->opcode, name);
		answer(fuse, in->unique, in->opcode == FUSE_ACCESS ? 0 : -EROFS, NULL, 0);
	}
}

static void serve(int fuse)
{
	static char request[1 << 18] __attribute__((aligned(8)));
	const struct fuse_in_header *in = (struct fuse_in_header *)request;

	while (read(fuse, request, sizeof(request)) > 0)
		if (!waits(in))
			do_request(fuse, in, in + 1);
	_exit(0);
}

/* --- the operations ------------------------------------------------------------- */

/* Requests are answered in order. */
static void wait_for_server(void)
{
	struct statfs statfs_now;

	if (statfs(".", &statfs_now))
		printf("  statfs: %s\n", strerror(errno));
}

/* The requests up to now. */
static void print_asked(void)
{
	size_t length;

	wait_for_server();
	length = __atomic_load_n(&asked->length, __ATOMIC_ACQUIRE);
	printf("%.*s", (int)length, asked->text);
	asked->length = 0;
}

static void tell(const char *what, struct end e)
{
	say(what, e);
	print_asked();
}

/* --- calls that are interrupted --------------------------------------------------- */

static const char *outside;

static struct end wait_slurp(void)
{
	return slurp("waits", O_RDONLY);
}
static struct end wait_create(void)
{
	return create("waits", O_RDWR, 3000);
}
static struct end wait_names_at(void)
{
	return names_at("waits");
}
static struct end wait_list(void)
{
	return list(".");
}

static struct end wait_names(void)
{
	say_names("waits");
	return (struct end){ 0 };
}

static struct end wait_read_at(void)
{
	return read_at(must_open("waits", O_RDONLY), 100, 5000);
}

static int open_outside(int flags)
{
	char text[4200];

	snprintf(text, sizeof(text), "%s/to", outside);
	return must_open(text, O_RDWR | flags);
}

static struct end wait_copy_from(void)
{
	return copy(must_open("waits", O_RDONLY), open_outside(O_CREAT | O_TRUNC), 4096);
}

static struct end wait_copy_to(void)
{
	return copy(open_outside(O_CREAT), must_open("waits", O_RDWR), 4096);
}

static const struct {
	const char *name;
	uint32_t opcode;
	struct end (*body)(void);
} waiting[] = {
	{ "lookup, slurp", FUSE_LOOKUP, wait_slurp },
	{ "lookup, names", FUSE_LOOKUP, wait_names },
	{ "lookup, list", FUSE_LOOKUP, wait_list },
	{ "open, slurp", FUSE_OPEN, wait_slurp },
	{ "read, slurp", FUSE_READ, wait_slurp },
	{ "read at", FUSE_READ, wait_read_at },
	{ "read, copy", FUSE_READ, wait_copy_from },
	{ "write, create", FUSE_WRITE, wait_create },
	{ "write, copy", FUSE_WRITE, wait_copy_to },
	{ "flush, slurp", FUSE_FLUSH, wait_slurp },
	{ "getattr, names at", FUSE_GETATTR, wait_names_at },
	{ "setattr, names", FUSE_SETATTR, wait_names },
	{ "readdir, list", FUSE_READDIR, wait_list },
};

static volatile sig_atomic_t signals;

static void on_signal(int sig)
{
	(void)sig;
	signals++;
}

/* Return true if the child ends within that time. */
static bool ends(pid_t child, int *status, int milliseconds)
{
	for (int i = 0; i < milliseconds * 4; i++) {
		if (waitpid(child, status, WNOHANG) == child)
			return true;
		usleep(250);
	}
	return false;
}

static void interrupt(size_t i, int sig, int flags)
{
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = flags };
	int status = 0, fd = must_open("waits", O_RDONLY);
	bool ended;
	pid_t child;

	posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	close(fd);
	print_asked();
	printf("%s, signal %d, flags %#x\n", waiting[i].name, sig, (unsigned int)flags);
	fflush(stdout);
	asked->opcode = waiting[i].opcode;
	child = fork();
	if (!child) {
		struct end e;

		sigaction(SIGUSR1, &action, NULL);
		e = waiting[i].body();
		say(waiting[i].name, e);
		printf("%d signals\n", (int)signals);
		exit(0);
	}
	do
		ended = ends(child, &status, 1);
	while (!ended && !asked->waits);
	if (!ended) {
		kill(child, sig);
		/*
		 * SIGKILL ends it in any state of its server; other signals do not end each wait.
		 */
		ended = ends(child, &status, sig == SIGKILL ? 20000 : 100);
		if (!ended && sig == SIGKILL)
			printf("it is not killed\n");
	}
	asked->opcode = 0;
	access(GO_ON, F_OK);
	if (!ended)
		waitpid(child, &status, 0);
	printf("ended with %#x\n", status);
	/* A killed process may request the page once more. */
	if (sig == SIGKILL && waiting[i].opcode == FUSE_READ) {
		wait_for_server();
		asked->length = 0;
	} else {
		print_asked();
	}
}

static void test_interrupts(void)
{
	for (size_t i = 0; i < sizeof(waiting) / sizeof(waiting[0]); i++) {
		/* Signals do not interrupt write-back. */
		if (waiting[i].opcode == FUSE_WRITE && writes_back())
			continue;
		interrupt(i, SIGKILL, 0);
		interrupt(i, SIGUSR1, 0);
		interrupt(i, SIGUSR1, SA_RESTART);
	}
}

/* --- other tests ------------------------------------------------------------------- */

/* A server that dies when it is read. */
static struct end read_dies(void)
{
	int in, out;

	if (variant == &variants[0])
		return slurp("dies", O_RDONLY);
	in = must_open("dies", O_RDONLY);
	if (variant == &variants[1])
		return read_at(in, 10, 5000);
	out = open_outside(O_CREAT);
	return copy(in, out, 4096);
}

static void everything(pid_t server)
{
	static const char *const files[] = { "data",	   "small",  "empty",	    "fails",
					     "ends-early", "link",   "interrupted", "directory",
					     "closed",	   "missing" };
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
	out = open_outside(O_CREAT | O_TRUNC);
	lseek(in, 0, SEEK_SET);
	tell("copy from it", copy(in, out, 4096));
	tell("copy at", copy_at(in, out, 65536));
	lseek(in, 0, SEEK_SET);
	tell("send to a file", copy_by_send(in, out, 65536));
	close(in);
	in = must_open("fails", O_RDONLY);
	tell("copy what fails", copy(in, out, 5000));
	close(in);
	in = must_open("interrupted", O_RDONLY);
	tell("copy what is interrupted", copy(in, out, 4096));
	close(in);
	in = must_open("ends-early", O_RDONLY);
	tell("copy what ends early", copy(in, out, 4096));
	close(in);
	close(out);
	out = must_open("written", O_RDWR);
	in = open_outside(0);
	tell("copy to it", copy(in, out, 4096));
	tell("write at", write_at(out, 100, 5000));
	tell("copy at", copy_at(in, out, 8192));
	close(in);
	in = must_open("data", O_RDONLY);
	lseek(out, 0, SEEK_SET);
	tell("copy within", copy(in, out, 4096));
	close(in);
	close(out);

	/* With a descriptor of each kind, while the server dies and afterwards. */
	in = must_open("data", O_RDONLY);
	out = must_open("written", O_RDWR);
	dies = read_dies();
	/* The connection has failed, or was cut. */
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

static void with(const struct variant *how)
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
	test_interrupts();
	everything(server);
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
	outside = argv[1];
	for (size_t i = 0; i < sizeof(variants) / sizeof(variants[0]); i++)
		with(&variants[i]);
	return 0;
}
