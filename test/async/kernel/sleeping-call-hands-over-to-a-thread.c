// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * Threads that wait in a loop make calls one after the other. Another thread is woken only if a
 * call sleeps. So no call waits after a blocking one, and calls that do not sleep wake one thread.
 */

// RUN: %compile %s -o %t
// RUN: %vm %t

#include "Inputs/workers.h"

#include <limits.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define THREADS 4
#define FIFO "/tmp/async-handover.fifo"
#define LOCKED "/tmp/async-handover.lock"

/* Threads that are started later have the same CPUs. */
static void use_cpus(unsigned int n)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	for (unsigned int i = 0; i < n; i++)
		CPU_SET(i, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		die("sched_setaffinity");
}

/* A counter of a thread: how often it has slept, or was preempted. */
static unsigned long switches(const struct worker *w, const char *which)
{
	unsigned long n = 0;
	char path[64], line[128];
	bool found = false;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%d/status", atomic_load(&w->tid));
	file = fopen(path, "r");
	while (file && !found && fgets(line, sizeof(line), file)) {
		found = !strncmp(line, which, strlen(which));
		if (found)
			n = strtoul(line + strlen(which), NULL, 10);
	}
	if (!found)
		die(path);
	fclose(file);
	return n;
}

static unsigned long sleeps(const struct worker *w)
{
	return switches(w, "voluntary_ctxt_switches:");
}

/* The number of sleeps of the threads. All of them sleep now. */
static unsigned long all_sleeps(struct worker *w)
{
	unsigned long n = 0;

	for (int i = 0; i < THREADS; i++) {
		wait_until_asleep(&w[i]);
		n += sleeps(&w[i]);
	}
	return n;
}

static void start_all(struct worker *w, struct loop *loop)
{
	for (int i = 0; i < THREADS; i++)
		start(&w[i], loop, 0);
}

/*
 * Many calls that do not sleep wake one thread, and with two CPUs two. Sometimes more are woken,
 * because one of them leaves for pending work of the kernel. So the smallest number counts.
 */
static void few_are_woken(unsigned int cpus)
{
	unsigned long fewest = ULONG_MAX;
	struct worker w[THREADS];
	unsigned int good = 0;
	struct loop loop;

	use_cpus(cpus);
	create(&loop, 64);
	start_all(w, &loop);
	for (int round = 0; round < 50; round++) {
		unsigned long before = all_sleeps(w), n;

		for (uint32_t i = 0; i < 64; i++)
			submit(&loop, i, COSY_ENTRY_THREAD, SYS_fsync, (uint64_t)device, 0, 0, 0);
		for (int i = 0; i < 64; i++)
			good += entry_result(&loop, next_of(&loop)) == -EINVAL;
		/* A thread that is about to sleep looks asleep, and is not counted yet. */
		do {
			n = all_sleeps(w) - before;
		} while (!n);
		fewest = n < fewest ? n : fewest;
	}
	check(good == 50 * 64, "each of 3200 calls is made: %u", good);
	check(fewest <= cpus,
	      "%lu threads are woken for 64 calls, at most one for each CPU", fewest);
	end_all(w, THREADS);
	destroy(&loop);
}

/*
 * Calls that never end, and calls after them. The latter are made by a thread that is woken when
 * the thread before it sleeps.
 */
static void blocked(void)
{
	int file = open(LOCKED, O_CREAT | O_RDWR, 0600), holder = open(LOCKED, O_RDWR), fifo;
	struct worker w[THREADS];
	struct loop loop;
	bool seen[64] = { 0 };

	use_cpus(1);
	if (mkfifo(FIFO, 0600) && errno != EEXIST)
		die(FIFO);
	create(&loop, 64);
	flock(holder, LOCK_EX);
	start_all(w, &loop);
	for (uint32_t i = 0; i < 64; i++)
		submit(&loop, i, COSY_ENTRY_THREAD, SYS_gettid, 0, 0, 0, 0);
	/* These are at random places among the others. */
	loop.entries[0].nr = loop.entries[30].nr = SYS_flock;
	loop.entries[0].args[0] = loop.entries[30].args[0] = (uint64_t)file;
	loop.entries[0].args[1] = loop.entries[30].args[1] = LOCK_EX;
	loop.entries[20].nr = SYS_open;
	loop.entries[20].args[0] = (uintptr_t)FIFO;
	loop.entries[20].args[1] = O_WRONLY;
	for (int n = 0; n < 61; n++)
		seen[next_of(&loop)] = true;
	check(!seen[0] && !seen[20] && !seen[30], "the other 61 calls complete");
	check(status_of(&loop, 0) == COSY_ENTRY_RUNNING &&
	      status_of(&loop, 20) == COSY_ENTRY_RUNNING &&
	      status_of(&loop, 30) == COSY_ENTRY_RUNNING, "three calls block in their threads");
	/* All threads except one sleep. The last one continues. */
	submit_work(&loop, 1, 0, SYS_gettid, 0, 0, 0, 0);
	check(next_of(&loop) == 1, "the last thread makes another call");
	/* When all sleep, the next entry waits for the first thread that returns. */
	submit_work(&loop, 2, 0, SYS_flock, (uint64_t)file, LOCK_EX, 0, 0);
	while (status_of(&loop, 2) != COSY_ENTRY_RUNNING)
		sched_yield();
	submit_work(&loop, 3, 0, SYS_gettid, 0, 0, 0, 0);
	check(status_of(&loop, 3) == COSY_ENTRY_SUBMITTED,
	      "an entry stays submitted while all threads are in calls");
	fifo = open(FIFO, O_RDONLY);
	seen[20] = seen[3] = false;
	seen[next_of(&loop)] = true;
	seen[next_of(&loop)] = true;
	check(fifo >= 0 && seen[20] && seen[3], "the first thread that returns makes its call");
	close((int)entry_result(&loop, 20));
	flock(holder, LOCK_UN);
	/* The three have the lock by the same file. */
	for (int n = 0; n < 3; n++)
		check(entry_result(&loop, next_of(&loop)) == 0,
		      "flock() succeeds: the lock is free");
	end_all(w, THREADS);
	destroy(&loop);
	close(fifo);
	close(file);
	close(holder);
	unlink(FIFO);
}

/* The text in /proc about the loop; the sum of the lines whose names begin with @field. */
static unsigned long long shown(const struct loop *loop, const char *field)
{
	return loop_shows(getpid(), loop->fd, field);
}

/* Threads, calls and hand-overs are counted, calls also for each CPU. */
static void counted(void)
{
	struct worker w[THREADS];
	unsigned int made = 0;
	struct loop loop;
	int fds[2];
	char byte;

	if (pipe(fds))
		die("pipe");
	use_cpus(1);
	create(&loop, 64);
	check(shown(&loop, "threads:") == 0 && shown(&loop, "calls") == 0,
	      "a new loop has no threads and no calls");
	start_all(w, &loop);
	while (shown(&loop, "threads:") != THREADS)
		sched_yield();
	/*
	 * The first call is made before the second one is queued if the kernel has pending work.
	 */
	while (!shown(&loop, "handovers:")) {
		submit(&loop, 1, COSY_ENTRY_THREAD, SYS_read, (uint64_t)fds[0], (uintptr_t)&byte, 1,
		       0);
		submit(&loop, 2, COSY_ENTRY_THREAD, SYS_gettid, 0, 0, 0, 0);
		check(next_of(&loop) == 2, "another thread makes the call after one that blocks");
		made += 2;
		check(shown(&loop, "calls:") == made - 1,
		      "/proc counts the calls that have been made");
		if (write(fds[1], "x", 1) != 1)
			die("write");
		check(next_of(&loop) == 1,
		      "the call that blocks completes when the pipe is written");
	}
	check(shown(&loop, "calls:") == made && shown(&loop, "calls-cpu0:") == made &&
	      shown(&loop, "calls-cpu") == made, "all calls are counted for CPU 0");
	end_all(w, THREADS);
	check(shown(&loop, "threads:") == 0, "/proc shows no thread after all have left");
	destroy(&loop);
	close(fds[0]);
	close(fds[1]);
}

static atomic_bool spinning;

static void *spin(void *arg)
{
	while (atomic_load(&spinning))
		;
	return arg;
}

/* A long call that is preempted keeps the calls after it, because it does not sleep. */
static void preempted(void)
{
	static char random[4 << 20];
	unsigned long before[THREADS];
	struct worker w[THREADS];
	unsigned int times = 0;
	pthread_t spinner;
	struct loop loop;

	use_cpus(1);
	memset(random, 1, sizeof(random));
	create(&loop, 64);
	start_all(w, &loop);
	atomic_store(&spinning, true);
	pthread_create(&spinner, NULL, spin, NULL);
	while (times < 5) {
		int first, second;

		for (int i = 0; i < THREADS; i++)
			before[i] = switches(&w[i], "nonvoluntary_ctxt_switches:");
		submit(&loop, 1, COSY_ENTRY_THREAD, SYS_getrandom, (uintptr_t)random, sizeof(random),
		       0, 0);
		submit(&loop, 2, COSY_ENTRY_THREAD, SYS_gettid, 0, 0, 0, 0);
		first = next_of(&loop);
		second = next_of(&loop);
		if (!check(first == 1 && second == 2 &&
			   entry_result(&loop, 1) == (long long)sizeof(random),
			   "the call after a preempted one is made by the same thread"))
			break;
		for (int i = 0; i < THREADS; i++)
			times += switches(&w[i], "nonvoluntary_ctxt_switches:") != before[i];
	}
	atomic_store(&spinning, false);
	pthread_join(spinner, NULL);
	end_all(w, THREADS);
	destroy(&loop);
}

/*
 * The lender of an entry changes the state of the next one when it checks again. Threads are woken
 * nevertheless.
 */
static void lies(void)
{
	struct worker w[THREADS];
	struct loop loop;

	create(&loop, 64);
	start_all(w, &loop);
	/* An entry that looks like one for a thread, but is not. */
	submit(&loop, 1, COSY_ENTRY_THREAD, SYS_gettid, 0, 0, 0, 0);
	submit(&loop, 2, COSY_ENTRY_THREAD | COSY_ENTRY_BUFFERED, SYS_gettid, 0, 0, 0, 0);
	check(next_of(&loop) == 2 && entry_result(&loop, 2) == -EINVAL && next_of(&loop) == 1,
	      "an entry with flags that contradict each other is refused");
	submit(&loop, 1, COSY_ENTRY_THREAD, SYS_gettid, 0, 0, 0, 0);
	submit_index(&loop, 1);
	submit_index(&loop, 64);
	submit_index(&loop, UINT32_MAX);
	check(next_of(&loop) == 1, "indices after the last entry are ignored");
	/* At most this number of completions, and then it leaves. */
	submit(&loop, 3, 0, SYS_getpid, 0, 0, 0, 0);
	submit(&loop, 1, COSY_ENTRY_THREAD, SYS_gettid, 0, 0, 0, 0);
	submit(&loop, 4, COSY_ENTRY_THREAD, SYS_gettid, 0, 0, 0, 0);
	submit(&loop, 5, COSY_ENTRY_THREAD | COSY_ENTRY_BUFFERED, SYS_gettid, 0, 0, 0, 0);
	submit(&loop, 6, COSY_ENTRY_THREAD, SYS_gettid, 0, 0, 0, 0);
	check(enter_loop(&loop, 2) >= 0, "a thread leaves after two completions");
	for (int n = 0; n < 5; n++)
		next_of(&loop);
	check(collect(&loop) == -1, "each entry completes once");
	end_all(w, THREADS);
	destroy(&loop);
}

/* The thread that was woken for an entry must leave. Another one makes the call. */
static void woken_and_called_away(void)
{
	struct worker w[THREADS];
	struct loop loop;
	unsigned int done = 0;

	use_cpus(1);
	create(&loop, 64);
	start_all(w, &loop);
	for (int round = 0; round < 500; round++) {
		submit_work(&loop, 1, 0, SYS_gettid, 0, 0, 0, 0);
		for (int i = 0; i < THREADS; i++)
			pthread_kill(w[i].thread, SIGUSR1);
		done += next_of(&loop) == 1;
	}
	check(done == 500, "500 calls are made, although the woken threads get signals: %u", done);
	end_all(w, THREADS);
	destroy(&loop);
}

/* The CPUs of threads change while they hand over; and the process is killed. */
static void changing(bool killed)
{
	struct worker w[THREADS];
	bool pending[64] = { 0 };
	unsigned int random = 7, n = 0;
	struct loop loop;
	int fds[2], status;
	char byte[64];
	pid_t pid = fork();

	if (pid) {
		waitpid(pid, &status, 0);
		check(killed ? WIFSIGNALED(status) : WIFEXITED(status) && !WEXITSTATUS(status),
		      "all entries complete, or the process is killed: %x", status);
		return;
	}
	if (pipe(fds))
		die("pipe");
	use_cpus(2);
	create(&loop, 64);
	start_all(w, &loop);
	for (int round = 0; round < 5000; round++) {
		uint32_t index;
		int done;

		random = random * 1103515245 + 12345;
		index = random >> 16 & 63;
		if (!pending[index]) {
			/* At most three threads block at once. */
			bool reads = random >> 22 & 1 && n < THREADS - 1;

			submit(&loop, index, COSY_ENTRY_THREAD, reads ? SYS_read : SYS_fsync,
			       (uint64_t)fds[0], (uintptr_t)&byte[index], 1, 0);
			loop.entries[index].user_data = reads;
			n += reads;
			pending[index] = true;
		}
		if (!(random >> 23 & 7))
			use_cpus(1 + (random >> 26 & 1));
		if (!(random >> 27 & 7)) {
			cpu_set_t set;

			CPU_ZERO(&set);
			CPU_SET(random >> 30 & 1, &set);
			pthread_setaffinity_np(w[index % THREADS].thread, sizeof(set), &set);
		}
		if (killed && round == 4000)
			kill(getpid(), SIGKILL);
		if (n == THREADS - 1 && write(fds[1], "abc", n) == (ssize_t)n)
			n = 0;
		execute(&loop);
		while ((done = collect(&loop)) >= 0)
			pending[done] = false;
	}
	if (write(fds[1], "abc", n) != (ssize_t)n)
		die("write");
	for (int i = 0; i < 64; i++)
		while (pending[i])
			pending[next_of(&loop)] = false;
	end_all(w, THREADS);
	destroy(&loop);
	_exit(0);
}

static void on_signal(int sig)
{
	(void)sig;
}

int main(void)
{
	struct sigaction act = { .sa_handler = on_signal };

	sigaction(SIGUSR1, &act, NULL);
	device = open_device();
	few_are_woken(1);
	few_are_woken(2);
	blocked();
	counted();
	preempted();
	lies();
	woken_and_called_away();
	changing(false);
	changing(true);
	unlink(LOCKED);
	return finish();
}
