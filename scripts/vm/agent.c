// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * The first process in the VM, and the only one of this project. As init it mounts the host's
 * files. Then it is the agent, which runs commands for vm-exec.
 *
 * It is the whole initramfs, except for the kernel modules for access to the host's files
 * (/modules, loaded in the order of their names) and a list of directories to mount (/shares).
 * The init of a distribution would need many seconds under TCG, without a benefit.
 */

#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/sched.h>
#include <net/if.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "protocol.h"

#define MNT "/newroot"
#define GONE_MS	2000	/* after this time without a connection, the host has gone */

static void complain(const char *format, ...)
	__attribute__((format(printf, 1, 2)));

/* Standard error is the serial console. The host shows its log when the VM fails. */
static void complain(const char *format, ...)
{
	int saved = errno;
	va_list ap;

	fprintf(stderr, "cosy-vm: ");
	va_start(ap, format);
	vfprintf(stderr, format, ap);
	va_end(ap);
	fprintf(stderr, ": %s\n", strerror(saved));
}

/* --- init ------------------------------------------------------------------------- */

static int mount_at(const char *source, const char *type, const char *path,
		    unsigned long flags, const char *options)
{
	if (mount(source, path, type, flags, options) == 0)
		return 0;
	complain("mount %s on %s", type, path);
	return -1;
}

static void load_modules(void)
{
	struct dirent **list;
	int n = scandir("/modules", &list, NULL, alphasort);

	for (int i = 0; i < n; i++) {
		char path[PATH_MAX];
		int fd;

		if (list[i]->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "/modules/%s", list[i]->d_name);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd < 0 || syscall(SYS_finit_module, fd, "", 0) != 0)
			complain("load %s", path);
		close(fd);
	}
}

/*
 * The host's root is read-only and may be cached. Directories shared for writing change, because
 * the host builds there while the VM runs. So only data that mmap needs is cached.
 */
#define OPTIONS_9P	"trans=virtio,version=9p2000.L,msize=524288,access=client,"
#define OPTIONS_ROOT	OPTIONS_9P "cache=loose"
#define OPTIONS_SHARE	OPTIONS_9P "cache=mmap"

static void make_path(char *path)
{
	for (char *p = path + 1; *p; p++) {
		if (*p != '/')
			continue;
		*p = '\0';
		mkdir(path, 0755);
		*p = '/';
	}
	mkdir(path, 0755);
}

/* Mount the directories of /shares, lines "TAG PATH". */
static void mount_shares(void)
{
	char line[PATH_MAX + 64];
	FILE *f = fopen("/shares", "re");

	if (!f)
		return;
	while (fgets(line, sizeof(line), f)) {
		char path[PATH_MAX + 64];
		char *dir = strchr(line, ' ');

		line[strcspn(line, "\n")] = '\0';
		if (!dir)
			continue;
		*dir++ = '\0';
		snprintf(path, sizeof(path), MNT "%s", dir);
		make_path(path);
		mount_at(line, "9p", path, 0, OPTIONS_SHARE);
	}
	fclose(f);
}

static void mount_everything(void)
{
	mkdir(MNT, 0755);
	mount_at("root", "9p", MNT, MS_RDONLY, OPTIONS_ROOT);

	mount_at("dev", "devtmpfs", MNT "/dev", 0, "mode=755");
	mkdir(MNT "/dev/pts", 0755);
	mkdir(MNT "/dev/shm", 01777);
	mount_at("devpts", "devpts", MNT "/dev/pts", 0, "ptmxmode=666,mode=620,gid=5");
	mount_at("shm", "tmpfs", MNT "/dev/shm", MS_NOSUID | MS_NODEV, "mode=1777");
	mount_at("proc", "proc", MNT "/proc", 0, NULL);
	mount_at("sys", "sysfs", MNT "/sys", 0, NULL);
	mount_at("cgroup", "cgroup2", MNT "/sys/fs/cgroup", 0, NULL);
	mount_at("debug", "debugfs", MNT "/sys/kernel/debug", 0, NULL);
	mount_at("trace", "tracefs", MNT "/sys/kernel/tracing", 0, NULL);
	mount_at("bpf", "bpf", MNT "/sys/fs/bpf", 0, NULL);
	mount_at("run", "tmpfs", MNT "/run", MS_NOSUID | MS_NODEV, "mode=755");
	mount_at("tmp", "tmpfs", MNT "/tmp", MS_NOSUID | MS_NODEV, "mode=1777");
	mount_at("tmp", "tmpfs", MNT "/var/tmp", MS_NOSUID | MS_NODEV, "mode=1777");
	symlink("/proc/self/fd", MNT "/dev/fd");
	symlink("/proc/self/fd/0", MNT "/dev/stdin");
	symlink("/proc/self/fd/1", MNT "/dev/stdout");
	symlink("/proc/self/fd/2", MNT "/dev/stderr");
	mount_shares();

	if (chdir(MNT) != 0 || mount(".", "/", NULL, MS_MOVE, NULL) != 0 ||
	    chroot(".") != 0 || chdir("/") != 0)
		complain("enter the host's root");
}

/*
 * Trace events may be enabled, but must not record the names of tasks. That would patch the
 * scheduler while the other CPU runs it. QEMU may then execute the breakpoint after the kernel
 * has removed it, and the kernel would crash.
 */
static void keep_scheduler_unpatched(void)
{
	int fd = open("/sys/kernel/tracing/options/record-cmd", O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, "0", 1) != 1)
		complain("set the trace option record-cmd");
	close(fd);
}

static void loopback_up(void)
{
	struct ifreq request = { .ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || ioctl(fd, SIOCSIFFLAGS, &request) != 0)
		complain("bring up lo");
	close(fd);
}

/* --- the agent -------------------------------------------------------------------- */

struct buffer {
	char *data;
	size_t size, start, end;
};

static bool buffer_empty(const struct buffer *b)
{
	return b->start == b->end;
}

/* One port and the command that it runs. */
struct port {
	int fd;
	int signals;		/* signalfd: SIGIO for the port, SIGCHLD */
	int cgroup_fd;		/* of the cgroup that commands run in */

	struct buffer in;	/* from the host: the frame being received */
	struct buffer out;	/* to the host: frames being sent */
	struct buffer input;	/* for the command's standard input */
	bool input_closed;	/* end of file once `input` is empty */
	bool input_wanted;	/* report it when `input` is empty */

	bool running;
	bool exited;
	uint64_t session;
	pid_t pid;
	int status;
	int child_stdin, child_stdout, child_stderr;	/* -1: closed */
};

static void *checked_malloc(size_t size)
{
	void *p = malloc(size);

	if (!p) {
		complain("agent");
		_exit(1);
	}
	return p;
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static void append_frame(struct port *port, uint32_t type, const void *data, uint32_t length)
{
	struct vm_frame frame = { VM_MAGIC, port->session, type, length };
	struct buffer *out = &port->out;

	memcpy(out->data + out->end, &frame, sizeof(frame));
	memcpy(out->data + out->end + sizeof(frame), data, length);
	out->end += sizeof(frame) + length;
}

/* In the child: execute the command. */
static void __attribute__((noreturn))
become(const struct vm_run *run, char *strings, int fds[3])
{
	char **argv = checked_malloc((run->argc + 1) * sizeof(*argv));
	char **envp = checked_malloc((run->envc + 1) * sizeof(*envp));
	const char *cwd = strings;
	sigset_t none;

	strings += strlen(strings) + 1;
	for (uint32_t i = 0; i < run->argc; i++, strings += strlen(strings) + 1)
		argv[i] = strings;
	argv[run->argc] = NULL;
	for (uint32_t i = 0; i < run->envc; i++, strings += strlen(strings) + 1)
		envp[i] = strings;
	envp[run->envc] = NULL;

	setsid();
	for (int i = 0; i < 3; i++)
		dup2(fds[i], i);
	if (run->flags & VM_RUN_TTY)
		ioctl(0, TIOCSCTTY, 0);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);

	/* execvp searches the PATH of the environment it is called in. */
	environ = envp;
	if (chdir(cwd) != 0) {
		dprintf(2, "cosy-vm: cannot enter %s in the VM: %s\n", cwd, strerror(errno));
		_exit(126);
	}
	execvp(argv[0], argv);
	dprintf(2, "cosy-vm: cannot run %s in the VM: %s\n", argv[0], strerror(errno));
	_exit(errno == ENOENT ? 127 : 126);
}

/* fork() into a cgroup, so that cgroup.kill finds all processes that the child starts. */
static pid_t fork_into(int cgroup_fd)
{
	struct clone_args args = {
		.flags = CLONE_INTO_CGROUP,
		.exit_signal = SIGCHLD,
		.cgroup = cgroup_fd,
	};

	return syscall(SYS_clone3, &args, sizeof(args));
}

static bool start_on_terminal(struct port *port, const struct vm_run *run, char *strings)
{
	struct winsize size = { .ws_row = run->winsize.rows, .ws_col = run->winsize.columns };
	int master, slave;

	if (openpty(&master, &slave, NULL, NULL, &size) != 0)
		return false;
	fcntl(master, F_SETFD, FD_CLOEXEC);
	fcntl(slave, F_SETFD, FD_CLOEXEC);
	port->pid = fork_into(port->cgroup_fd);
	if (port->pid == 0)
		become(run, strings, (int[]){ slave, slave, slave });
	close(slave);
	fcntl(master, F_SETFL, O_NONBLOCK);
	port->child_stdin = fcntl(master, F_DUPFD_CLOEXEC, 0);
	port->child_stdout = master;
	return port->pid > 0;
}

static bool start_on_pipes(struct port *port, const struct vm_run *run, char *strings)
{
	int in[2], out[2], err[2];

	if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0 || pipe2(err, O_CLOEXEC) != 0)
		return false;
	port->pid = fork_into(port->cgroup_fd);
	if (port->pid == 0)
		become(run, strings, (int[]){ in[0], out[1], err[1] });
	close(in[0]);
	close(out[1]);
	close(err[1]);
	fcntl(in[1], F_SETFL, O_NONBLOCK);
	port->child_stdin = in[1];
	port->child_stdout = out[0];
	port->child_stderr = err[0];
	return port->pid > 0;
}

static void write_file(int dir, const char *name, const char *text)
{
	int fd = openat(dir, name, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		complain("write %s", name);
	close(fd);
}

/* Kill the command and all processes that it started, and reset its state. */
static void stop_command(struct port *port)
{
	if (!port->running)
		return;
	write_file(port->cgroup_fd, "cgroup.kill", "1");
	/*
	 * If even SIGKILL does not end a process, the kernel has a fault. The agent must not
	 * hang.
	 */
	for (int tries = 0; !port->exited && tries < 500; tries++) {
		port->exited = waitpid(port->pid, NULL, WNOHANG) != 0;
		if (!port->exited)
			usleep(10 * 1000);
	}
	close_fd(&port->child_stdin);
	close_fd(&port->child_stdout);
	close_fd(&port->child_stderr);
	port->running = false;
	port->out.start = port->out.end = 0;
	port->input.start = port->input.end = 0;
}

/* Return true if all strings of struct vm_run exist and end within the frame. */
static bool run_frame_valid(const struct vm_run *run, const char *strings, size_t length)
{
	size_t wanted = 1 + (size_t)run->argc + run->envc, found = 0;

	for (size_t i = 0; i < length; i++)
		found += strings[i] == '\0';
	return run->argc > 0 && found == wanted && strings[length - 1] == '\0';
}

static void start_command(struct port *port, uint64_t session, char *data, size_t length)
{
	struct vm_run run;
	char *strings = data + sizeof(run);
	bool ok;

	if (port->running && port->session == session) {
		/* A client has repeated the request, because the answer may be lost. */
		append_frame(port, VM_STARTED, "", 0);
		return;
	}
	stop_command(port);
	if (length <= sizeof(run))
		return;
	memcpy(&run, data, sizeof(run));
	if (!run_frame_valid(&run, strings, length - sizeof(run)))
		return;

	port->session = session;
	port->running = true;
	port->exited = false;
	port->input.start = port->input.end = 0;
	port->input_closed = false;
	port->input_wanted = true;
	append_frame(port, VM_STARTED, "", 0);
	ok = run.flags & VM_RUN_TTY ? start_on_terminal(port, &run, strings)
				    : start_on_pipes(port, &run, strings);
	if (!ok) {
		static const char message[] = "cosy-vm: the agent cannot start a process\n";

		append_frame(port, VM_STDERR, message, sizeof(message) - 1);
		port->exited = true;
		port->status = 126 << 8;
	}
}

static void handle_frame(struct port *port, const struct vm_frame *frame, char *data)
{
	switch (frame->type) {
	case VM_RUN:
		start_command(port, frame->session, data, frame->length);
		break;
	case VM_STDIN:
		if (frame->length == 0)
			port->input_closed = true;
		memcpy(port->input.data, data, frame->length);
		port->input.start = 0;
		port->input.end = frame->length;
		port->input_wanted = true;
		break;
	case VM_WINSIZE: {
		struct vm_winsize host;
		struct winsize size = { 0 };

		if (frame->length != sizeof(host))
			break;
		memcpy(&host, data, sizeof(host));
		size.ws_row = host.rows;
		size.ws_col = host.columns;
		ioctl(port->child_stdout, TIOCSWINSZ, &size);
		break;
	}
	case VM_POWEROFF:
		sync();
		reboot(RB_POWER_OFF);
		break;
	}
}

/*
 * Return true if this is the beginning of a frame whose client waits. A client that ends in the
 * middle of a frame leaves its beginning here. Waiting for the rest of it would consume the data
 * of the next client.
 */
static bool frame_wanted(const struct port *port, const struct vm_frame *frame)
{
	if (frame->magic != VM_MAGIC)
		return false;
	if (frame->type == VM_RUN || frame->type == VM_POWEROFF)
		return frame->length <= VM_RUN_MAX;
	return frame->length <= VM_CHUNK && port->running && frame->session == port->session;
}

static void handle_frames(struct port *port)
{
	struct buffer *in = &port->in;
	struct vm_frame frame;

	while (in->end - in->start >= sizeof(frame)) {
		memcpy(&frame, in->data + in->start, sizeof(frame));
		if (!frame_wanted(port, &frame)) {
			in->start++;
			continue;
		}
		if (in->end - in->start < sizeof(frame) + frame.length)
			break;
		handle_frame(port, &frame, in->data + in->start + sizeof(frame));
		in->start += sizeof(frame) + frame.length;
	}
	memmove(in->data, in->data + in->start, in->end - in->start);
	in->end -= in->start;
	in->start = 0;
}

/* Return true if any data was received. */
static bool receive(struct port *port)
{
	struct buffer *in = &port->in;
	ssize_t n = read(port->fd, in->data + in->end, in->size - in->end);

	if (n > 0)
		in->end += n;
	return n > 0;
}

static void send_out(struct port *port)
{
	struct buffer *out = &port->out;
	ssize_t n = write(port->fd, out->data + out->start, out->end - out->start);

	if (n > 0)
		out->start += n;
	if (buffer_empty(out))
		out->start = out->end = 0;
}

static void feed_input(struct port *port)
{
	struct buffer *input = &port->input;
	ssize_t n;

	n = write(port->child_stdin, input->data + input->start, input->end - input->start);
	if (n > 0)
		input->start += n;
	else if (n < 0 && errno != EAGAIN)
		input->start = input->end;	/* the reader is gone */
}

static void forward_output(struct port *port, int *fd, uint32_t type)
{
	static char data[VM_CHUNK];
	ssize_t n = read(*fd, data, sizeof(data));

	if (n > 0)
		append_frame(port, type, data, n);
	else if (n == 0 || (errno != EAGAIN && errno != EINTR))
		close_fd(fd);
}

/* After the command's end, read the rest of its pipes, but do not wait for descendants. */
static void finish_if_done(struct port *port)
{
	struct pollfd left[2] = {
		{ .fd = port->child_stdout, .events = POLLIN },
		{ .fd = port->child_stderr, .events = POLLIN },
	};

	if (!port->running || !port->exited || !buffer_empty(&port->out))
		return;
	if (poll(left, 2, 0) > 0)
		return;		/* forward_output() comes first */
	append_frame(port, VM_EXIT, &port->status, sizeof(uint32_t));
	close_fd(&port->child_stdin);
	close_fd(&port->child_stdout);
	close_fd(&port->child_stderr);
	port->running = false;
}

static void take_signals(struct port *port)
{
	struct signalfd_siginfo info;

	while (read(port->signals, &info, sizeof(info)) == sizeof(info))
		;
	if (port->running && !port->exited &&
	    waitpid(port->pid, &port->status, WNOHANG) == port->pid)
		port->exited = true;
}

static int64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000LL + ts.tv_nsec / 1000000;
}

/*
 * While the host is not connected, poll() always reports POLLHUP and POLLIN. So the port is
 * omitted, and the SIGIO of the next connection is awaited. The host's connection may be reported
 * after its first request, so POLLHUP means that the host has gone only if the connection was
 * reported before. POLLHUP must also persist, because the end of the last client may be reported
 * after the first request of the next one, whose connection is reported immediately after that.
 */
static void __attribute__((noreturn)) serve(struct port *port)
{
	bool hung_up = false, connected = false;
	int64_t gone_at = 0;	/* when the host will be considered gone; 0: it is connected */

	for (;;) {
		struct pollfd fds[5] = {
			{ .fd = port->signals, .events = POLLIN },
			{ .fd = hung_up ? -1 : port->fd, .events = POLLIN },
			{ .fd = -1, .events = POLLOUT },
			{ .fd = -1, .events = POLLIN },
			{ .fd = -1, .events = POLLIN },
		};

		bool received = false;

		if (!buffer_empty(&port->out))
			fds[1].events |= POLLOUT;
		if (port->running) {
			if (!buffer_empty(&port->input))
				fds[2].fd = port->child_stdin;
			if (buffer_empty(&port->out)) {
				fds[3].fd = port->child_stdout;
				fds[4].fd = port->child_stderr;
			}
		}
		if (poll(fds, 5, gone_at ? GONE_MS : -1) < 0)
			continue;

		if (fds[0].revents) {
			take_signals(port);
			hung_up = false;
			/*
			 * The state of the port from poll() may be older than the signals, which
			 * are not repeated. So check again.
			 */
			fds[1].fd = -1;
			fds[1].revents = 0;
		}
		if (fds[1].revents & POLLIN)
			received = receive(port);
		if (fds[1].revents & POLLHUP) {
			if (connected)
				gone_at = now_ms() + GONE_MS;
			connected = false;
			hung_up = !received;
		} else if (fds[1].fd >= 0) {
			connected = true;
			gone_at = 0;
		}
		if (gone_at && now_ms() >= gone_at) {
			stop_command(port);
			gone_at = 0;
		}
		if (fds[1].revents & POLLOUT)
			send_out(port);
		if (fds[2].revents)
			feed_input(port);
		if (fds[3].revents)
			forward_output(port, &port->child_stdout, VM_STDOUT);
		if (fds[4].revents)
			forward_output(port, &port->child_stderr, VM_STDERR);

		handle_frames(port);
		if (port->running && buffer_empty(&port->input)) {
			if (port->input_closed) {
				close_fd(&port->child_stdin);
			} else if (port->input_wanted && buffer_empty(&port->out)) {
				append_frame(port, VM_WANT_STDIN, "", 0);
				port->input_wanted = false;
			}
		}
		finish_if_done(port);
	}
}

static void __attribute__((noreturn)) worker(const char *device, int number)
{
	char cgroup[64];
	struct port port = { .child_stdin = -1, .child_stdout = -1, .child_stderr = -1 };
	sigset_t set;

	/* Memory for two output frames and the frame that ends them. */
	port.out.size = 4 * (VM_CHUNK + sizeof(struct vm_frame));
	port.out.data = checked_malloc(port.out.size);
	port.in.size = VM_RUN_MAX + VM_CHUNK;
	port.in.data = checked_malloc(port.in.size);
	port.input.size = VM_CHUNK;
	port.input.data = checked_malloc(port.input.size);

	snprintf(cgroup, sizeof(cgroup), "/sys/fs/cgroup/cosy-vm.%d", number);
	mkdir(cgroup, 0755);
	port.cgroup_fd = open(cgroup, O_DIRECTORY | O_RDONLY | O_CLOEXEC);
	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&set);
	sigaddset(&set, SIGIO);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, NULL);
	port.signals = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
	port.fd = open(device, O_RDWR | O_CLOEXEC | O_NONBLOCK);
	if (port.fd < 0 || port.signals < 0 || port.cgroup_fd < 0) {
		complain("open %s", device);
		_exit(1);
	}
	fcntl(port.fd, F_SETOWN, getpid());
	fcntl(port.fd, F_SETFL, O_NONBLOCK | O_ASYNC);
	serve(&port);
}

static pid_t start_worker(const char *device, int number)
{
	pid_t pid = fork();

	if (pid == 0)
		worker(device, number);
	return pid;
}

/* Find the ports by the names that the host has given them: cosy.0 ... */
static int find_ports(char devices[VM_PORTS][64])
{
	struct dirent *entry;
	int found = 0;
	DIR *dir = opendir("/sys/class/virtio-ports");

	while (dir && (entry = readdir(dir))) {
		char path[PATH_MAX], name[32] = "";
		FILE *f;
		int number;

		snprintf(path, sizeof(path), "/sys/class/virtio-ports/%s/name", entry->d_name);
		f = fopen(path, "re");
		if (!f)
			continue;
		if (fgets(name, sizeof(name), f) && sscanf(name, "cosy.%d", &number) == 1 &&
		    number >= 0 && number < VM_PORTS && strlen(entry->d_name) < 32) {
			snprintf(devices[number], sizeof(devices[number]), "/dev/%.32s", entry->d_name);
			found++;
		}
		fclose(f);
	}
	if (dir)
		closedir(dir);
	return found;
}

int main(void)
{
	char devices[VM_PORTS][64] = { "" };
	pid_t workers[VM_PORTS];

	if (getpid() != 1) {
		fprintf(stderr, "cosy-vm-agent is the init process of the VM that ./cosy vm boots\n");
		return 2;
	}
	umask(0);
	load_modules();
	mount_everything();
	umask(022);
	loopback_up();
	keep_scheduler_unpatched();
	sethostname("cosy-vm", strlen("cosy-vm"));

	/* The ports' names arrive by messages from the host. */
	for (int tries = 0; find_ports(devices) < VM_PORTS; tries++) {
		usleep(10 * 1000);
		if (tries == 1000) {
			complain("no ports to the host");
			reboot(RB_POWER_OFF);
		}
	}
	for (int i = 0; i < VM_PORTS; i++)
		workers[i] = start_worker(devices[i], i);

	/* Reap orphans: this is init. */
	for (;;) {
		pid_t pid = wait(NULL);

		for (int i = 0; i < VM_PORTS; i++) {
			if (pid == workers[i]) {
				usleep(100 * 1000);
				workers[i] = start_worker(devices[i], i);
			}
		}
	}
}
