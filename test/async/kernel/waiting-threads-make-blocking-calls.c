// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * Threads that wait in a loop for entries whose calls block. They make the calls, one after the
 * other, while other threads enter, cancel, sleep, recall them, and close the loop.
 */

// RUN: %compile %s -o %t
// RUN: %vm %t

#include "Inputs/workers.h"

#include <signal.h>
#include <stddef.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>

#define THREADS 4

static void refused(void)
{
	struct loop loop;

	create(&loop, 64);
	check(loop.page->features & COSY_ASYNC_THREADS, "the loop says that it has threads");
	check(enter_loop(&loop, COSY_ASYNC_WORK | (loop.page->id + 1)) == -ESTALE,
	      "ESTALE: the number is of another loop");
	check(enter_loop(&loop, COSY_ASYNC_WORK | COSY_ASYNC_SLEEP) == -EINVAL &&
	      enter_loop(&loop, COSY_ASYNC_WORK | COSY_ASYNC_CANCEL | 1) == -EINVAL,
	      "EINVAL: the commands contradict each other");
	submit(&loop, 1, COSY_ENTRY_LONG, SYS_getpid, 0, 0, 0, 0);
	submit(&loop, 2, COSY_ENTRY_TAKE, SYS_getpid, 0, 0, 0, 0);
	submit(&loop, 3, COSY_ENTRY_THREAD | COSY_ENTRY_BUFFERED, SYS_read, 0, 0, 0, 0);
	submit(&loop, 4, COSY_ENTRY_THREAD, COSY_ENTRY_COMPOUND, 0, 0, 0, 0);
	check(execute(&loop) == 4, "entries with flags that contradict each other complete");
	for (int i = 1; i <= 4; i++)
		check(collect(&loop) == i && entry_result(&loop, i) == -EINVAL,
		      "EINVAL: entry %d is not executed", i);
	__atomic_store_n(&loop.page->recall, COSY_RECALL, __ATOMIC_RELEASE);
	check(enter_loop(&loop, COSY_ASYNC_WORK | loop.page->id) == (long long)COSY_ASYNC_ENTERED,
	      "a thread does not wait after it was recalled");
	destroy(&loop);
}

/* Many entries, few threads: each completes once, made by one of the threads. */
static void calls(void)
{
	struct worker w[THREADS];
	unsigned int seen[64] = { 0 }, good = 0, by_worker = 0;
	struct loop loop;

	create(&loop, 64);
	for (int i = 0; i < THREADS; i++)
		start(&w[i], &loop, 0);
	for (int round = 0; round < 20; round++) {
		for (uint32_t i = 0; i < 64; i++)
			submit(&loop, i, COSY_ENTRY_THREAD, i & 1 ? SYS_gettid : SYS_fsync,
			       (uint64_t)device, 0, 0, 0);
		for (int n = 0; n < 64; n++) {
			int index = next_of(&loop);

			seen[index]++;
			if (!(index & 1)) {
				good += entry_result(&loop, index) == -EINVAL;
				continue;
			}
			for (int i = 0; i < THREADS; i++)
				by_worker += entry_result(&loop, index) == w[i].tid;
		}
		for (int i = 0; i < 64; i++)
			good += seen[i] == (unsigned int)round + 1;
	}
	check(good == 20 * 96 && by_worker == 20 * 32,
	      "each call is made once, and by a waiting thread: %u good, %u of threads",
	      good, by_worker);
	check(collect(&loop) == -1 && !readable(loop.fd), "no completion is left");
	end_all(w, THREADS);
	destroy(&loop);
}

/*
 * No thread sleeps in the loop. Polling it reports the completion. A silent entry is not reported.
 */
static void polled(void)
{
	struct worker w;
	struct loop loop;
	struct pollfd p;

	create(&loop, 64);
	start(&w, &loop, 0);
	p = (struct pollfd){ .fd = loop.fd, .events = POLLIN };
	submit_work(&loop, 1, 0, SYS_fsync, (uint64_t)device, 0, 0, 0);
	check(poll(&p, 1, -1) == 1, "a completion of a thread notifies a poller");
	check(execute(&loop) >= 0 && collect(&loop) == 1 && entry_result(&loop, 1) == -EINVAL,
	      "the next thread that enters publishes the completion");
	submit_work(&loop, 1, COSY_ENTRY_SILENT, SYS_fsync, (uint64_t)device, 0, 0, 0);
	while (status_of(&loop, 1) != COSY_ENTRY_FREE)
		execute(&loop);
	check(collect(&loop) == -1 && entry_result(&loop, 1) == -EINVAL,
	      "a silent completion is not published");
	end_all(&w, 1);
	destroy(&loop);
}

/* Calls that may wait for ever do not delay those that end. */
static void classes(void)
{
	int file = open("/tmp/async-work", O_CREAT | O_RDWR, 0600);
	int holder = open("/tmp/async-work", O_RDWR);
	struct worker w[2];
	struct loop loop;

	create(&loop, 64);
	flock(holder, LOCK_EX);
	start(&w[0], &loop, 0);
	start(&w[1], &loop, COSY_WORK_LONG);
	submit_work(&loop, 1, COSY_ENTRY_LONG, SYS_flock, (uint64_t)file, LOCK_EX, 0, 0);
	submit_work(&loop, 2, COSY_ENTRY_LONG, SYS_gettid, 0, 0, 0, 0);
	submit_work(&loop, 3, 0, SYS_gettid, 0, 0, 0, 0);
	check(next_of(&loop) == 3 && entry_result(&loop, 3) == w[0].tid,
	      "the thread for short calls makes the short call");
	wait_until_running(&loop, 1, &w[1]);
	check(status_of(&loop, 2) == COSY_ENTRY_SUBMITTED,
	      "the second long call stays submitted, because the only thread for long calls is in one");
	submit_index(&loop, 1);
	submit_index(&loop, 2);
	check(execute(&loop) == 0,
	      "entries in the hands of threads are not executed when they are submitted again");
	flock(holder, LOCK_UN);
	check(next_of(&loop) == 1 && entry_result(&loop, 1) == 0 && next_of(&loop) == 2 &&
	      entry_result(&loop, 2) == w[1].tid,
	      "the thread for long calls makes both, one after the other");
	flock(file, LOCK_UN);
	end_all(w, 2);
	destroy(&loop);
	close(file);
	close(holder);
}

static void cancelled(void)
{
	int file = open("/tmp/async-work", O_CREAT | O_RDWR, 0600);
	int holder = open("/tmp/async-work", O_RDWR);
	struct loop loop;
	struct worker w;
	int fds[2];
	char byte;

	create(&loop, 64);
	flock(holder, LOCK_EX);
	submit_work(&loop, 1, 0, SYS_flock, (uint64_t)file, LOCK_EX, 0, 0);
	check(enter_loop(&loop, COSY_ASYNC_CANCEL | 1) == (long long)COSY_ASYNC_ENTERED &&
	      status_of(&loop, 1) == COSY_ENTRY_FREE,
	      "an entry that no thread has begun is cancelled");
	check(enter_loop(&loop, COSY_ASYNC_CANCEL | 1) == -ENOENT,
	      "ENOENT: it is already cancelled");
	start(&w, &loop, 0);
	submit_work(&loop, 1, 0, SYS_flock, (uint64_t)file, LOCK_EX, 0, 0);
	wait_until_running(&loop, 1, &w);
	check(enter_loop(&loop, COSY_ASYNC_CANCEL | 1) == -EALREADY,
	      "EALREADY: the call has begun");
	check(next_of(&loop) == 1 && entry_result(&loop, 1) == -ECANCELED,
	      "ECANCELED: the call is interrupted");
	/* A call that has transferred a part returns that. */
	if (pipe(fds))
		die("pipe");
	submit_work(&loop, 2, 0, SYS_read, (uint64_t)fds[0], (uintptr_t)&byte, 1, 0);
	wait_until_running(&loop, 2, &w);
	if (write(fds[1], "x", 1) != 1)
		die("write");
	while (!readable(loop.fd))
		sched_yield();
	check(enter_loop(&loop, COSY_ASYNC_CANCEL | 2) == -ENOENT, "ENOENT: the call has returned");
	check(next_of(&loop) == 2 && entry_result(&loop, 2) == 1 && byte == 'x',
	      "the call that was not cancelled has its result");
	/* The thread continues. */
	submit_work(&loop, 3, 0, SYS_gettid, 0, 0, 0, 0);
	check(next_of(&loop) == 3 && entry_result(&loop, 3) == w.tid,
	      "the next call of the thread is not interrupted");
	flock(holder, LOCK_UN);
	end_all(&w, 1);
	destroy(&loop);
	close(file);
	close(holder);
	close(fds[0]);
	close(fds[1]);
}

static void on_signal(int sig)
{
	(void)sig;
}

/* After a signal, this thread or another one repeats the call. */
static void signals(void)
{
	struct sigaction act = { .sa_handler = on_signal };
	struct worker w[2];
	struct loop loop;
	unsigned int before;
	int fds[2];
	char byte;

	sigaction(SIGUSR1, &act, NULL);
	if (pipe(fds))
		die("pipe");
	create(&loop, 64);
	start(&w[0], &loop, 0);
	before = atomic_load(&w[0].entered);
	pthread_kill(w[0].thread, SIGUSR1);
	while (atomic_load(&w[0].entered) == before)
		sched_yield();
	wait_until_asleep(&w[0]);
	submit_work(&loop, 1, 0, SYS_read, (uint64_t)fds[0], (uintptr_t)&byte, 1, 0);
	wait_until_running(&loop, 1, &w[0]);
	start(&w[1], &loop, 0);
	before = atomic_load(&w[0].entered);
	pthread_kill(w[0].thread, SIGUSR1);
	while (atomic_load(&w[0].entered) == before)
		sched_yield();
	check(collect(&loop) == -1, "a call that a signal interrupts does not complete");
	if (write(fds[1], "y", 1) != 1)
		die("write");
	check(next_of(&loop) == 1 && entry_result(&loop, 1) == 1 && byte == 'y',
	      "the call is repeated, and completes");
	/* Signals of a call are delivered to the thread, which leaves with the entry. */
	close(fds[0]);
	end_all(w, 2);
	signal(SIGPIPE, SIG_IGN);
	start(&w[0], &loop, 0);
	submit_work(&loop, 7, 0, SYS_write, (uint64_t)fds[1], (uintptr_t)&byte, 1, 0);
	check(end(&w[0]) == (long long)(COSY_ASYNC_ENTERED | COSY_WORK_TAKEN | 7) &&
	      status_of(&loop, 7) == COSY_ENTRY_DONE && entry_result(&loop, 7) == -EPIPE,
	      "EPIPE: a thread leaves with its entry to get SIGPIPE");
	check(execute(&loop) == 0 && collect(&loop) == -1 && !readable(loop.fd),
	      "this entry is not in the ring");
	check(enter_loop(&loop, COSY_ASYNC_CANCEL | 7) == -EALREADY,
	      "EALREADY: this entry belongs to the thread");
	check(call_by_entry(&loop, SYS_getpid, 0, 0, 0, 0) == getpid(),
	      "the loop makes other calls");
	submit(&loop, 7, 0, SYS_getpid, 0, 0, 0, 0);
	check(execute(&loop) == 1 && collect(&loop) == 7 && entry_result(&loop, 7) == getpid(),
	      "the entry can be used again");
	close(fds[1]);
	destroy(&loop);
}

/* Calls that must be made in user mode: the thread leaves with the entry. */
static void taken(void)
{
	struct loop loop;
	struct worker w;

	create(&loop, 64);
	start(&w, &loop, 0);
	submit_work(&loop, 5, COSY_ENTRY_TAKE, SYS_getpid, 0, 0, 0, 0);
	check(end(&w) == (long long)(COSY_ASYNC_ENTERED | COSY_WORK_TAKEN | 5) &&
	      status_of(&loop, 5) == COSY_ENTRY_USER,
	      "a thread leaves with an entry that asks for it");
	start(&w, &loop, 0);
	submit_work(&loop, 6, 0, SYS_fork, 0, 0, 0, 0);
	check(end(&w) == (long long)(COSY_ASYNC_ENTERED | COSY_WORK_TAKEN | 6) &&
	      status_of(&loop, 6) == COSY_ENTRY_USER,
	      "a thread leaves with a call that may not be nested");
	check(collect(&loop) == -1, "these entries are not in the ring");
	destroy(&loop);
}

/* In a child, so that the filter ends with it. */
static void filtered_child(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_fsync, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 77),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = { .len = 4, .filter = code };
	struct loop loop;
	struct worker w;
	long long left;

	create(&loop, 64);
	start(&w, &loop, 0);
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &prog))
		die("seccomp");
	submit_work(&loop, 5, 0, SYS_fsync, (uint64_t)device, 0, 0, 0);
	left = end(&w);
	check(left == (long long)(COSY_ASYNC_ENTERED | COSY_WORK_TAKEN | 5) &&
	      status_of(&loop, 5) == COSY_ENTRY_USER,
	      "a thread leaves with a call that its filter must see: %llx", left);
	destroy(&loop);
}

/* A thread of a process that closes the loop's descriptor, or ends, while threads work. */
static void closed(void)
{
	int file = open("/tmp/async-work", O_CREAT | O_RDWR, 0600);
	int holder = open("/tmp/async-work", O_RDWR), other;
	struct worker w[2];
	struct loop loop;

	create(&loop, 64);
	flock(holder, LOCK_EX);
	start(&w[0], &loop, 0);
	submit_work(&loop, 1, 0, SYS_flock, (uint64_t)file, LOCK_EX, 0, 0);
	wait_until_running(&loop, 1, &w[0]);
	submit_work(&loop, 2, 0, SYS_getpid, 0, 0, 0, 0);
	start(&w[1], &loop, COSY_WORK_LONG);
	other = dup(loop.fd);
	close(other);
	check(end(&w[1]) == -ESHUTDOWN,
	      "ESHUTDOWN: a thread that waits leaves when a descriptor is closed");
	check(collect(&loop) == 2 && status_of(&loop, 2) == COSY_ENTRY_USER,
	      "a call that has not begun is given back");
	check(enter_loop(&loop, COSY_ASYNC_WORK | loop.page->id) == -ESHUTDOWN,
	      "ESHUTDOWN: no thread can wait after that");
	submit(&loop, 3, COSY_ENTRY_THREAD, SYS_getpid, 0, 0, 0, 0);
	check(execute(&loop) == 1 && collect(&loop) == 3 && status_of(&loop, 3) == COSY_ENTRY_USER,
	      "an entry for threads is given back");
	close(loop.fd);
	flock(holder, LOCK_UN);
	check(end(&w[0]) == (long long)(COSY_ASYNC_ENTERED | COSY_WORK_TAKEN | 1) &&
	      status_of(&loop, 1) == COSY_ENTRY_DONE && entry_result(&loop, 1) == 0,
	      "a thread leaves with the result of a call that it was in");
	munmap(loop.page, loop.size);
	close(file);
	close(holder);
}

/* A result that was not published is published when a descriptor is closed. */
static void closed_when_made(void)
{
	struct loop loop;
	struct worker w;

	create(&loop, 64);
	start(&w, &loop, 0);
	submit_work(&loop, 1, 0, SYS_gettid, 0, 0, 0, 0);
	while (!readable(loop.fd))
		sched_yield();
	close(loop.fd);
	check(end(&w) == -ESHUTDOWN || atomic_load(&w.left) == -EBADF,
	      "a thread leaves when the loop is closed");
	check(collect(&loop) == 1 && entry_result(&loop, 1) == w.tid,
	      "the result that it had is published");
	munmap(loop.page, loop.size);
}

/* The process is killed, executes another program, or exits. */
static void ends(int how)
{
	int file = open("/tmp/async-work", O_CREAT | O_RDWR, 0600);
	int holder = open("/tmp/async-work", O_RDWR), status = 0;
	struct worker w[2];
	struct loop loop;
	pid_t pid;

	flock(holder, LOCK_EX);
	pid = fork();
	if (!pid) {
		create(&loop, 64);
		start(&w[0], &loop, 0);
		start(&w[1], &loop, COSY_WORK_LONG);
		submit_work(&loop, 1, 0, SYS_flock, (uint64_t)file, LOCK_EX, 0, 0);
		wait_until_running(&loop, 1, &w[0]);
		submit_work(&loop, 2, 0, SYS_getpid, 0, 0, 0, 0);
		if (how == 0)
			kill(getpid(), SIGKILL);
		if (how == 1)
			execl("/bin/true", "true", (char *)NULL);
		_exit(0);
	}
	waitpid(pid, &status, 0);
	check(how ? WIFEXITED(status) && !WEXITSTATUS(status) : WIFSIGNALED(status),
	      "the process ends: way %d", how);
	check(flock(holder, LOCK_UN) == 0 && flock(file, LOCK_EX) == 0,
	      "the lock of its call is free");
	close(file);
	close(holder);
}

/* A child has neither the loop nor its threads. */
static void forked(void)
{
	struct loop loop;
	struct worker w;
	int status;

	create(&loop, 64);
	start(&w, &loop, 0);
	if (!fork()) {
		bool good = enter_loop(&loop, COSY_ASYNC_WORK | 1) == -EPERM &&
			    enter_loop(&loop, COSY_ASYNC_WORK | COSY_ASYNC_CANCEL) == -EPERM;

		close(loop.fd);
		_exit(good);
	}
	wait(&status);
	check(WIFEXITED(status) && WEXITSTATUS(status) == 1,
	      "EPERM: a child cannot wait in the loop");
	submit_work(&loop, 1, 0, SYS_gettid, 0, 0, 0, 0);
	check(next_of(&loop) == 1 && entry_result(&loop, 1) == w.tid,
	      "the thread of the parent makes a call");
	end_all(&w, 1);
	destroy(&loop);
}

/* Calls on the loop itself, made by its threads. */
static void nested(void)
{
	struct worker w[2];
	struct loop loop;
	int first;

	create(&loop, 64);
	start(&w[0], &loop, 0);
	/* The thread enters, and publishes other results, but not its own. */
	submit_work(&loop, 1, 0, SYS_lseek, (uint64_t)loop.fd, COSY_RUN_TAG | 64, COSY_RUN_WHENCE, 0);
	check(next_of(&loop) == 1 && (entry_result(&loop, 1) == -EBUSY ||
				      entry_result(&loop, 1) == (long long)COSY_ASYNC_ENTERED),
	      "a thread's call enters its loop, or gets EBUSY from another one");
	start(&w[1], &loop, 0);
	/* It cancels itself. */
	submit_work(&loop, 2, 0, SYS_lseek, (uint64_t)loop.fd,
		    COSY_RUN_TAG | COSY_ASYNC_AWAIT | COSY_ASYNC_CANCEL | 2, COSY_RUN_WHENCE, 0);
	check(next_of(&loop) == 2 && (entry_result(&loop, 2) == -EALREADY ||
				      entry_result(&loop, 2) == -ECANCELED),
	      "EALREADY or ECANCELED: a call cancels itself");
	/* It waits for work while it works, and makes the calls that are submitted. */
	submit_work(&loop, 3, 0, SYS_lseek, (uint64_t)loop.fd,
		    COSY_RUN_TAG | COSY_ASYNC_WORK | loop.page->id, COSY_RUN_WHENCE, 0);
	submit_work(&loop, 4, 0, SYS_fsync, (uint64_t)device, 0, 0, 0);
	/* It may have left for pending work of the kernel. */
	first = next_of(&loop);
	recall(&loop, COSY_RECALL);
	check(first + next_of(&loop) == 7 && entry_result(&loop, 4) == -EINVAL &&
	      entry_result(&loop, 3) == (long long)COSY_ASYNC_ENTERED,
	      "a thread's call waits for work, makes a call and is recalled");
	end_all(w, 2);
	destroy(&loop);
}

/* Submit, cancel and recall at any time. Each entry completes once. */
static void races(void)
{
	struct worker w[THREADS];
	unsigned int submitted = 0, complete = 0, out = 0, random = 1;
	bool pending[64] = { 0 };
	struct loop loop;
	int fds[2];

	if (pipe(fds))
		die("pipe");
	create(&loop, 64);
	for (int i = 0; i < THREADS; i++)
		start(&w[i], &loop, i & 1 ? COSY_WORK_LONG : 0);
	for (int round = 0; round < 20000; round++) {
		uint32_t index;
		char byte;
		int done;

		random = random * 1103515245 + 12345;
		index = random >> 16 & 63;
		if (!pending[index]) {
			bool waits = random >> 24 & 1;

			submit(&loop, index, COSY_ENTRY_THREAD | (random >> 25 & 1 ?
								  COSY_ENTRY_LONG : 0),
			       waits ? SYS_read : SYS_fsync, (uint64_t)fds[0], (uintptr_t)&byte, 1,
			       0);
			pending[index] = true;
			submitted++;
		} else if (random >> 26 & 1) {
			execute(&loop);
			if (enter_loop(&loop, COSY_ASYNC_CANCEL | index) ==
			    (long long)COSY_ASYNC_ENTERED) {
				pending[index] = false;
				out++;
			}
		} else if (!(random >> 27 & 15)) {
			pthread_kill(w[index % THREADS].thread, SIGUSR1);
		}
		execute(&loop);
		while ((done = collect(&loop)) >= 0) {
			complete += pending[done];
			pending[done] = false;
		}
	}
	for (uint32_t i = 0; i < 64; i++) {
		if (pending[i] && enter_loop(&loop, COSY_ASYNC_CANCEL | i) ==
				  (long long)COSY_ASYNC_ENTERED) {
			pending[i] = false;
			out++;
		}
	}
	while (complete + out < submitted) {
		int done = next_of(&loop);

		complete += pending[done];
		pending[done] = false;
	}
	check(collect(&loop) == -1 && complete && out,
	      "%u entries complete and %u are cancelled, each once", complete, out);
	end_all(w, THREADS);
	destroy(&loop);
	close(fds[0]);
	close(fds[1]);
}

int main(void)
{
	int status;

	device = open_device();
	refused();
	calls();
	polled();
	classes();
	cancelled();
	signals();
	taken();
	if (!fork()) {
		filtered_child();
		_exit(finish());
	}
	wait(&status);
	check(WIFEXITED(status) && !WEXITSTATUS(status),
	      "the checks of a child with a filter pass");
	closed();
	closed_when_made();
	for (int how = 0; how < 3; how++)
		ends(how);
	forked();
	nested();
	races();
	unlink("/tmp/async-work");
	return finish();
}
