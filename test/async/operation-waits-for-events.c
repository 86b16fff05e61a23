/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Operations wait for eventfds, inotify and poll(), and fail at once where a call would.
 */
// RUN: %compile
// RUN: %everywhere
#include <poll.h>
#include <sys/fanotify.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <linux/perf_event.h>

#include "descriptors.h"

static void events(bool nonblock)
{
	struct cosy_async reader = { 0 }, writer = { 0 };
	uint64_t count = 0, full = UINT64_MAX - 1, one = 1;
	union {
		struct inotify_event event;
		char room[500];
	} change;
	int fd = eventfd(0, 0);

	set_nonblock(fd, nonblock);
	EQUAL(cosy_async_read(loop, &reader, fd, &count, 8), 0);
	execute(loop);
	EQUAL(cosy_async_write(loop, &writer, fd, &full, 8), 0);
	EQUAL(result_of(loop, &writer), 8);
	EQUAL(result_of(loop, &reader), 8);
	EQUAL(count, full);

	EQUAL(cosy_async_write(loop, &writer, fd, &full, 8), 0);
	EQUAL(result_of(loop, &writer), 8);
	EQUAL(cosy_async_write(loop, &writer, fd, &one, 8), 0);
	execute(loop);
	EQUAL(cosy_async_read(loop, &reader, fd, &count, 8), 0);
	EQUAL(result_of(loop, &reader), 8);
	EQUAL(result_of(loop, &writer), 8);
	end(fd);

	fd = inotify_init1(nonblock ? IN_NONBLOCK : 0);
	CHECK(inotify_add_watch(fd, "/tmp", IN_CREATE) >= 0);
	EQUAL(cosy_async_read(loop, &reader, fd, &change, sizeof(change)), 0);
	execute(loop);
	int file = open("/tmp/async-inotify", O_CREAT | O_RDWR, 0600);
	CHECK(file >= 0);
	CHECK(result_of(loop, &reader) > 0);
	EQUAL(unlink("/tmp/async-inotify"), 0);
	/* It is only open for reading, and no event will say so. */
	EQUAL(cosy_async_write(loop, &writer, fd, &one, 8), 0);
	EQUAL(result_of(loop, &writer), -EBADF);
	close(file);
	end(fd);
}

static void polls(void)
{
	struct cosy_async op = { 0 }, second = { 0 };
	struct pollfd poll, other;
	char byte;
	int fds[2];

	EQUAL(pipe(fds), 0);
	poll = (struct pollfd){ .fd = fds[0], .events = POLLIN };
	other = poll;
	EQUAL(cosy_async_poll(loop, &op, &poll, 1, -1), 0);
	EQUAL(cosy_async_poll(loop, &second, &other, 1, -1), 0);
	execute(loop);
	EQUAL(write(fds[1], "x", 1), 1);
	EQUAL(result_of(loop, &op), 1);
	EQUAL(result_of(loop, &second), 1);
	EQUAL(poll.revents, POLLIN);
	EQUAL(read(fds[0], &byte, 1), 1);
	EQUAL(cosy_async_poll(loop, &op, &poll, 1, -1), 0);
	execute(loop);
	close(fds[1]);
	EQUAL(result_of(loop, &op), 1);
	EQUAL(poll.revents, POLLHUP);
	end(fds[0]);
	/* An address that cannot be read; the descriptors of other operations are cancelled. */
	EQUAL(cosy_async_poll(loop, &op, (void *)1, 1, -1), 0);
	EQUAL(cosy_async_poll(loop, &second, NULL, 1, -1), 0);
	EQUAL(cosy_cancel_fd(loop, fds[0]), 0);
	EQUAL(result_of(loop, &op), -EFAULT);
	EQUAL(result_of(loop, &second), -EFAULT);
	/* With a timeout, a thread waits. */
	EQUAL(cosy_async_poll(loop, &op, NULL, 0, 20), 0);
	EQUAL(result_of(loop, &op), 0);
}

/* A full eventfd refuses what it never takes, and takes 0. The rest waits. */
static void full_eventfd(void)
{
	const uint64_t largest = UINT64_MAX - 1, invalid = UINT64_MAX, one = 1, zero = 0;
	struct iovec pieces[] = { { (void *)&one, 4 }, { (void *)&one, 8 } };
	struct iovec zeros[] = { { (void *)&zero, 8 }, { (void *)&zero, 8 } };
	struct iovec nothing[] = { { NULL, 0 } };
	struct cosy_async op = { 0 }, second = { 0 };
	int fd = eventfd(0, 0);
	uint64_t value;

	EQUAL(write(fd, &largest, sizeof(largest)), sizeof(largest));
	for (int nonblock = 0; nonblock < 2; nonblock++) {
		set_nonblock(fd, nonblock);
		EQUAL(cosy_async_write(loop, &op, fd, &one, 7), 0);
		completes(&op, -EINVAL);
		EQUAL(cosy_async_write(loop, &op, fd, &one, 0), 0);
		completes(&op, -EINVAL);
		EQUAL(cosy_async_write(loop, &op, fd, &invalid, sizeof(invalid)), 0);
		completes(&op, -EINVAL);
		EQUAL(cosy_async_write(loop, &op, fd, (void *)1, sizeof(invalid)), 0);
		completes(&op, -EFAULT);
		EQUAL(cosy_async_writev(loop, &op, fd, pieces, 2), 0);
		completes(&op, -EINVAL);
		EQUAL(cosy_async_writev(loop, &op, fd, nothing, 1), 0);
		completes(&op, 0);
		EQUAL(cosy_async_writev(loop, &op, fd, NULL, 1), 0);
		completes(&op, -EFAULT);
		EQUAL(cosy_async_write(loop, &op, fd, &zero, sizeof(zero)), 0);
		completes(&op, sizeof(zero));
		EQUAL(cosy_async_writev(loop, &op, fd, zeros, 2), 0);
		completes(&op, sizeof(zero) * 2);
		/* The second one begins when the first one has filled it again. */
		EQUAL(cosy_async_write(loop, &op, fd, &largest, sizeof(largest)), 0);
		EQUAL(cosy_async_write(loop, &second, fd, &zero, sizeof(zero)), 0);
		execute(loop);
		EQUAL(read(fd, &value, sizeof(value)), sizeof(value));
		EQUAL(result_of(loop, &op), sizeof(largest));
		completes(&second, sizeof(zero));
		EQUAL(read(fd, &value, sizeof(value)), sizeof(value));
		EQUAL(cosy_async_write(loop, &op, fd, &largest, sizeof(largest)), 0);
		completes(&op, sizeof(largest));
		EQUAL(cosy_async_write(loop, &op, fd, &largest, sizeof(largest)), 0);
		EQUAL(cosy_async_write(loop, &second, fd, &one, 7), 0);
		execute(loop);
		EQUAL(read(fd, &value, sizeof(value)), sizeof(value));
		EQUAL(result_of(loop, &op), sizeof(largest));
		completes(&second, -EINVAL);
		EQUAL(cosy_async_write(loop, &op, fd, &one, sizeof(one)), 0);
		execute(loop);
		CHECK(cosy_async_pending(&op));
		EQUAL(read(fd, &value, sizeof(value)), sizeof(value));
		EQUAL(result_of(loop, &op), sizeof(one));
		value = largest - 1;
		EQUAL(write(fd, &value, sizeof(value)), sizeof(value));
	}
	end(fd);
}

/* Files whose poll() does not report whether a call waits. These calls end at once natively. */
static void not_reported(void)
{
	struct perf_event_attr counter = { .type = PERF_TYPE_SOFTWARE, .size = sizeof(counter),
					   .config = PERF_COUNT_SW_CPU_CLOCK };
	int fanotify = fanotify_init(FAN_CLASS_CONTENT, O_RDONLY);
	/*
	 * Of a CPU: for a counter of a task, the kernel changes its scheduler's code when the counter
	 * is opened and closed. QEMU sometimes does not survive that.
	 */
	int perf = (int)syscall(SYS_perf_event_open, &counter, -1, 0, -1, 0);
	struct fanotify_response response = { .fd = -1, .response = FAN_ALLOW };
	struct cosy_async op = { 0 }, second = { 0 };
	uint64_t values[16];
	struct termios mode;
	int master, slave;

	/* Both may need rights that the process does not have. */
	if (fanotify >= 0) {
		EQUAL(write(fanotify, &response, sizeof(response)), -1);
		int error = errno;

		EQUAL(cosy_async_write(loop, &op, fanotify, &response, sizeof(response)), 0);
		completes(&op, -error);
		end(fanotify);
	}
	if (perf >= 0) {
		void *samples = mmap(NULL, 2 * (size_t)getpagesize(), PROT_READ | PROT_WRITE,
				     MAP_SHARED, perf, 0);

		EQUAL(cosy_async_read(loop, &op, perf, values, sizeof(values)), 0);
		completes(&op, sizeof(*values));
		if (samples != MAP_FAILED)
			munmap(samples, 2 * (size_t)getpagesize());
		end(perf);
	}

	open_terminal(&master, &slave);
	EQUAL(tcgetattr(slave, &mode), 0);
	mode.c_cc[VMIN] = 0;
	for (mode.c_cc[VTIME] = 0; mode.c_cc[VTIME] < 2; mode.c_cc[VTIME]++) {
		EQUAL(tcsetattr(slave, TCSANOW, &mode), 0);
		EQUAL(cosy_async_read(loop, &op, slave, values, sizeof(values)), 0);
		completes(&op, 0);
	}
	/* This does not apply to the other end. */
	wait_for_input(master);
	end(master);
	end(slave);

	/* A read of no bytes waits for an event, too, and then fails. It does not block the loop. */
	char name[] = "/tmp/async-inotify-XXXXXX";
	int file = mkstemp(name), inotify = inotify_init1(0);

	CHECK(file >= 0);
	EQUAL(cosy_async_read(loop, &op, inotify, values, 0), 0);
	execute(loop);
	EQUAL(cosy_async_timer(loop, &second, &(struct timespec){ .tv_nsec = 1000000 }, 0), 0);
	completes(&second, 0);
	CHECK(cosy_async_pending(&op));
	CHECK(inotify_add_watch(inotify, name, IN_ATTRIB) >= 0);
	EQUAL(fchmod(file, 0600), 0);
	completes(&op, -EINVAL);
	end(inotify);
	EQUAL(close(file), 0);
	EQUAL(unlink(name), 0);
}

int main(void)
{
	loop = make_loop();
	for (int nonblock = 0; nonblock < 2; nonblock++) {
		events(nonblock);
	}
	full_eventfd();
	not_reported();
	polls();
	EQUAL(cosy_loop_destroy(loop), 0);
	return 0;
}
