/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A team with fewer workers than before sleeps until there is work, as one that always had so few; so does its
 * watchdog. A worker that is to retire ends with its last operation, also if that has no callback, and a thread
 * that waits for the team learns of it.
 */
// RUN: %compile
// RUN: %everywhere
#include <dirent.h>
#include <sys/eventfd.h>

#include "asleep.h"
#include "team.h"

#define WORKERS 4

static struct cosy_team *team;
static pid_t last;
static atomic_bool armed;
static int event;
static uint64_t value;

/* Return the number of threads for which @is is true; of all, if it is NULL. */
static unsigned int count_threads(bool (*is)(pid_t thread))
{
	DIR *dir = opendir("/proc/self/task");
	const struct dirent *entry;
	unsigned int n = 0;

	CHECK(dir != NULL);
	while ((entry = readdir(dir)))
		n += entry->d_name[0] != '.' && (!is || is(atoi(entry->d_name)));
	closedir(dir);
	return n;
}

/* Return true if a thread sleeps for a futex, without a time limit that is a second or less. */
static bool sleeps_for_long(pid_t thread)
{
	unsigned long word, operation, number, timeout;
	char text[256];

	read_of_thread(thread, "syscall", text, sizeof(text));
	return sscanf(text, "202 %lx %lx %lx %lx", &word, &operation, &number, &timeout) == 4 &&
	       (!timeout || ((const struct timespec *)timeout)->tv_sec > 1) && is_asleep(thread);
}

static void await_threads(bool (*is)(pid_t thread), unsigned int n)
{
	while (count_threads(is) != n)
		usleep(1000);
}

static void nothing(void *arg)
{
	(void)arg;
}

static void run_some(void)
{
	for (uint64_t i = 0; i < 100; i++)
		EQUAL(cosy_team_call(team, i, nothing, NULL), 0);
	EQUAL(cosy_team_wait(team, NULL), 0);
}

static void stuck(struct cosy_team *which, const struct cosy_team_stuck *what, void *data)
{
	(void)which;
	(void)what;
	(void)data;
}

/* On the last worker: wait for an event, without a callback. Others wait for that worker. */
static void arm(void *arg)
{
	if (gettid() == last && !armed) {
		EQUAL(cosy_async_read(cosy_team_loop(), NULL, event, &value, sizeof(value)), 0);
		armed = true;
	}
	while (!armed)
		usleep(1000);
	(void)arg;
}

static bool is_last(pid_t thread)
{
	return thread == last && is_asleep(thread);
}

static bool is_later(pid_t thread)
{
	const bool later = thread > last;

	if (later)
		last = thread;
	return later;
}

static bool is_main(pid_t thread)
{
	return thread == getpid() && is_asleep(thread);
}

static void *make_event(void *arg)
{
	await_threads(is_main, 1);
	EQUAL(write(event, &(uint64_t){ 1 }, sizeof(uint64_t)), sizeof(uint64_t));
	return arg;
}

static void retire_with_operation(void)
{
	pthread_t thread;

	event = eventfd(0, EFD_CLOEXEC);
	CHECK(event >= 0);
	team = make_team(2);
	await_threads(NULL, 3);
	count_threads(is_later);
	for (uint64_t i = 0; !armed; i++) {
		EQUAL(cosy_team_call(team, i, arm, NULL), 0);
		usleep(1000);
	}
	EQUAL(cosy_team_resize(team, 1), 0);
	/* It has seen that, and waits for its operation. */
	usleep(100000);
	await_threads(is_last, 1);
	EQUAL(pthread_create(&thread, NULL, make_event, NULL), 0);
	EQUAL(cosy_team_wait(team, NULL), 0);
	EQUAL(pthread_join(thread, NULL), 0);
	await_threads(NULL, 2);
	EQUAL(cosy_team_destroy(team), 0);
	close(event);
}

int main(void)
{
	const struct cosy_team_options options = {
		.size = sizeof(options), .workers = WORKERS, .stuck_ms = UINT32_MAX, .stuck = stuck,
	};

	alarm(600);
	EQUAL(cosy_team_create(&team, &options), 0);
	run_some();
	await_threads(sleeps_for_long, WORKERS + 1);
	EQUAL(cosy_team_resize(team, 2), 0);
	await_threads(NULL, 4);
	run_some();
	await_threads(sleeps_for_long, 2 + 1);
	EQUAL(cosy_team_resize(team, WORKERS), 0);
	run_some();
	await_threads(sleeps_for_long, WORKERS + 1);
	EQUAL(cosy_team_destroy(team), 0);
	retire_with_operation();
	return 0;
}
