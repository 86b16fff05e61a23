// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * cosy-vm-exec: run a command in the VM that `./cosy vm --start` has started. It behaves as if
 * the command ran on the host: same directory, standard input, output and error, and exit status
 * (128 + n if signal n ended it). The command is killed if this process ends.
 *
 * It is a small C program because tests run it thousands of times.
 */

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "protocol.h"

#define ANSWER_SECONDS	20	/* an agent on a busy host answers much sooner */
#define START_TRIES	3
#define REPORT_SECONDS	60	/* for the report of what the VM's programs are doing */

static const char usage_text[] =
"usage: vm-exec [OPTION...] [--] COMMAND [ARGUMENT...]\n"
"Run COMMAND in the VM that `./cosy vm --start` has started.\n"
"\n"
"  -t, --tty            give it a terminal\n"
"  -T, --timeout=SEC    kill it after SEC seconds, print what the VM's programs were doing,\n"
"                       and exit with status 124\n"
"  -C, --directory=DIR  run it in DIR instead of the current directory\n"
"  -e, --env=NAME       pass this environment variable too (COSY_*, LC_* and what every\n"
"                       program needs are always passed)\n"
"      --vm=DIR         the VM's run directory (default: $COSY_VM_DIR, or build/vm/main)\n"
"      --wait=SEC       wait up to SEC seconds until the VM answers\n"
"      --poweroff       write everything back and switch the VM off\n"
"\n"
"Exit status: COMMAND's own; 128 + n if signal n ended it; 97 if the VM died meanwhile;\n"
"98 if there is no VM.\n";

static struct {
	const char *vm_dir;
	const char *directory;
	double timeout;
	double wait;
	bool tty;
	bool poweroff;
	const char *extra_env[64];
	int extra_envc;
} options;

static struct termios saved_termios;
static volatile sig_atomic_t resized;

static void __attribute__((noreturn, format(printf, 2, 3)))
die(int status, const char *format, ...)
{
	va_list ap;

	fprintf(stderr, "vm-exec: ");
	va_start(ap, format);
	vfprintf(stderr, format, ap);
	va_end(ap);
	fputc('\n', stderr);
	exit(status);
}

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec * 1e-9;
}

static void write_all(int fd, const char *data, size_t length)
{
	while (length > 0) {
		ssize_t n = write(fd, data, length);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN) {
			struct pollfd wait = { .fd = fd, .events = POLLOUT };

			poll(&wait, 1, -1);
			continue;
		}
		if (n < 0)
			die(1, "cannot write the command's output: %s", strerror(errno));
		data += n;
		length -= n;
	}
}

/* --- the VM's ports --------------------------------------------------------------- */

static const char *vm_directory(void)
{
	static char path[PATH_MAX];
	const char *dir = getenv("COSY_VM_DIR");
	ssize_t n;

	if (dir && *dir)
		return dir;
	/* This program is build/bin/cosy-vm-exec. */
	n = readlink("/proc/self/exe", path, sizeof(path) - 32);
	if (n < 0)
		return "build/vm/main";
	path[n] = '\0';
	for (int up = 0; up < 2; up++) {
		char *slash = strrchr(path, '/');

		if (slash)
			*slash = '\0';
	}
	return strcat(path, "/vm/main");
}

/*
 * Take a free port, or wait for one. The lock is released when this process ends for any reason.
 */
static int lock_port(void)
{
	for (int number = 0;; number = (number + 1) % VM_PORTS) {
		char path[PATH_MAX];
		int fd;

		snprintf(path, sizeof(path), "%s/port.%d.lock", options.vm_dir, number);
		fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
		if (fd < 0)
			die(VM_STATUS_NO_VM, "no VM is running (%s: %s)\n  HINT: start one with `./cosy vm --start`",
			    path, strerror(errno));
		if (flock(fd, LOCK_EX | LOCK_NB) == 0)
			return number;
		close(fd);
		/* No call waits for any of several locks. */
		if (number == VM_PORTS - 1)
			usleep(50 * 1000);
	}
}

static int connect_port(int number)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int dir;

	if (fd < 0)
		die(VM_STATUS_NO_VM, "socket: %s", strerror(errno));
	/* Through /proc, because a socket's path is limited to 107 bytes. */
	dir = open(options.vm_dir, O_PATH | O_CLOEXEC);
	snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d/port.%d", dir, number);
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) != 0)
		die(VM_STATUS_NO_VM, "no VM is running (%s/port.%d: %s)\n  HINT: start one with `./cosy vm --start`",
		    options.vm_dir, number, strerror(errno));
	close(dir);
	fcntl(fd, F_SETFL, O_NONBLOCK);
	return fd;
}

/* The VM has ended: print the last messages of its kernel. */
static void __attribute__((noreturn)) vm_died(void)
{
	char path[PATH_MAX], text[4096];
	const char *start = text;
	ssize_t n = -1;
	int fd;

	snprintf(path, sizeof(path), "%s/console.log", options.vm_dir);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		lseek(fd, -(off_t)(sizeof(text) - 1), SEEK_END);
		n = read(fd, text, sizeof(text) - 1);
	}
	text[n > 0 ? n : 0] = '\0';
	if (n == sizeof(text) - 1 && strchr(text, '\n'))
		start = strchr(text, '\n') + 1;
	die(VM_STATUS_KERNEL, "the VM died; the end of %s:\n%s", path, start);
}

/* --- the request ------------------------------------------------------------------ */

struct buffer {
	char *data;
	size_t start, end, size;
};

static void append(struct buffer *b, const void *data, size_t length)
{
	if (b->end + length > b->size) {
		b->size = (b->end + length) * 2;
		b->data = realloc(b->data, b->size);
		if (!b->data)
			die(1, "out of memory");
	}
	memcpy(b->data + b->end, data, length);
	b->end += length;
}

static void append_string(struct buffer *b, const char *string)
{
	append(b, string, strlen(string) + 1);
}

static void append_frame(struct buffer *b, uint64_t session, uint32_t type, const void *data, uint32_t length)
{
	struct vm_frame frame = { VM_MAGIC, session, type, length };

	append(b, &frame, sizeof(frame));
	append(b, data, length);
}

/* Return true for variables of the user, false for those of this machine. */
static bool passes_to_vm(const char *assignment)
{
	static const char *const names[] = {
		"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TERM", "TZ",
		"COLUMNS", "LINES", "LD_LIBRARY_PATH", "LD_PRELOAD", "ASAN_OPTIONS",
		"UBSAN_OPTIONS", "TSAN_OPTIONS",
	};
	size_t length = strcspn(assignment, "=");

	if (strncmp(assignment, "COSY_", 5) == 0 || strncmp(assignment, "LC_", 3) == 0)
		return true;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strlen(names[i]) == length && strncmp(assignment, names[i], length) == 0)
			return true;
	for (int i = 0; i < options.extra_envc; i++)
		if (strlen(options.extra_env[i]) == length &&
		    strncmp(assignment, options.extra_env[i], length) == 0)
			return true;
	return false;
}

static struct vm_winsize window_size(void)
{
	struct winsize size = { .ws_row = 24, .ws_col = 80 };

	ioctl(STDIN_FILENO, TIOCGWINSZ, &size);
	return (struct vm_winsize){ size.ws_row, size.ws_col };
}

static void append_run_frame(struct buffer *out, uint64_t session, char **argv)
{
	struct vm_run run = {
		.flags = options.tty ? VM_RUN_TTY : 0,
		.winsize = window_size(),
		.envc = 1,
	};
	struct buffer strings = { 0 }, frame = { 0 };
	char cwd[PATH_MAX];

	if (!options.directory && !getcwd(cwd, sizeof(cwd)))
		die(VM_STATUS_NO_VM, "the current directory: %s", strerror(errno));
	append_string(&strings, options.directory ? options.directory : cwd);
	for (; argv[run.argc]; run.argc++)
		append_string(&strings, argv[run.argc]);
	append_string(&strings, "COSY_IN_VM=1");
	for (char **e = environ; *e; e++) {
		if (passes_to_vm(*e)) {
			append_string(&strings, *e);
			run.envc++;
		}
	}
	append(&frame, &run, sizeof(run));
	append(&frame, strings.data, strings.end);
	if (frame.end > VM_RUN_MAX)
		die(126, "the command line is too long (%zu bytes, at most %d)", frame.end, VM_RUN_MAX);
	append_frame(out, session, VM_RUN, frame.data, frame.end);
	free(strings.data);
	free(frame.data);
}

/* --- the terminal ----------------------------------------------------------------- */

static void restore_terminal(void)
{
	tcsetattr(STDIN_FILENO, TCSADRAIN, &saved_termios);
}

static void on_resize(int signal)
{
	(void)signal;
	resized = 1;
}

static void on_fatal_signal(int signal)
{
	restore_terminal();
	_exit(128 + signal);
}

static void make_terminal_raw(void)
{
	static const int fatal[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
	struct sigaction action = { .sa_handler = on_resize };
	struct termios raw;

	if (tcgetattr(STDIN_FILENO, &saved_termios) != 0)
		die(VM_STATUS_NO_VM, "--tty needs a terminal as standard input");
	atexit(restore_terminal);
	for (size_t i = 0; i < sizeof(fatal) / sizeof(fatal[0]); i++)
		signal(fatal[i], on_fatal_signal);
	sigaction(SIGWINCH, &action, NULL);
	raw = saved_termios;
	cfmakeraw(&raw);
	tcsetattr(STDIN_FILENO, TCSADRAIN, &raw);
}

/* --- the session ------------------------------------------------------------------ */

struct session {
	int fd;
	uint64_t number;
	struct buffer in, out;
	bool started, ended;
	bool input_wanted, input_ended;
	uint32_t status;
};

static void handle_frame(struct session *s, const struct vm_frame *frame, const char *data)
{
	switch (frame->type) {
	case VM_STARTED:
		s->started = true;
		break;
	case VM_WANT_STDIN:
		s->input_wanted = true;
		break;
	case VM_STDOUT:
		write_all(STDOUT_FILENO, data, frame->length);
		break;
	case VM_STDERR:
		write_all(STDERR_FILENO, data, frame->length);
		break;
	case VM_EXIT:
		if (frame->length == sizeof(s->status))
			memcpy(&s->status, data, sizeof(s->status));
		s->ended = true;
		break;
	}
}

static void handle_frames(struct session *s)
{
	struct buffer *in = &s->in;
	struct vm_frame frame;

	while (in->end - in->start >= sizeof(frame)) {
		memcpy(&frame, in->data + in->start, sizeof(frame));
		/* Skip frames for an earlier client. */
		if (frame.magic != VM_MAGIC || frame.session != s->number || frame.length > VM_CHUNK) {
			in->start++;
			continue;
		}
		if (in->end - in->start < sizeof(frame) + frame.length)
			break;
		handle_frame(s, &frame, in->data + in->start + sizeof(frame));
		in->start += sizeof(frame) + frame.length;
	}
	memmove(in->data, in->data + in->start, in->end - in->start);
	in->end -= in->start;
	in->start = 0;
}

static void receive(struct session *s)
{
	char data[VM_CHUNK];
	ssize_t n = read(s->fd, data, sizeof(data));

	if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) {
		if (options.poweroff)
			exit(0);
		vm_died();
	}
	if (n > 0)
		append(&s->in, data, n);
	handle_frames(s);
}

static void send_out(struct session *s)
{
	ssize_t n = send(s->fd, s->out.data + s->out.start, s->out.end - s->out.start, MSG_NOSIGNAL);

	if (n > 0)
		s->out.start += n;
	if (s->out.start == s->out.end)
		s->out.start = s->out.end = 0;
}

static void forward_input(struct session *s)
{
	char data[VM_CHUNK];
	ssize_t n = read(STDIN_FILENO, data, sizeof(data));

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (n <= 0) {
		s->input_ended = true;
		n = 0;
	}
	append_frame(&s->out, s->number, VM_STDIN, data, n);
	s->input_wanted = false;
}

/* Poll timeout for a deadline, rounded up. */
static int milliseconds_until(double deadline)
{
	double left = deadline - now();

	return left <= 0 ? 0 : left > 3600 ? 3600 * 1000 : (int)(left * 1000) + 1;
}

/* Serve the session until it ends, or until `deadline`. Return true if it ended. */
static bool serve(struct session *s, double deadline, bool until_started)
{
	while (!s->ended && !(until_started && s->started)) {
		struct pollfd fds[2] = {
			{ .fd = s->fd, .events = POLLIN },
			{ .fd = -1, .events = POLLIN },
		};

		if (s->out.start < s->out.end)
			fds[0].events |= POLLOUT;
		else if (s->input_wanted && !s->input_ended)
			fds[1].fd = STDIN_FILENO;
		if (now() >= deadline)
			return false;
		if (poll(fds, 2, milliseconds_until(deadline)) < 0 && errno != EINTR)
			die(VM_STATUS_NO_VM, "poll: %s", strerror(errno));
		if (resized) {
			struct vm_winsize size = window_size();

			resized = 0;
			append_frame(&s->out, s->number, VM_WINSIZE, &size, sizeof(size));
			continue;
		}
		if (fds[0].revents & POLLOUT)
			send_out(s);
		if (fds[0].revents & (POLLIN | POLLHUP | POLLERR))
			receive(s);
		if (fds[1].revents)
			forward_input(s);
	}
	return true;
}

/*
 * Start the command. A port may lose a request if the agent still has half a frame of a client
 * that was killed. So repeat the request on a new connection. The agent knows the session by its
 * number and starts nothing twice.
 */
static void start(struct session *s, int port, char **argv)
{
	double give_up = now() + (options.wait > 0 ? options.wait : START_TRIES * ANSWER_SECONDS);

	while (!s->started) {
		double deadline = now() + (options.wait > 0 ? 3 : ANSWER_SECONDS);

		s->fd = connect_port(port);
		s->in.start = s->in.end = s->out.start = s->out.end = 0;
		append_run_frame(&s->out, s->number, argv);
		if (serve(s, deadline, true))
			return;
		close(s->fd);
		if (now() >= give_up)
			die(VM_STATUS_NO_VM, "the VM does not answer");
	}
}

/*
 * Print what the programs in the VM are doing, but not the agent: for each thread its number, name,
 * state, system call and place in the kernel. A VM that does not answer prints nothing.
 */
static void report_programs(void)
{
	static const char script[] =
		"for task in /proc/[1-9]*/task/*; do\n"
		"	[ -e $task/exe ] && [ \"$(cat $task/comm)\" != init ] || continue\n"
		"	echo ${task##*/} $(cat $task/comm): $(sed 's/.*) \\(.\\).*/\\1/' $task/stat),\\\n"
		"		system call $(cat $task/syscall)\n"
		"	sed 's/^/    /' $task/stack\n"
		"done 2>/dev/null\n";
	pid_t child = fork();

	if (child == 0) {
		dup2(STDERR_FILENO, STDOUT_FILENO);
		alarm(REPORT_SECONDS);
		execl("/proc/self/exe", "cosy-vm-exec", "--vm", options.vm_dir, "-C", "/", "--",
		      "sh", "-c", script, NULL);
		_exit(1);
	}
	waitpid(child, NULL, 0);
}

static int run(char **argv)
{
	struct session s = { 0 };
	int port = lock_port();

	if (getrandom(&s.number, sizeof(s.number), 0) != sizeof(s.number))
		die(VM_STATUS_NO_VM, "getrandom: %s", strerror(errno));
	if (options.poweroff) {
		s.fd = connect_port(port);
		append_frame(&s.out, s.number, VM_POWEROFF, "", 0);
		if (!serve(&s, now() + ANSWER_SECONDS, false))
			die(VM_STATUS_NO_VM, "the VM does not answer");
		return 0;
	}
	start(&s, port, argv);
	if (options.tty)
		make_terminal_raw();
	if (!serve(&s, options.timeout > 0 ? now() + options.timeout : 1e18, false)) {
		fprintf(stderr, "vm-exec: %s: killed after %g seconds. The VM's programs were:\n",
			argv[0], options.timeout);
		report_programs();
		/* The agent kills the command when this process ends. */
		return VM_STATUS_TIMEOUT;
	}
	return WIFSIGNALED(s.status) ? 128 + WTERMSIG(s.status) : WEXITSTATUS(s.status);
}

static double seconds(const char *option, const char *text)
{
	char *end;
	double value = strtod(text, &end);

	if (end == text || *end || value <= 0)
		die(2, "%s: '%s' is not a number of seconds", option, text);
	return value;
}

int main(int argc, char **argv)
{
	enum { OPT_VM = 256, OPT_WAIT, OPT_POWEROFF, OPT_HELP };
	static const struct option long_options[] = {
		{ "tty", no_argument, NULL, 't' },
		{ "timeout", required_argument, NULL, 'T' },
		{ "directory", required_argument, NULL, 'C' },
		{ "env", required_argument, NULL, 'e' },
		{ "vm", required_argument, NULL, OPT_VM },
		{ "wait", required_argument, NULL, OPT_WAIT },
		{ "poweroff", no_argument, NULL, OPT_POWEROFF },
		{ "help", no_argument, NULL, OPT_HELP },
		{ 0 },
	};
	int option;

	options.vm_dir = vm_directory();
	while ((option = getopt_long(argc, argv, "+tT:C:e:", long_options, NULL)) != -1) {
		switch (option) {
		case 't':
			options.tty = true;
			break;
		case 'T':
			options.timeout = seconds("--timeout", optarg);
			break;
		case 'C':
			options.directory = optarg;
			break;
		case 'e':
			if (options.extra_envc == 64)
				die(2, "too many --env");
			options.extra_env[options.extra_envc++] = optarg;
			break;
		case OPT_VM:
			options.vm_dir = optarg;
			break;
		case OPT_WAIT:
			options.wait = seconds("--wait", optarg);
			break;
		case OPT_POWEROFF:
			options.poweroff = true;
			break;
		case OPT_HELP:
			fputs(usage_text, stdout);
			return 0;
		default:
			fputs(usage_text, stderr);
			return 2;
		}
	}
	if (optind == argc && !options.poweroff) {
		fputs(usage_text, stderr);
		return 2;
	}
	/* If standard output is closed, writing to it reports that. */
	signal(SIGPIPE, SIG_IGN);
	return run(argv + optind);
}
