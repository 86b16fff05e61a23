// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * master.c - start workers, and replace them. It keeps the sockets and the rights of the user who has
 * started it, and reads nothing that a client sends.
 */
#include "master.h"

#include <errno.h>
#include <error.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "config.h"
#include "listen.h"
#include "mime.h"
#include "worker.h"

#define OLD_SERVER "COSY_HTTPD_OLD" /* Variable: the server that this one replaces. */

/*
 * struct child - a worker
 * @generation: those of the last generation are to run; others drain
 * @started:    when it was started
 * @serves:     it has said that it serves
 */
struct child {
	struct child *next;
	pid_t pid;
	unsigned int generation;
	time_t started;
	bool serves;
};

static struct child *children;
static unsigned int generation;
static int listeners[CONFIG_LISTEN_MAX];
static struct worker_files files = { .listeners = listeners, .root = -1, .log = -1 };
static sigset_t signals;
static char self[PATH_MAX];
static pid_t successor;
static bool stopping;

static bool start_child(const int ready[2])
{
	struct child *child = malloc(sizeof(*child));

	if (!child)
		return false;
	child->pid = fork();
	if (child->pid == 0) {
		close(ready[0]);
		files.ready = ready[1];
		worker_run(&files);
	}
	if (child->pid < 0) {
		free(child);
		return false;
	}
	child->generation = generation;
	child->serves = false;
	child->started = time(NULL);
	child->next = children;
	children = child;
	return true;
}

static void signal_generations(unsigned int last, int signal)
{
	for (const struct child *child = children; child; child = child->next)
		if (child->generation <= last)
			kill(child->pid, signal);
}

static time_t seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec;
}

/* Wait until a worker says that it serves. Return false if all others have ended, or the time is over. */
static bool one_serves(int ready, time_t end)
{
	struct pollfd pollfd = { .fd = ready, .events = POLLIN };
	const time_t left = end - seconds();
	pid_t pid;

	if (poll(&pollfd, 1, left > 0 ? (int)left * 1000 : 0) <= 0 ||
	    read(ready, &pid, sizeof(pid)) != sizeof(pid))
		return false;
	for (struct child *child = children; child; child = child->next)
		if (child->pid == pid)
			child->serves = true;
	return true;
}

/*
 * Start @count workers. Return true if all of them serve. Those that do not within the time are killed: they read
 * no signal yet, and this process must be able to wait for its workers.
 */
static bool start_children(unsigned int count)
{
	const time_t end = seconds() + config.start_timeout;
	unsigned int serving = 0;
	int ready[2];

	if (pipe2(ready, O_CLOEXEC))
		return false;
	for (unsigned int i = 0; i < count; i++)
		if (!start_child(ready))
			error(0, errno, "cannot start a worker");
	close(ready[1]);
	/* The end comes when all have written, or ended. */
	while (serving < count && one_serves(ready[0], end))
		serving++;
	close(ready[0]);
	for (const struct child *child = children; child; child = child->next)
		if (!child->serves)
			kill(child->pid, SIGKILL);
	return serving == count;
}

/* Replace a descriptor. Return false, after a message, if the new one is not valid. */
static bool replace(int *fd, const char *name, int flags)
{
	/* Do not wait for the reader of a FIFO. Later, writes wait for it. */
	int new = open(name, flags | O_CLOEXEC | O_NONBLOCK, 0640);

	if (new < 0) {
		error(0, errno, "cannot open %s", name);
		return false;
	}
	fcntl(new, F_SETFL, flags & O_APPEND);
	if (*fd >= 0)
		close(*fd);
	*fd = new;
	return true;
}

static bool open_files(void)
{
	return replace(&files.root, config.root, O_PATH | O_DIRECTORY) &&
	       (!config.log || replace(&files.log, config.log, O_WRONLY | O_APPEND | O_CREAT)) &&
	       mime_load(config.types);
}

/* Start workers with the files that the names now refer to. The old ones end after their requests. */
static void reload(void)
{
	if (stopping || !open_files())
		return;
	generation++;
	if (start_children(config.workers)) {
		signal_generations(generation - 1, SIGTERM);
		return;
	}
	error(0, 0, "the new workers do not serve; the old ones continue");
	for (struct child *child = children; child; child = child->next) {
		if (child->generation == generation)
			kill(child->pid, SIGTERM);
		else if (child->generation == generation - 1)
			child->generation = generation + 1;
	}
	generation++;
}

/* Start the program that now has this one's name. It ends this server once it serves. */
static void upgrade(char **argv)
{
	char text[16];

	if (stopping || successor)
		return;
	successor = fork();
	if (successor < 0) {
		error(0, errno, "cannot start the new server");
		successor = 0;
	} else if (successor == 0) {
		snprintf(text, sizeof(text), "%d", getppid());
		setenv(OLD_SERVER, text, 1);
		listen_hand_on(listeners, files.count);
		execv(self, argv);
		error(126, errno, "cannot execute %s", self);
	}
}

static void end_old_server(void)
{
	const char *old = getenv(OLD_SERVER);

	if (old && strtol(old, NULL, 10) == getppid())
		kill(getppid(), SIGTERM);
	unsetenv(OLD_SERVER);
}

static void stop(void)
{
	signal_generations(generation, stopping ? SIGKILL : SIGTERM);
	stopping = true;
}

static void child_ended(const struct child *child, int status)
{
	static const struct timespec second = { .tv_sec = 1 };

	if (stopping || child->generation != generation)
		return;
	if (WIFSIGNALED(status))
		error(0, 0, "worker %d was ended by signal %d", child->pid, WTERMSIG(status));
	else
		error(0, 0, "worker %d has ended with status %d", child->pid, WEXITSTATUS(status));
	/* A worker that ends at once must not keep this process busy. */
	if (time(NULL) - child->started <= 1)
		nanosleep(&second, NULL);
	start_children(1);
}

static void reap(void)
{
	struct child **at, *child;
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		if (pid == successor) {
			error(0, 0, "the new server has ended; this one continues");
			successor = 0;
			continue;
		}
		for (at = &children; *at && (*at)->pid != pid; at = &(*at)->next)
			;
		child = *at;
		if (!child)
			continue;
		*at = child->next;
		child_ended(child, status);
		free(child);
	}
}

static void block_signals(void)
{
	static const int numbers[] = { SIGCHLD, SIGHUP, SIGINT, SIGTERM, SIGUSR2 };

	sigemptyset(&signals);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		sigaddset(&signals, numbers[i]);
	sigprocmask(SIG_BLOCK, &signals, NULL);
}

int master_run(char **argv)
{
	if (readlink("/proc/self/exe", self, sizeof(self) - 1) < 0)
		error(1, errno, "cannot read /proc/self/exe, which names this program");
	block_signals();
	if (!open_files())
		return 1;
	files.count = listen_open(listeners);
	if (!start_children(config.workers)) {
		stopping = true;
		signal_generations(generation, SIGTERM);
		return 1;
	}
	listen_print(listeners, files.count);
	end_old_server();
	while (!stopping || children) {
		switch (sigwaitinfo(&signals, NULL)) {
		case SIGCHLD:
			reap();
			break;
		case SIGHUP:
			reload();
			break;
		case SIGUSR2:
			upgrade(argv);
			break;
		case SIGINT:
		case SIGTERM:
			stop();
			break;
		}
	}
	if (!successor)
		listen_remove();
	return 0;
}
