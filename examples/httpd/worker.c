// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * worker.c - a process that serves connections.
 */
#include "worker.h"

#include <errno.h>
#include <error.h>
#include <grp.h>
#include <pwd.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "accept.h"
#include "config.h"
#include "connection.h"
#include "deadline.h"
#include "file.h"
#include "log.h"
#include "reply.h"

#define STUCK 10 /* Seconds until a worker that does not get on is reported. */

struct worker worker;

static struct cosy_async tick, stop_signal;
static sigset_t stop_signals;
static uint32_t drain_since;

static void read_clock(void)
{
	struct timespec now;
	time_t date = time(NULL);

	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	worker.now = (uint32_t)now.tv_sec;
	reply_date(date);
	log_time(date);
}

/* A callback does not return. Others have to wait, and only a handler of a signal can tell. */
static void stuck(int signal)
{
	connections_report();
	(void)signal;
}

/* A worker without connections sleeps. */
static void start_tick(void)
{
	static const struct timespec second = { .tv_sec = 1 };

	if (!cosy_async_pending(&tick)) {
		alarm(STUCK);
		read_clock();
		cosy_async_timer(worker.loop, &tick, &second, 0);
	}
}

static void ticked(struct cosy_async *op)
{
	const uint32_t before = worker.now;

	if (op->result == -ECANCELED)
		return;
	read_clock();
	accept_shed(worker.now - before);
	log_flush();
	connections_expire();
	if (worker.draining && worker.now - drain_since > config.drain_timeout)
		cosy_loop_stop(worker.loop);
	else if (worker.connections)
		start_tick();
	else
		alarm(0);
}

void worker_end_if_idle(void)
{
	if (worker.draining && !worker.connections && !accept_pending())
		cosy_loop_stop(worker.loop);
}

bool worker_connected(void)
{
	const bool allowed = worker.connections < config.connections;

	/* While draining, connections that have been accepted are started. */
	if (allowed || worker.draining) {
		worker.connections++;
		start_tick();
	}
	return allowed;
}

void worker_disconnected(void)
{
	worker.connections--;
	accept_continue();
	worker_end_if_idle();
}

/* The first signal lets requests be answered, the second one does not. */
static void stopped(struct cosy_async *op)
{
	if (op->result < 0)
		return;
	if (worker.draining) {
		cosy_loop_stop(worker.loop);
		return;
	}
	worker.draining = true;
	read_clock();
	drain_since = worker.now;
	accept_stop();
	connections_drain();
	start_tick();
	worker_end_if_idle();
	cosy_async_signal(worker.loop, &stop_signal, &stop_signals, NULL);
}

/*
 * A region and a loop use /dev/cosy, which the root directory does not contain. libcosy opens it
 * when it is used for the first time, so it is used before.
 */
static void use_module(void)
{
	struct cosy_async op = { .done = NULL };
	struct file file;

	file_load("", NULL, 0, &file);
	if (!cosy_async_getppid(worker.loop, &op))
		cosy_wait_for(worker.loop, &op, NULL);
}

static void enter_root(const struct worker_files *files)
{
	const struct passwd *user = config.user ? getpwnam(config.user) : NULL;

	if (config.user && !user)
		error(1, 0, "there is no user %s", config.user);
	/* Reads files, and loads libraries, by their names: not those of the directory that is served. */
	if (user && initgroups(user->pw_name, user->pw_gid))
		error(1, errno, "cannot enter the groups of user %s", config.user);
	if (fchdir(files->root))
		error(1, errno, "cannot enter %s", config.root);
	use_module();
	file_set_root(config.chroot ? -1 : files->root);
	if (config.chroot && chroot("."))
		error(1, errno, "cannot make %s the root directory (--no-chroot)", config.root);
	if (user && (setgid(user->pw_gid) || setuid(user->pw_uid)))
		error(1, errno, "cannot become user %s", config.user);
	if (user && user->pw_uid && (!setuid(0) || !seteuid(0)))
		error(1, 0, "the rights of root cannot be dropped");
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

static void start(const struct worker_files *files)
{
	const struct cosy_loop_options options = {
		.size = sizeof(options),
		/* A connection's operation; accepts, and connections that they make at the end; the tick and the signal. */
		.entries = config.connections + 2 * CONFIG_LISTEN_MAX * ACCEPT_OPERATIONS + 2,
	};
	const struct sigaction report = { .sa_handler = stuck, .sa_flags = SA_RESTART };
	struct rlimit limit;
	int err;

	signal(SIGPIPE, SIG_IGN);
	sigaction(SIGALRM, &report, NULL);
	if (!getrlimit(RLIMIT_NOFILE, &limit)) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
	deadline_init();
	err = cosy_loop_create(&worker.loop, &options);
	if (!err)
		err = connections_init();
	if (err)
		error(1, -err, "cannot begin");
	enter_root(files);
	log_to(files->log);
	read_clock();
	tick.done = ticked;
	stop_signal.done = stopped;
	sigemptyset(&stop_signals);
	sigaddset(&stop_signals, SIGTERM);
	sigaddset(&stop_signals, SIGINT);
	err = cosy_async_signal(worker.loop, &stop_signal, &stop_signals, NULL);
	if (err)
		error(1, -err, "cannot wait for signals");
	accept_start(files->listeners, files->count);
}

void worker_run(const struct worker_files *files)
{
	const pid_t parent = getppid(), self = getpid();

	start(files);
	/* If the parent has ended before the call, no signal comes. */
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		exit(1);
	if (write(files->ready, &self, sizeof(self)) != sizeof(self))
		exit(1);
	close(files->ready);
	cosy_loop_run(worker.loop);
	while (cosy_loop_destroy(worker.loop) == -EBUSY)
		cosy_wait(worker.loop, 1, NULL);
	log_flush();
	exit(0);
}
