/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * loop.h - loops of the module without libcosy: a loop is created and mapped, entries are
 * submitted, it is entered, and completions are collected.
 */
#ifndef LOOP_H
#define LOOP_H

#include "compound.h"

#include <linux/cosy_async.h>
#include <poll.h>
#include <sys/socket.h>

#include "../Inputs/asleep.h"

/* A loop in the process. */
struct loop {
	int fd;
	unsigned int n;
	size_t size;
	struct cosy_async_page *page;
	struct cosy_async_entry *entries;
	uint32_t *submitted, *done;
	uint32_t tail, head;
	/* For submit_recv(): a compound, and its registers for each entry. */
	__u64 recv;
	__u64 (*frames)[3];
};

static int device;

static inline int create(struct loop *loop, unsigned int n)
{
	struct cosy_async_create c = { .size = sizeof(c), .nentries = n };

	memset(loop, 0, sizeof(*loop));
	if (ioctl(device, COSY_IOC_ASYNC, &c))
		return (int)returned("create", -errno);
	loop->fd = c.fd;
	loop->n = n;
	loop->size = c.page_size;
	loop->page = mmap(NULL, loop->size, PROT_READ | PROT_WRITE, MAP_SHARED,
			  loop->fd, 0);
	if (loop->page == MAP_FAILED)
		return -errno;
	loop->entries = (void *)((char *)loop->page + loop->page->entries);
	loop->submitted = (void *)((char *)loop->page + loop->page->submitted);
	loop->done = (void *)((char *)loop->page + loop->page->done);
	return 0;
}

static inline void destroy(struct loop *loop)
{
	munmap(loop->page, loop->size);
	close(loop->fd);
	free(loop->frames);
	loop->frames = NULL;
}

static inline void submit_index(struct loop *loop, uint32_t index)
{
	loop->submitted[loop->tail % loop->n] = index;
	__atomic_store_n(&loop->page->submit_tail, ++loop->tail, __ATOMIC_RELEASE);
}

static inline void submit(struct loop *loop, uint32_t index, unsigned int flags, long nr,
			  uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
	loop->entries[index] = (struct cosy_async_entry){
		.status = COSY_ENTRY_SUBMITTED,
		.flags = (uint8_t)flags,
		.nr = (uint32_t)nr,
		.user_data = index,
		.args = { a, b, c, d },
	};
	submit_index(loop, index);
}

static inline long long enter_loop(const struct loop *loop, uint64_t what)
{
	off_t ret = lseek(loop->fd, (off_t)(COSY_RUN_TAG | what), COSY_RUN_WHENCE);

	return returned("enter_loop", ret < 0 ? -errno : ret);
}

/*
 * Execute all possible work, at most 64 completions. Return the number of completions, -errno, or
 * -1000 for an unexpected result. A thread may leave a loop after any entry, or in a compound, for
 * pending work of the kernel, so it enters until no work is left.
 */
static inline int execute(const struct loop *loop)
{
	unsigned int done = 0, n;
	long long ret;

	do {
		ret = enter_loop(loop, COSY_ASYNC_MAX_DONE - done);
		if (ret < 0)
			return (int)ret;
		if ((unsigned long long)ret >> 32 != COSY_ASYNC_ENTERED >> 32)
			return -1000;
		n = (unsigned int)ret;
		done += n & ~COSY_ASYNC_MORE;
	} while (done < COSY_ASYNC_MAX_DONE &&
		 (n || loop->page->more || loop->page->submit_head != loop->tail));
	return (int)returned("execute", done);
}

/* Return the next completion's index, or -1 if there is none. */
static inline int collect(struct loop *loop)
{
	int index;

	if (loop->head == __atomic_load_n(&loop->page->done_tail, __ATOMIC_ACQUIRE))
		return (int)returned("collect", -1);
	index = (int)loop->done[loop->head % loop->n];
	__atomic_store_n(&loop->page->done_head, ++loop->head, __ATOMIC_RELEASE);
	return (int)returned("collect", index);
}

static inline long long entry_result(const struct loop *loop, int index)
{
	return returned("entry_result", (long long)loop->entries[index].args[0]);
}

static inline bool readable(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return returned("readable", poll(&p, 1, 0) == 1 && p.revents & POLLIN);
}

/*
 * Return a count of a loop that the kernel shows of a process: the sum of the lines of its descriptor
 * that begin with @field. 0 without such a line, or such a process.
 */
static inline unsigned long long loop_shows(pid_t process, int fd, const char *field)
{
	unsigned long long n = 0;
	char path[64], line[256];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/fdinfo/%d", process, fd);
	file = fopen(path, "r");
	while (file && fgets(line, sizeof(line), file)) {
		const char *value = strchr(line, '\t');

		if (value && !strncmp(line, field, strlen(field)))
			n += strtoull(value, NULL, 10);
	}
	if (file)
		fclose(file);
	return n;
}

/*
 * Start a child that makes a loop, and calls a function with it. Return when it has executed an
 * entry of the loop.
 */
static inline pid_t start_executing(void (*run)(struct loop *loop))
{
	int fds[2], fd;
	pid_t child;

	if (pipe(fds))
		die("pipe");
	child = fork();
	if (!child) {
		struct loop loop;

		create(&loop, 64);
		if (write(fds[1], &loop.fd, sizeof(loop.fd)) == sizeof(loop.fd))
			run(&loop);
		_exit(1);
	}
	if (read(fds[0], &fd, sizeof(fd)) != sizeof(fd))
		die("a child with a loop");
	close(fds[0]);
	close(fds[1]);
	while (!loop_shows(child, fd, "executed:"))
		usleep(1000);
	return child;
}

/* Execute an entry that completes immediately. */
static inline long long call_by_entry(struct loop *loop, long nr, uint64_t a, uint64_t b,
				      uint64_t c, uint64_t d)
{
	submit(loop, 1, 0, nr, a, b, c, d);
	if (execute(loop) != 1 || collect(loop) != 1)
		return -1000;
	return entry_result(loop, 1);
}

/* Load a compound for loops; return its handle. */
static inline __u64 load_for_loops(const struct cosy_op *ops, unsigned int nops, unsigned int nregs)
{
	struct image *im = make_image(ops, nops, nregs, 3, 0, nregs);
	struct cosy_load load = {
		.size = sizeof(load),
		.flags = COSY_LOAD_PARKS,
		.image = (__u64)(uintptr_t)im,
		.image_size = im->h.size,
	};

	if (ioctl(device, COSY_IOC_LOAD, &load))
		die("load");
	free(im);
	return load.handle;
}

/* Load the compound of submit_recv(). */
static inline void prepare_recv(struct loop *loop)
{
	const struct cosy_op ops[] = {
		SYS(2, SYS_recvfrom, 6), ARG(0), ARG(1), ARGI(1), ARGI(0), ARGI(0), ARGI(0),
		BR(2, EQ, 1, 10), BR(2, EQ, 0, 11), EXIT(2), EXIT(1), EXIT(0),
	};

	loop->recv = load_for_loops(ops, sizeof(ops) / sizeof(*ops), 3);
	loop->frames = calloc(loop->n, sizeof(*loop->frames));
}

/*
 * Submit a compound that receives a byte, and waits for it. Its result is the number of bytes, or 2
 * after an error, which is in its third register.
 */
static inline void submit_recv(struct loop *loop, uint32_t index, int fd, char *byte)
{
	static int error;

	if (!loop->frames)
		prepare_recv(loop);
	loop->frames[index][0] = (unsigned int)fd;
	loop->frames[index][1] = (uintptr_t)byte;
	submit(loop, index, 0, COSY_ENTRY_COMPOUND, (__u64)device, loop->recv,
	       (uintptr_t)loop->frames[index], (uintptr_t)&error);
}

#endif /* LOOP_H */
