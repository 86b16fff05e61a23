// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * small.c - small files of nginx, and lines of its log.
 */
#include "small.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#ifdef WITH_COSY
#include <cosy.h>
#else
#define COSY_START
#define COSY_END
#endif

#define FLAT  (SMALL_ROOM + SMALL_HEAD)
#define LINES PIPE_BUF /* As much as a pipe takes at once, between what others write. */

/* The file that was read last. */
static struct small *current;
static uint64_t current_request;
static char current_name[PATH_MAX];

static void load(const char *name, struct small *small)
{
	char *buffer = small->data;
	struct stat *st = &small->stat;
	ssize_t size = -1;
	int error = 0, fd;

	COSY_START;
	fd = open(name, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0) {
		error = errno;
	} else {
		if (fstat(fd, st) < 0)
			error = errno;
		else if (S_ISREG(st->st_mode) && st->st_size <= SMALL_ROOM)
			size = read(fd, buffer, (size_t)st->st_size);
		close(fd);
	}
	COSY_END;
	small->error = error;
	/* A file that has become shorter is read again, by nginx's own code. */
	small->size = !error && size == st->st_size ? size : -1;
}

struct small *small_get(uint64_t request, const char *name, size_t length)
{
	if (current && current_request == request && length < sizeof(current_name) &&
	    !memcmp(current_name, name, length + 1))
		return current;
	if (!current)
		current = malloc(sizeof(*current));
	if (!current)
		return NULL;
	load(name, current);
	current_request = request;
	/* A longer name has no file. */
	if (length < sizeof(current_name))
		memcpy(current_name, name, length + 1);
	else
		*current_name = 0;
	return current;
}

struct small *small_take(void)
{
	struct small *small = current;

	current = NULL;
	return small;
}

ssize_t small_writev(int fd, const struct iovec *parts, int count, int flags)
{
	char flat[FLAT], *end = flat;
	size_t size = 0;

	if (count == 1)
		return send(fd, parts->iov_base, parts->iov_len, flags);
	if (count == 2 && current && parts[1].iov_base == current->data && parts->iov_len <= SMALL_HEAD) {
		end = current->data - parts->iov_len;
		memcpy(end, parts->iov_base, parts->iov_len);
		return send(fd, end, parts->iov_len + parts[1].iov_len, flags);
	}
	for (int i = 0; i < count; i++)
		size += parts[i].iov_len;
	if (size > sizeof(flat))
		return writev(fd, parts, count);
	for (int i = 0; i < count; i++)
		end = mempcpy(end, parts[i].iov_base, parts[i].iov_len);
	return send(fd, flat, size, flags);
}

/* Lines that are not written yet, and the error of the last ones that could not be. */
static struct {
	int fd, failed_fd, error;
	size_t size;
	char lines[LINES];
} pending = { .failed_fd = -1 };

/* Also at the end of the process, for lines that are logged while it closes what is open. */
__attribute__((destructor)) void small_log_flush(void)
{
	const size_t size = pending.size;
	size_t written = 0;
	ssize_t n;

	/* A signal that interrupts this does not write them again. */
	pending.size = 0;
	atomic_signal_fence(memory_order_seq_cst);
	for (; written < size; written += (size_t)n) {
		n = write(pending.fd, pending.lines + written, size - written);
		if (n <= 0) {
			pending.failed_fd = pending.fd;
			pending.error = n ? errno : EIO;
			break;
		}
	}
}

/* End by the signal, after the lines are written: stock has written them before. */
static void crashed(int number, siginfo_t *info, void *context)
{
	(void)context;
	small_log_flush();
	/* A fault happens again after this, now with its default action. */
	if (info->si_code <= 0)
		raise(number);
}

__attribute__((constructor)) static void catch_crashes(void)
{
	static const int signals[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT };
	const struct sigaction action = { .sa_sigaction = crashed,
					  .sa_flags = SA_SIGINFO | (int)SA_RESETHAND };

	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		sigaction(signals[i], &action, NULL);
}

ssize_t small_log(int fd, const void *line, size_t size)
{
	if (pending.size && (fd != pending.fd || size > LINES - pending.size))
		small_log_flush();
	if (size > LINES)
		return write(fd, line, size);
	pending.fd = fd;
	memcpy(pending.lines + pending.size, line, size);
	atomic_signal_fence(memory_order_seq_cst);
	pending.size += size;
	if (fd != pending.failed_fd)
		return (ssize_t)size;
	pending.failed_fd = -1;
	errno = pending.error;
	return -1;
}
