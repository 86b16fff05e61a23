// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * Entries with COSY_ENTRY_BUFFERED: a file on a disk is read without a thread that waits for the
 * disk. The disk answers on request, so that operations before its answer can be tested.
 *
 * In a separate VM, because it counts the module's references, which other tests also have.
 */

// RUN: %compile %s -o %t
// RUN: %root/scripts/vm/run -- timeout 900 bash %S/../Inputs/on-a-slow-disk.sh %t

#include "../../kernel/loop.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>

#include "../Inputs/slow-disk.h"

#define SIZE		(8u << 20)
#define PIECE		4096u
/* No readahead reaches from one position to the next. */
#define STEP		(128u << 10)
#define PLACES		(SIZE / STEP)
#define GIVEN_BACK	(-2000)

static struct loop loop;
static char wanted[SIZE], got[PLACES][PIECE];
static int file;

static unsigned int references(void)
{
	FILE *f = fopen("/sys/module/cosy/refcnt", "re");
	unsigned int n = 0;

	check(f && fscanf(f, "%u", &n) == 1, "the module's references can be read");
	if (f)
		fclose(f);
	return n;
}

/* Wait until the number is reached again. */
static bool returns_to(unsigned int n)
{
	for (int i = 0; i < 600000 && references() != n; i++)
		usleep(1000);
	return references() == n;
}

static void submit_read(struct loop *to, unsigned int index, unsigned int place, unsigned int flags)
{
	memset(got[place], 0, PIECE);
	submit(to, index, COSY_ENTRY_BUFFERED | flags, SYS_pread64, (uint64_t)file,
	       (uintptr_t)got[place], PIECE, place * STEP);
}

static bool is_right(unsigned int place)
{
	return !memcmp(got[place], wanted + place * STEP, PIECE);
}

/* Enter until an entry has completed, and collect it. */
static int await_one(struct loop *from)
{
	struct pollfd p = { .fd = from->fd, .events = POLLIN };
	int index;

	for (;;) {
		if (execute(from) < 0)
			return -1;
		index = collect(from);
		if (index >= 0)
			return index;
		if (poll(&p, 1, 60000) != 1)
			return -1;
	}
}

static void waits(void)
{
	disk_hold();
	submit_read(&loop, 3, 0, 0);
	check(execute(&loop) == 0, "no read completes while the disk is stopped");
	disk_await(1);
	check(execute(&loop) == 0 && collect(&loop) == -1 && !readable(loop.fd) &&
	      loop.entries[3].status == COSY_ENTRY_SUBMITTED,
	      "the entry stays submitted, and the loop is not readable");
	/* Others continue meanwhile, and it must not be submitted twice. */
	check(call_by_entry(&loop, SYS_getpid, 0, 0, 0, 0) == getpid(),
	      "another entry completes meanwhile");
	submit_index(&loop, 3);
	check(execute(&loop) == 0 && collect(&loop) == -1,
	      "the waiting entry is not executed when it is submitted again");
	disk_go_on();
	check(await_one(&loop) == 3 && entry_result(&loop, 3) == PIECE && is_right(0),
	      "the read completes with the file's data when the disk answers");
	check(loop.entries[3].status == COSY_ENTRY_DONE, "its status is done");
	/* Now from the cache. */
	submit_read(&loop, 3, 0, 0);
	check(execute(&loop) == 1 && collect(&loop) == 3 && entry_result(&loop, 3) == PIECE &&
	      is_right(0), "a read from the cache completes without a wait");
}

static void many(void)
{
	int single = file;

	file = open("many", O_RDONLY | O_CLOEXEC);
	disk_hold();
	for (unsigned int i = 0; i < PLACES; i++)
		submit_read(&loop, i, i, 0);
	check(execute(&loop) == 0, "all reads wait for the disk");
	/* Several for one folio, and for a part of a folio that another one reads. */
	submit_read(&loop, PLACES, 0, 0);
	submit_read(&loop, PLACES + 1, 0, COSY_ENTRY_SILENT);
	check(execute(&loop) == 0, "two more reads of pages that are being read wait, too");
	/* The disk has all reads at the same time. */
	disk_await(PLACES);
	disk_go_on();
	for (unsigned int i = 0; i < PLACES + 1; i++) {
		int index = await_one(&loop);

		check(index >= 0 && entry_result(&loop, index) == PIECE,
		      "entry %d has read all bytes", index);
	}
	while (loop.entries[PLACES + 1].status != COSY_ENTRY_FREE)
		check(execute(&loop) >= 0, "the loop is entered until the silent entry ends");
	check(collect(&loop) == -1 && loop.entries[PLACES + 1].args[0] == PIECE,
	      "the silent entry has a result and no completion");
	for (unsigned int i = 0; i < PLACES; i++)
		check(is_right(i), "the data of place %u is right", i);
	close(file);
	file = single;
}

static void cancelled(void)
{
	unsigned int before = references();

	disk_hold();
	submit_read(&loop, 5, 1, 0);
	submit_read(&loop, 6, 2, 0);
	check(execute(&loop) == 0, "two reads wait");
	disk_await(1);
	check(enter_loop(&loop, COSY_ASYNC_CANCEL | 5) == (long long)COSY_ASYNC_ENTERED &&
	      loop.entries[5].status == COSY_ENTRY_FREE, "one of them is cancelled");
	check(enter_loop(&loop, COSY_ASYNC_CANCEL | 5) == -ENOENT,
	      "ENOENT: it is already cancelled");
	check(references() == before + 1,
	      "a cancelled read holds the module until the disk answers");
	/* The entry can be used again immediately, also for the same folio. */
	submit_read(&loop, 5, 1, 0);
	check(execute(&loop) == 0, "a new read with the index of the cancelled one waits");
	disk_go_on();
	for (int i = 0; i < 2; i++) {
		int index = await_one(&loop);

		check((index == 5 || index == 6) && entry_result(&loop, index) == PIECE,
		      "a read that was not cancelled completes");
	}
	check(is_right(1) && is_right(2), "both have read their data");
	check(returns_to(before), "no reference to the module is left");
	check(execute(&loop) == 0 && collect(&loop) == -1, "each read has completed once");
}

/* The descriptor is closed meanwhile, and its number belongs to another file. */
static void closed(void)
{
	int other = open("other", O_RDONLY | O_CLOEXEC), kept = dup(file);

	disk_hold();
	submit_read(&loop, 7, 3, 0);
	check(execute(&loop) == 0, "a read waits");
	disk_await(1);
	check(dup2(other, file) == file, "its descriptor gets the number of another file");
	disk_go_on();
	check(await_one(&loop) == 7 && entry_result(&loop, 7) == PIECE && is_right(3),
	      "it has read from the file that it began with");
	dup2(kept, file);
	close(kept);
	close(other);
}

/*
 * The first part is cached. The call continues with its file, although its number belongs to
 * another one.
 */
static void in_parts(void)
{
	int other = open("other", O_RDONLY | O_CLOEXEC), kept = dup(file);
	static char both[2 * STEP];

	submit_read(&loop, 7, 40, 0);
	check(await_one(&loop) == 7 && is_right(40),
	      "the first part of the file is read into the cache");
	disk_hold();
	submit(&loop, 7, COSY_ENTRY_BUFFERED, SYS_pread64, (uint64_t)file, (uintptr_t)both,
	       sizeof(both), 40 * STEP);
	check(execute(&loop) == 0, "a read of this part and the next one waits");
	disk_await(1);
	check(dup2(other, file) == file, "its descriptor gets the number of another file");
	disk_go_on();
	check(await_one(&loop) == 7 && entry_result(&loop, 7) == sizeof(both) &&
	      !memcmp(both, wanted + 40 * STEP, sizeof(both)),
	      "both parts are of the file that it began with");
	dup2(kept, file);
	close(kept);
	close(other);
	/* It ends at the end of the file. */
	submit(&loop, 7, COSY_ENTRY_BUFFERED, SYS_pread64, (uint64_t)file, (uintptr_t)both,
	       sizeof(both), SIZE - 5);
	check(await_one(&loop) == 7 && entry_result(&loop, 7) == 5 &&
	      !memcmp(both, wanted + SIZE - 5, 5),
	      "a read over the end of the file returns the bytes before it");
}

/* The loop is destroyed, or its process ends, while entries wait. */
static void destroyed(void)
{
	unsigned int before = references();
	struct loop second;
	pid_t child;
	int status;

	disk_hold();
	check(!create(&second, 64), "a second loop is made");
	submit_read(&second, 0, 4, 0);
	submit_read(&second, 1, 5, 0);
	check(execute(&second) == 0, "two reads wait");
	disk_await(1);
	destroy(&second);
	check(references() == before + 2,
	      "reads of a destroyed loop hold the module until the disk answers");
	child = fork();
	if (!child) {
		if (create(&second, 64))
			_exit(1);
		submit_read(&second, 0, 6, 0);
		submit_read(&second, 1, 6, 0);
		_exit(execute(&second) ? 2 : 0);
	}
	check(waitpid(child, &status, 0) == child && !status,
	      "a process ends while its reads wait");
	/* Its parent had the device before, so that only its reads count. */
	check(references() == before + 4, "its two reads hold the module, too");
	disk_go_on();
	check(returns_to(before), "no reference to the module is left");
}

static void *enter_and_leave(void *unused)
{
	struct pollfd p = { .fd = loop.fd, .events = POLLIN };

	poll(&p, 1, 60000);
	return unused;
}

/* A thread sleeps in the loop, or polls it. The disk wakes it. */
static void wakes(void)
{
	pthread_t thread;
	long long ret;

	disk_hold();
	submit_read(&loop, 8, 7, 0);
	check(execute(&loop) == 0, "a read waits");
	check(!pthread_create(&thread, NULL, enter_and_leave, NULL), "a thread polls the loop");
	disk_await(1);
	disk_go_on();
	pthread_join(thread, NULL);
	check(await_one(&loop) == 8 && is_right(7),
	      "the answer of the disk wakes it, and the read completes");

	disk_hold();
	submit_read(&loop, 8, 8, 0);
	check(execute(&loop) == 0, "a read waits");
	disk_await(1);
	/* Answered when the thread sleeps, or before. */
	disk->hold = false;
	loop.page->sleep_ns = COSY_ASYNC_FOR_EVER;
	loop.page->sleep_fd = -1;
	do {
		ret = enter_loop(&loop, COSY_ASYNC_SLEEP | COSY_ASYNC_MAX_DONE);
	} while (ret == (long long)COSY_ASYNC_ENTERED);
	check(ret == (long long)(COSY_ASYNC_ENTERED | 1) && collect(&loop) == 8 && is_right(8),
	      "a thread that sleeps in the loop completes the read: %llx", ret);
}

/* Return: the result, or GIVEN_BACK. */
static long long read_by(long nr, uint64_t fd, uint64_t to, uint64_t n, uint64_t offset)
{
	const struct cosy_async_entry *entry = &loop.entries[1];

	submit(&loop, 1, COSY_ENTRY_BUFFERED, nr, fd, to, n, offset);
	if (await_one(&loop) != 1)
		return -1000;
	if (entry->status == COSY_ENTRY_DONE)
		return entry_result(&loop, 1);
	if (entry->status != COSY_ENTRY_USER || entry->nr != nr || entry->args[0] != fd ||
	    entry->args[1] != to || entry->args[2] != n || entry->args[3] != offset)
		check(false, "an entry that is given back is unchanged");
	return GIVEN_BACK;
}

static void results(void)
{
	const uint64_t to = (uintptr_t)got[0], fd = (uint64_t)file;
	int writes = open("file", O_WRONLY | O_CLOEXEC), other = memfd_create("other", MFD_CLOEXEC);
	int direct = open("file", O_RDONLY | O_DIRECT | O_CLOEXEC), sv[2];
	int directory = open(".", O_RDONLY | O_CLOEXEC);

	check(!socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sv), "two sockets are connected");
	check(read_by(SYS_pread64, fd, to, PIECE, SIZE - 10) == 10,
	      "a read over the end of the file returns 10 bytes");
	check(read_by(SYS_pread64, fd, to, PIECE, SIZE) == 0,
	      "a read at the end of the file returns 0");
	check(read_by(SYS_pread64, fd, to, PIECE, 1ull << 62) == 0,
	      "a read far after the end of the file returns 0");
	check(read_by(SYS_pread64, fd, to, 0, 0) == 0, "a read of 0 bytes returns 0");
	check(read_by(SYS_pread64, fd, 8, 1, 0) == -EFAULT, "EFAULT: the buffer is unmapped");
	check(read_by(SYS_pread64, fd, 1ull << 63, 1, 0) == GIVEN_BACK,
	      "a read to an address of the kernel is given back");
	check(read_by(SYS_pread64, fd, to, PIECE, ~0ull) == GIVEN_BACK,
	      "a read at a negative offset is given back");
	check(read_by(SYS_pread64, fd, to, 1ull << 40, 0) == GIVEN_BACK,
	      "a read of 2^40 bytes is given back");
	check(read_by(SYS_pread64, 4000, to, PIECE, 0) == -EBADF,
	      "EBADF: the descriptor is not open");
	check(read_by(SYS_pread64, (uint64_t)writes, to, PIECE, 0) == GIVEN_BACK,
	      "a read of a file that is open for writing is given back");
	check(read_by(SYS_pread64, (uint64_t)other, to, PIECE, 0) == GIVEN_BACK,
	      "a read of a memfd is given back");
	check(read_by(SYS_pread64, (uint64_t)direct, to, PIECE, 0) == GIVEN_BACK,
	      "a read with O_DIRECT is given back");
	check(read_by(SYS_pread64, (uint64_t)directory, to, PIECE, 0) == GIVEN_BACK,
	      "a read of a directory is given back");
	check(read_by(SYS_pread64, (uint64_t)sv[0], to, PIECE, 0) == GIVEN_BACK,
	      "a read of a socket is given back");
	check(read_by(SYS_readv, fd, to, 1, 0) == GIVEN_BACK, "readv() is given back");
	check(read_by(SYS_exit_group, 77, 0, 0, 0) == GIVEN_BACK,
	      "exit_group() is given back, not executed");
	check(read_by(1000, 0, 0, 0, 0) == GIVEN_BACK, "a call that does not exist is given back");
	check(loop.page->features & COSY_ASYNC_BUFFERED, "the loop says that it knows the flag");
	for (unsigned int flag = 1; flag < COSY_ENTRY_BUFFERED; flag <<= 1) {
		if (flag == COSY_ENTRY_SILENT)
			continue;
		submit(&loop, 1, COSY_ENTRY_BUFFERED | flag, SYS_pread64, fd, to, 1, 0);
		check(execute(&loop) == 1 && collect(&loop) == 1 && entry_result(&loop, 1) == -EINVAL,
		      "EINVAL: COSY_ENTRY_BUFFERED with flag %#x", flag);
	}
	close(writes);
	close(other);
	close(direct);
	close(directory);
	close(sv[0]);
	close(sv[1]);
}

/* At the file's position, which the call changes. */
static void positions(void)
{
	const uint64_t fd = (uint64_t)file;
	struct loop second;
	pid_t child;
	int status;

	disk_hold();
	check(lseek(file, 20 * STEP, SEEK_SET) == 20 * STEP, "the position of the file is set");
	submit(&loop, 13, COSY_ENTRY_BUFFERED, SYS_read, fd, (uintptr_t)got[20], PIECE, 77);
	check(execute(&loop) == 0, "a read at this position waits");
	disk_await(1);
	check(lseek(file, 0, SEEK_CUR) == 20 * STEP, "the position has not changed while it waits");
	disk_go_on();
	check(await_one(&loop) == 13 && entry_result(&loop, 13) == PIECE && is_right(20) &&
	      lseek(file, 0, SEEK_CUR) == 20 * STEP + PIECE,
	      "the read completes, and the position is after its data");

	/* Another thread changes the position meanwhile. The call is made at the new one. */
	disk_hold();
	check(lseek(file, 21 * STEP, SEEK_SET) == 21 * STEP, "the position of the file is set");
	submit(&loop, 13, COSY_ENTRY_BUFFERED, SYS_read, fd, (uintptr_t)got[22], PIECE, 0);
	check(execute(&loop) == 0, "a read at this position waits");
	disk_await(1);
	check(lseek(file, 22 * STEP, SEEK_SET) == 22 * STEP,
	      "the position is changed while it waits");
	disk_go_on();
	check(await_one(&loop) == 13 && entry_result(&loop, 13) == PIECE && is_right(22) &&
	      lseek(file, 0, SEEK_CUR) == 22 * STEP + PIECE,
	      "the read has read at the new position, and moves it");

	/* After cancelling it or destroying its loop, the position is unchanged. */
	disk_hold();
	check(!create(&second, 64), "a second loop is made");
	check(lseek(file, 23 * STEP, SEEK_SET) == 23 * STEP, "the position of the file is set");
	submit(&second, 0, COSY_ENTRY_BUFFERED, SYS_read, fd, (uintptr_t)got[23], PIECE, 0);
	submit(&second, 1, COSY_ENTRY_BUFFERED, SYS_read, fd, (uintptr_t)got[23], PIECE, 0);
	check(execute(&second) == 0, "two reads at this position wait");
	disk_await(1);
	check(enter_loop(&second, COSY_ASYNC_CANCEL | 0) == (long long)COSY_ASYNC_ENTERED,
	      "one of them is cancelled");
	destroy(&second);
	disk_go_on();
	check(lseek(file, 0, SEEK_CUR) == 23 * STEP,
	      "a cancelled read and a destroyed loop leave the position as it was");

	/* A process that shares the position waits for the disk with it, so a thread must wait. */
	disk_hold();
	check(lseek(file, 24 * STEP, SEEK_SET) == 24 * STEP, "the position of the file is set");
	child = fork();
	if (!child)
		_exit(read(file, got[24], PIECE) == PIECE && is_right(24) ? 0 : 1);
	disk_await(1);
	submit(&loop, 13, COSY_ENTRY_BUFFERED, SYS_read, fd, (uintptr_t)got[25], PIECE, 0);
	check(execute(&loop) == 1 && collect(&loop) == 13 &&
	      loop.entries[13].status == COSY_ENTRY_USER,
	      "a read is given back while another process reads at the same position");
	disk_go_on();
	check(waitpid(child, &status, 0) == child && !status &&
	      lseek(file, 0, SEEK_CUR) == 24 * STEP + PIECE,
	      "the other process reads, and moves the position");

	check(lseek(file, SIZE - 10, SEEK_SET) == SIZE - 10,
	      "the position is set 10 bytes before the end");
	check(read_by(SYS_read, fd, (uintptr_t)got[0], PIECE, 0) == 10,
	      "a read over the end of the file returns 10 bytes");
	check(read_by(SYS_read, fd, (uintptr_t)got[0], PIECE, 0) == 0,
	      "a read at the end of the file returns 0");
	check(lseek(file, 0, SEEK_CUR) == SIZE, "the position is the end of the file");
	check(lseek(file, 0, SEEK_SET) == 0 && read_by(SYS_read, fd, 8, 1, 0) == -EFAULT &&
	      lseek(file, 0, SEEK_CUR) == 0,
	      "EFAULT: the buffer is unmapped, and the position does not change");
}

static void bad_disk(void)
{
	disk->fail = true;
	check(read_by(SYS_pread64, (uint64_t)file, (uintptr_t)got[9], PIECE, 9 * STEP) == GIVEN_BACK,
	      "a read that fails is given back");
	check(pread(file, got[9], PIECE, 9 * STEP) == -1 && errno == EIO,
	      "EIO: natively, the disk fails");
	disk->fail = false;
	check(pread(file, got[9], PIECE, 9 * STEP) == PIECE && is_right(9), "the disk reads again");
}

static void *shorten(void *name)
{
	check(!truncate(name, STEP), "the file is truncated");
	return NULL;
}

/* The file is truncated while it is read. */
static void shortened(void)
{
	int longer = file;
	pthread_t thread;
	long long ret;

	file = open("other", O_RDONLY | O_CLOEXEC);
	disk_hold();
	submit_read(&loop, 9, 10, 0);
	check(execute(&loop) == 0, "a read waits");
	disk_await(1);
	check(!pthread_create(&thread, NULL, shorten, "other"), "a thread truncates the file");
	disk_go_on();
	check(await_one(&loop) == 9, "the read ends");
	ret = entry_result(&loop, 9);
	if (loop.entries[9].status == COSY_ENTRY_DONE)
		check(ret == 0 || (ret == PIECE && is_right(10)),
		      "the read has the result before or after the truncation: %lld", ret);
	pthread_join(thread, NULL);
	close(file);
	file = longer;
}

static void set_max(const char *value)
{
	int fd = open("/sys/module/cosy/parameters/max_reads", O_WRONLY | O_CLOEXEC);

	check(fd >= 0 && write(fd, value, strlen(value)) > 0, "max_reads is set");
	close(fd);
}

static void limited(void)
{
	struct pollfd p = { .fd = loop.fd, .events = POLLIN };
	struct loop other;

	disk_hold();
	set_max("1");
	submit_read(&loop, 10, 11, 0);
	submit_read(&loop, 11, 12, 0);
	check(execute(&loop) == 1 && collect(&loop) == 11 &&
	      loop.entries[11].status == COSY_ENTRY_USER,
	      "the second read is given back, because one is allowed");
	disk_go_on();
	check(await_one(&loop) == 10 && entry_result(&loop, 10) == PIECE,
	      "the first read completes");

	/* A process cannot keep others from waiting by not taking what has been read. */
	disk_hold();
	submit_read(&loop, 10, 50, 0);
	check(execute(&loop) == 0, "a read waits");
	disk_await(1);
	disk_go_on();
	check(poll(&p, 1, 60000) == 1 && !create(&other, 64),
	      "the read can be completed, and another loop is made");
	submit_read(&other, 0, 51, 0);
	check(await_one(&other) == 0 && other.entries[0].status == COSY_ENTRY_DONE &&
	      entry_result(&other, 0) == PIECE,
	      "a read that nothing has collected does not count towards the limit");
	check(await_one(&loop) == 10 && entry_result(&loop, 10) == PIECE,
	      "the first read completes when its loop is entered");
	destroy(&other);
	set_max("4096");
}

static void filtered(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_pread64, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned int)file, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 77),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = { sizeof(filter) / sizeof(*filter), filter };

	disk_hold();
	submit_read(&loop, 12, 13, 0);
	check(execute(&loop) == 0, "a read waits");
	disk_await(1);
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	check(!prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program),
	      "a filter for reads of the file is installed");
	disk_go_on();
	check(await_one(&loop) == 12 && loop.entries[12].status == COSY_ENTRY_USER,
	      "a read that has begun is given back: the filter does not allow it");
	check(read_by(SYS_pread64, (uint64_t)file, (uintptr_t)got[0], 1, 0) == GIVEN_BACK,
	      "a read that begins is given back: the filter does not allow it");
}

static void make_file(const char *name)
{
	int fd = open(name, O_CREAT | O_WRONLY | O_CLOEXEC, 0644);

	check(write(fd, wanted, SIZE) == SIZE && !fsync(fd),
	      "the file '%s' is written to the disk", name);
	close(fd);
}

/* Each position is read once, so that the cache need not be dropped again. */
static void test(void)
{
	file = open("file", O_RDONLY | O_CLOEXEC);
	waits();
	many();
	cancelled();
	closed();
	in_parts();
	destroyed();
	wakes();
	results();
	positions();
	bad_disk();
	shortened();
	limited();
	filtered();
	close(file);
}

int main(int argc, char **argv)
{
	if (!check(argc == 3, "the arguments are the disk and its folder"))
		return 1;
	disk_begin(argv[1], argv[2]);
	device = open(COSY_DEVICE, O_RDWR | O_CLOEXEC);
	for (unsigned int i = 0; i < SIZE; i++)
		wanted[i] = (char)(i * 2654435761u >> 13);
	check(!chdir(argv[2]), "the folder of the disk is entered");
	make_file("file");
	make_file("many");
	make_file("other");
	check(!chdir("/"), "the folder is left");
	disk_make_cold(argv[2]);
	if (check(device >= 0 && !chdir(argv[2]) && !create(&loop, 256), "a loop is made"))
		test();
	check(!chdir("/"), "the folder is left");
	disk_end(argv[2]);
	return finish();
}
