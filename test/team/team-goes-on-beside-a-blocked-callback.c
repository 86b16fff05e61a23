/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A team goes on if a callback blocks, if it has fewer CPUs than workers, and if it is resized meanwhile.
 * A crash in a callback ends the process, as in any thread, and so does a callback that ends its thread.
 */
// RUN: %compile
// RUN: %everywhere
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include "team.h"

#define STUCK	42

static struct cosy_team *team;

static struct cosy_team *pinned_team(uint32_t workers)
{
	const struct cosy_team_options options = { .size = sizeof(options), .workers = workers,
						   .flags = COSY_TEAM_PIN };
	struct cosy_team *new;

	EQUAL(cosy_team_create(&new, &options), 0);
	return new;
}

/*
 * Work: chains of callbacks and of operations.
 */

enum { CHAINS = 20, LENGTH = 100 };

static struct chain {
	struct cosy_coloured receive;
	int fds[2];
	unsigned int left;
	char byte;
} chains[CHAINS];

static atomic_uint ended;

static void received(struct cosy_coloured *op);

static void go_on(void *arg)
{
	struct chain *c = arg;

	if (!--c->left) {
		close(c->fds[0]);
		close(c->fds[1]);
		ended++;
		return;
	}
	if (c->left % 2) {
		EQUAL(cosy_team_call(team, (uintptr_t)c, go_on, c), 0);
		return;
	}
	EQUAL(cosy_async_recv(cosy_team_loop(), cosy_colour(&c->receive, (uintptr_t)c, received),
			      c->fds[0], &c->byte, 1, 0), 0);
	EQUAL(write(c->fds[1], "x", 1), 1);
}

static void received(struct cosy_coloured *op)
{
	EQUAL(op->op.result, 1);
	go_on(op->op.data);
}

static void start_chains(void)
{
	ended = 0;
	for (int i = 0; i < CHAINS; i++) {
		EQUAL(socketpair(AF_UNIX, SOCK_STREAM, 0, chains[i].fds), 0);
		chains[i].receive.op.data = &chains[i];
		chains[i].left = LENGTH;
		EQUAL(cosy_team_call(team, (uintptr_t)&chains[i], go_on, &chains[i]), 0);
	}
}

static void run_chains(void)
{
	start_chains();
	EQUAL(cosy_team_wait(team, NULL), 0);
	EQUAL(ended, CHAINS);
}

/*
 * A callback that blocks.
 */

static atomic_uint others, successors;

static void count(void *counter)
{
	++*(atomic_uint *)counter;
}

/* Queues work on its worker, and then blocks. */
static void block(void *gate)
{
	for (uint64_t i = 0; i < 200; i++)
		EQUAL(cosy_team_call(team, 1000 + i, count, &others), 0);
	EQUAL(cosy_team_call(team, STUCK, count, &successors), 0);
	pass_gate(gate);
}

/* Others take what its worker has queued, but not the next callback of its colour. */
static void blocked(void)
{
	struct gate gate = GATE;

	team = make_team(3);
	others = successors = 0;
	EQUAL(cosy_team_call(team, STUCK, block, &gate), 0);
	await_count(&others, 200);
	EQUAL(successors, 0);
	open_gate(&gate);
	EQUAL(cosy_team_wait(team, NULL), 0);
	EQUAL(successors, 1);
	EQUAL(cosy_team_destroy(team), 0);
}

/* Workers that block retire when they can. Until then, there are more than the team was resized to. */
static void resized(void)
{
	struct gate gate = GATE;

	team = make_team(4);
	others = successors = 0;
	for (uint64_t i = 0; i < 3; i++)
		EQUAL(cosy_team_call(team, i, pass_gate, &gate), 0);
	await_at_gate(&gate, 3);
	EQUAL(cosy_team_resize(team, 1), 0);
	EQUAL(cosy_team_resize(team, 6), 0);
	start_chains();
	await_count(&ended, CHAINS);
	EQUAL(cosy_team_resize(team, 1), 0);
	open_gate(&gate);
	EQUAL(cosy_team_wait(team, NULL), 0);
	run_chains();
	EQUAL(cosy_team_destroy(team), 0);
}

/*
 * Few CPUs.
 */

/* Let all threads run on one CPU, as an administrator does with a cpuset. */
static void take_cpus_away(const cpu_set_t *one)
{
	DIR *dir = opendir("/proc/self/task");
	struct dirent *entry;

	CHECK(dir);
	while ((entry = readdir(dir))) {
		pid_t thread = atoi(entry->d_name);

		/* It may have ended. */
		if (thread && sched_setaffinity(thread, sizeof(*one), one))
			EQUAL(errno, ESRCH);
	}
	closedir(dir);
}

/* More workers than CPUs, from the beginning and later. */
static void few_cpus(void)
{
	cpu_set_t all, one;
	int cpu = sched_getcpu();

	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	EQUAL(sched_getaffinity(0, sizeof(all), &all), 0);
	for (int pins = 0; pins < 2; pins++) {
		EQUAL(sched_setaffinity(0, sizeof(one), &one), 0);
		team = pins ? pinned_team(4) : make_team(4);
		run_chains();
		EQUAL(cosy_team_destroy(team), 0);
		EQUAL(sched_setaffinity(0, sizeof(all), &all), 0);

		team = pins ? pinned_team(0) : make_team(0);
		start_chains();
		take_cpus_away(&one);
		EQUAL(cosy_team_wait(team, NULL), 0);
		EQUAL(ended, CHAINS);
		/* As many as the caller may use now. */
		EQUAL(cosy_team_resize(team, 0), 0);
		EQUAL(info_of(team).workers, 1);
		run_chains();
		EQUAL(cosy_team_destroy(team), 0);
		EQUAL(sched_setaffinity(0, sizeof(all), &all), 0);
	}
}

/*
 * A crash, or the end of a worker's thread.
 */

static void crash(void *arg)
{
	*(volatile int *)arg = 1;
}

static void end_thread(void *arg)
{
	pthread_exit(arg);
}

static void end_by(void (*callback)(void *arg), int signal_number)
{
	const struct rlimit none = { 0 };
	int status;
	pid_t pid = fork();

	if (!pid) {
		EQUAL(setrlimit(RLIMIT_CORE, &none), 0);
		signal(signal_number, SIG_DFL);
		team = make_team(2);
		EQUAL(cosy_team_call(team, 1, callback, NULL), 0);
		cosy_team_wait(team, NULL);
		_exit(0);
	}
	EQUAL(waitpid(pid, &status, 0), pid);
	EQUAL(WIFSIGNALED(status), 1);
	EQUAL(WTERMSIG(status), signal_number);
}

/* While a CPU is removed and added: workers that are bound to it, and teams that are created. */
static void without_a_cpu(void)
{
	for (int i = 0; i < 30; i++) {
		team = pinned_team(2);
		for (int round = 0; round < 20; round++)
			run_chains();
		EQUAL(cosy_team_destroy(team), 0);
	}
}

int main(int argc, char **argv)
{
	(void)argv;
	/* A kernel with checkers, in emulation on a busy machine, takes minutes to remove CPUs. */
	alarm(argc > 1 ? 2700 : 600);
	if (argc > 1) {
		without_a_cpu();
		return 0;
	}
	blocked();
	resized();
	few_cpus();
	end_by(crash, SIGSEGV);
	end_by(end_thread, SIGABRT);
	return 0;
}
