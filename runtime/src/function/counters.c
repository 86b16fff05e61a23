/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * counters.c - COSY_STATS: counts, and the file to which they are printed at exit.
 *
 * The lines go to a descriptor of our own, opened before the program runs: many
 * programs close descriptor 2 before they exit, and in some it is a file of the
 * user's by then.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "device/descriptor.h"
#include "device/message.h"
#include "device/options.h"
#include "device/sys.h"
#include "function/counters.h"

#define PAGE	4096

/**
 * struct output - where the lines go
 * @fd:	 our descriptor; -1 if there is none
 * @dev: @ino: the file it refers to, which a program may change
 */
static struct output {
	int fd;
	uint64_t dev;
	uint64_t ino;
} output = { .fd = -1 };

/**
 * struct pages - what is mapped when the program starts, if COSY_STATS is set
 * @known: 0 in a child process, as this page of the parent's is marked
 *	   MADV_WIPEONFORK: so a child is told from its parent without a system call
 * @name:  absolute name of the output, for when the program has closed it; "" if
 *	   it has none
 */
struct pages {
	_Alignas(PAGE) uint64_t known;
	_Alignas(PAGE) char name[PAGE];
};

static struct pages *pages;
static uint64_t process;
static int process_pid;

static struct cosy_counted *all;

static bool identify(int fd, struct stat *st)
{
	return cosy_sys(SYS_fstat, fd, (long)st, 0) == 0;
}

static bool is_output(int fd)
{
	struct stat st;

	return fd >= 0 && identify(fd, &st) && st.st_dev == output.dev &&
	       st.st_ino == output.ino;
}

/* Keep the name, whatever the program does with its environment and directory. */
static void keep_name(const char *name)
{
	char *kept = pages->name;
	size_t length = strlen(name) + 1, used = 0;

	if (*name != '/') {
		long n = cosy_sys(SYS_getcwd, (long)kept,
				  sizeof(pages->name), 0);

		/* With its NUL. */
		used = n > 0 ? (size_t)n : 0;
		if (!used || length > sizeof(pages->name) - used) {
			kept[0] = '\0';
			return;
		}
		kept[used - 1] = '/';
	}
	if (length <= sizeof(pages->name) - used)
		memcpy(kept + used, name, length);
}

static int open_file(const char *name, int flags)
{
	return (int)cosy_sys6(SYS_openat, AT_FDCWD, (long)name,
			      O_WRONLY | O_APPEND | O_CLOEXEC | flags, 0666, 0,
			      0);
}

static int open_output(const char *name)
{
	if (!name)
		return cosy_descriptor_copy(STDERR_FILENO);
	keep_name(name);
	return cosy_descriptor_hide(open_file(name, O_CREAT));
}

void cosy_stats_init(void)
{
	const char *name;
	struct stat st;
	long memory;

	if (!cosy_options().stats || process)
		return;
	memory = cosy_sys6(SYS_mmap, 0, sizeof(*pages), PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory < 0 && memory > -4096)
		return;
	pages = (struct pages *)memory;
	name = cosy_options_stats_file();
	process = 1;
	process_pid = (int)cosy_sys(SYS_getpid, 0, 0, 0);
	pages->known = 1;
	cosy_sys(SYS_madvise, (long)&pages->known, PAGE, MADV_WIPEONFORK);
	output.fd = open_output(name);
	if (output.fd < 0 && name)
		cosy_message("cannot open ", name, ": ",
			     strerrordesc_np(-output.fd), " (COSY_STATS)", NULL);
	if (output.fd < 0 || !identify(output.fd, &st))
		return;
	output.dev = st.st_dev;
	output.ino = st.st_ino;
}

void cosy_stats_exit(void)
{
	/* Not closed: a filter of the program may kill for a call it never makes. */
	output.fd = -1;
}

/* The first count in a child process makes it known. */
static uint64_t current_process(void)
{
	if (pages && !__atomic_load_n(&pages->known, __ATOMIC_RELAXED)) {
		__atomic_fetch_add(&process, 1, __ATOMIC_RELAXED);
		process_pid = (int)cosy_sys(SYS_getpid, 0, 0, 0);
		__atomic_store_n(&pages->known, 1, __ATOMIC_RELAXED);
	}
	return __atomic_load_n(&process, __ATOMIC_RELAXED);
}

bool cosy_counts_are_current(const struct cosy_counts *counts)
{
	return __atomic_load_n(&counts->process, __ATOMIC_RELAXED) ==
	       current_process();
}

void cosy_count(struct cosy_counts *counts, uint64_t *counter, uint64_t n)
{
	uint64_t now;

	if (!counts)
		return;
	now = current_process();
	/* After a fork there is one thread. */
	if (__atomic_exchange_n(&counts->process, now, __ATOMIC_RELAXED) != now)
		memset(&counts->runs, 0,
		       sizeof(*counts) - offsetof(struct cosy_counts, runs));
	__atomic_fetch_add(counter, n, __ATOMIC_RELAXED);
}

/* The program may have closed it, or have other files under the numbers. */
static int find_output(void)
{
	if (is_output(output.fd))
		return output.fd;
	if (!*pages->name)
		return is_output(STDERR_FILENO) ? STDERR_FILENO : -1;
	output.fd = open_file(pages->name, 0);
	if (output.fd >= 0 && !is_output(output.fd)) {
		cosy_sys(SYS_close, output.fd, 0, 0);
		output.fd = -1;
	}
	return output.fd;
}

void cosy_stats_line(const char *text, ...)
{
	int fd = find_output();
	va_list texts;

	if (fd < 0)
		return;
	va_start(texts, text);
	cosy_message_to(fd, text, texts);
	va_end(texts);
}

void cosy_stats_add(struct cosy_counted *counted)
{
	counted->next = __atomic_load_n(&all, __ATOMIC_RELAXED);
	while (!__atomic_compare_exchange_n(&all, &counted->next, counted, true,
					    __ATOMIC_RELEASE, __ATOMIC_RELAXED))
		;
}

void cosy_stats_print_last(struct cosy_counted *counted)
{
	const void *data = __atomic_exchange_n(&counted->data, NULL,
					       __ATOMIC_RELAXED);

	if (data)
		counted->print(data);
}

void cosy_stats_print_all(void)
{
	struct cosy_counted *counted = __atomic_load_n(&all, __ATOMIC_ACQUIRE);

	if (!process)
		return;
	current_process();
	/* A child of vfork() has its parent's memory. */
	if (process_pid != cosy_sys(SYS_getpid, 0, 0, 0))
		return;
	for (; counted; counted = counted->next)
		cosy_stats_print_last(counted);
}
