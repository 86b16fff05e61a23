// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Observers of files get the same events from fast paths as from plain calls, in the same order,
// and can deny them: fanotify, inotify, access times of all kinds of mounts, leases, locks.
// REQUIRES: root
// RUN: %cosy-cc -O2 -Wall -Wextra -D_GNU_SOURCE %s -o %t
// RUN: %vm %S/Inputs/ways %S/Inputs/make-files %t | FileCheck %s
// CHECK: tmpfs, as root: {{[1-9][0-9][0-9]+}} lines
// CHECK-NEXT: tmpfs, as user: {{[1-9][0-9]+}} lines
// CHECK-NEXT: ext4, as root: {{[1-9][0-9][0-9]+}} lines
// CHECK-NEXT: overlayfs, as root: {{[1-9][0-9][0-9]+}} lines
#include "Inputs/regions.h"

#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/fanotify.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/mount.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>

/* All operations that an observer could see. Ends the process, and then prints the results. */
static void everything(void)
{
	static char text[10000];
	int in, out, pair[2];

	setvbuf(stdout, text, _IOFBF, sizeof(text));
	in = must_open("from10001", O_RDWR);
	out = must_open("to", O_RDWR | O_CREAT);
	say("slurp", slurp("from65536", O_RDONLY));
	say("create", create("made", O_RDWR, 5000));
	say("copy", copy(in, out, 4096));
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
		exit(1);
	lseek(in, 0, SEEK_SET);
	say("copy to a socket", copy(in, pair[0], 8192));
	say("read at", read_at(in, 100, 5000));
	say("write at", write_at(in, 100, 5000));
	say_names("from4096");
	say_names("missing");
	exit(0);
}

/* --- fanotify ----------------------------------------------------------------- */

static const char *name_of(int fd)
{
	static char link[100], text[200];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, text, sizeof(text) - 1);
	text[n > 0 ? n : 0] = '\0';
	return strrchr(text, '/') ? strrchr(text, '/') + 1 : text;
}

/* Read all events; answer permission requests, and deny number @deny of them. */
static void listen_to(int fan, pid_t child, int *asked, int deny)
{
	struct fanotify_event_metadata events[64];
	ssize_t n = read(fan, events, sizeof(events));

	for (struct fanotify_event_metadata *e = events; n > 0 && FAN_EVENT_OK(e, n);
	     e = FAN_EVENT_NEXT(e, n)) {
		struct fanotify_response answer = { e->fd, FAN_ALLOW };
		bool question = e->mask & (FAN_OPEN_PERM | FAN_ACCESS_PERM);

		if (question && ++*asked == deny)
			answer.response = FAN_DENY;
		printf("  %s %#llx by %s%s\n", e->fd >= 0 ? name_of(e->fd) : "?",
		       (unsigned long long)e->mask, e->pid == child ? "it" : "another",
		       answer.response == FAN_DENY ? ", denied" : "");
		/* Printed first, before the process continues. */
		if (question && write(fan, &answer, sizeof(answer)) < 0)
			printf("answer: %s\n", strerror(errno));
		if (e->fd >= 0)
			close(e->fd);
	}
}

/* Returns the number of permission requests. */
static int fanotify(unsigned int class, unsigned long long mask, int deny)
{
	static const char *const files[] = { "from10001", "from65536", "to", "from4096", "." };
	int fan = fanotify_init(class | FAN_NONBLOCK | FAN_CLOEXEC, O_RDONLY | O_LARGEFILE);
	int asked = 0, status, go[2];
	pid_t child;

	if (fan < 0 || pipe(go)) {
		printf("fanotify: %s\n", strerror(errno));
		return 0;
	}
	close(must_open("to", O_RDWR | O_CREAT));
	fflush(stdout);
	child = fork();
	if (!child) {
		char c;

		close(go[1]);
		if (read(go[0], &c, 1) != 1)
			exit(1);
		everything();
	}
	close(go[0]);
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		if (fanotify_mark(fan, FAN_MARK_ADD, mask | (i == 4 ? FAN_EVENT_ON_CHILD : 0),
				  AT_FDCWD, files[i]))
			printf("%s: %s\n", files[i], strerror(errno));
	if (write(go[1], "", 1) != 1)
		exit(1);
	/* Permission requests are answered at once. Other events are read at the end. */
	if (class == FAN_CLASS_NOTIF) {
		waitpid(child, &status, 0);
	} else {
		while (waitpid(child, &status, WNOHANG) == 0) {
			listen_to(fan, child, &asked, deny);
			usleep(100);
		}
	}
	listen_to(fan, child, &asked, deny);
	printf("ended with %d\n", status);
	close(go[1]);
	close(fan);
	unlink("to");
	unlink("made");
	return asked;
}

static void test_fanotify(void)
{
	int asked;

	if (geteuid() != 0)
		return;
	printf("fanotify, told\n");
	fanotify(FAN_CLASS_NOTIF, FAN_OPEN | FAN_ACCESS | FAN_MODIFY | FAN_CLOSE, 0);
	printf("fanotify, asked\n");
	asked = fanotify(FAN_CLASS_CONTENT, FAN_OPEN_PERM | FAN_ACCESS_PERM, 0);
	for (int deny = 1; deny <= asked; deny += asked / 4 + 1) {
		printf("fanotify, denied %d\n", deny);
		fanotify(FAN_CLASS_CONTENT, FAN_OPEN_PERM | FAN_ACCESS_PERM, deny);
	}
}

/* --- inotify ------------------------------------------------------------------ */

static void test_inotify(void)
{
	static const char *const files[] = { ".", "from10001", "from65536", "from4096" };
	char events[16384] __attribute__((aligned(8)));
	int watch = inotify_init1(IN_NONBLOCK);
	uint32_t cookie = 0, number = 0;
	pid_t child;
	ssize_t n;

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		printf("watch %d\n", inotify_add_watch(watch, files[i], IN_ALL_EVENTS) > 0);
	fflush(stdout);
	child = fork();
	if (!child)
		everything();
	waitpid(child, NULL, 0);
	while ((n = read(watch, events, sizeof(events))) > 0) {
		for (ssize_t at = 0; at < n;) {
			struct inotify_event *e = (struct inotify_event *)(events + at);

			/* Two events with one cookie belong together. */
			if (e->cookie != cookie)
				number++;
			cookie = e->cookie;
			printf("event %d %#x %s %u\n", e->wd, e->mask, e->len ? e->name : "",
			       e->cookie ? number : 0);
			at += (ssize_t)(sizeof(*e) + e->len);
		}
	}
	close(watch);
	unlink("to");
	unlink("made");
}

/* --- access times ------------------------------------------------------------- */

static void set_times(const char *name, const struct timespec times[2])
{
	if (utimensat(AT_FDCWD, name, times, AT_SYMLINK_NOFOLLOW))
		printf("%s: %s\n", name, strerror(errno));
}

static void say_touched(const char *what, const char *name, time_t before)
{
	struct stat st;

	if (lstat(name, &st))
		exit(1);
	printf(" %s %s", what, st.st_atime == before ? "no" : "yes");
}

static void touches(const char *mounted)
{
	time_t today = time(NULL) - 3600, long_ago = time(NULL) - 3 * 24 * 3600;
	const struct timespec cases[][2] = {
		{ { 1000, 0 }, { 2000, 0 } },		/* changed since */
		{ { 2000, 0 }, { 1000, 0 } },		/* unchanged, but old */
		{ { long_ago, 0 }, { 1000, 0 } },
		{ { today, 0 }, { 1000, 0 } },
		{ { today, 0 }, { today, 0 } },
	};
	static char text[100];
	struct stat st;
	int fd, out = must_open("/dev/null", O_WRONLY), to = must_open("to", O_RDWR | O_CREAT);

	unlink("a-link");
	if (symlink("from4096", "a-link"))
		exit(1);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		time_t before = cases[i][0].tv_sec;

		printf("%s, case %zu:", mounted, i);
		set_times("from65536", cases[i]);
		slurp("from65536", O_RDONLY);
		say_touched("slurp", "from65536", before);
		set_times("from65536", cases[i]);
		slurp("from65536", O_RDONLY | O_NOATIME);
		say_touched("with O_NOATIME", "from65536", before);
		fd = must_open("from10001", O_RDONLY);
		set_times("from10001", cases[i]);
		copy(fd, to, 4096);
		say_touched("copy", "from10001", before);
		set_times("from10001", cases[i]);
		copy(fd, to, 4096);
		say_touched("at the end", "from10001", before);
		lseek(fd, 0, SEEK_SET);
		copy(fd, out, 4096);
		say_touched("copy to a device", "from10001", before);
		set_times("from10001", cases[i]);
		read_at(fd, 10, 10);
		say_touched("read at", "from10001", before);
		close(fd);
		set_times("a-link", cases[i]);
		COSY_START;
		if (readlink("a-link", text, sizeof(text)) < 0)
			abort();
		COSY_END;
		say_touched("readlink", "a-link", before);
		set_times("a-link", cases[i]);
		set_times("from4096", cases[i]);
		COSY_START;
		if (stat("a-link", &st))
			abort();
		COSY_END;
		say_touched("link followed", "a-link", before);
		say_touched("stat", "from4096", before);
		printf("\n");
	}
	close(out);
	close(to);
	unlink("to");
	unlink("a-link");
}

static void test_times(const char *dir)
{
	static const struct {
		const char *name;
		unsigned long flags;
	} mounts[] = {
		{ "relatime", MS_RELATIME }, { "strictatime", MS_STRICTATIME },
		{ "noatime", MS_NOATIME }, { "read-only", MS_RDONLY | MS_STRICTATIME },
	};

	touches("as it is");
	if (geteuid() != 0)
		return;
	for (size_t i = 0; i < sizeof(mounts) / sizeof(mounts[0]); i++) {
		if (mount(dir, dir, NULL, MS_BIND, NULL) ||
		    mount(NULL, dir, NULL, MS_BIND | MS_REMOUNT | mounts[i].flags, NULL) ||
		    chdir(dir)) {
			printf("%s: %s\n", mounts[i].name, strerror(errno));
			continue;
		}
		if (mounts[i].flags & MS_RDONLY)
			say_names("from4096");
		else
			touches(mounts[i].name);
		if (chdir("/") || umount(dir) || chdir(dir))
			printf("umount: %s\n", strerror(errno));
	}
}

/* --- leases and locks --------------------------------------------------------- */

/*
 * A lease of a child process, which releases it on request: the open waits for that, or does not
 * wait.
 */
static void lease(int kind, const char *what, struct end (*body)(int), int flags)
{
	int ready[2], told[2], status = 0;
	char c = 0;
	pid_t child;

	if (pipe(ready) || pipe(told))
		exit(1);
	fflush(stdout);
	child = fork();
	if (!child) {
		int fd = must_open("from4097", kind == F_RDLCK ? O_RDONLY : O_RDWR);
		struct pollfd waits[2] = { { .events = POLLIN }, { .fd = told[0] } };
		sigset_t set;

		sigemptyset(&set);
		sigaddset(&set, SIGIO);
		sigprocmask(SIG_BLOCK, &set, NULL);
		waits[0].fd = signalfd(-1, &set, 0);
		if (fcntl(fd, F_SETLEASE, kind))
			c = 1;
		if (write(ready[1], &c, 1) != 1)
			exit(1);
		close(told[1]);
		poll(waits, 2, 100000);
		_exit(waits[0].revents != 0);
	}
	close(told[0]);
	if (read(ready[0], &c, 1) != 1 || c)
		printf("no lease\n");
	say(what, body(flags));
	close(told[1]);
	waitpid(child, &status, 0);
	printf("  lease broken: %d\n", WEXITSTATUS(status));
	close(ready[0]);
	close(ready[1]);
}

static struct end open_leased(int flags)
{
	return slurp("from4097", flags);
}

static struct end write_leased(int flags)
{
	return create("from4097", flags, 10);
}

/* Calls with its name: changes of its size break a lease, others do not. */
static struct end names_leased(int flags)
{
	(void)flags;
	say_names("from4097");
	return (struct end){ 0 };
}

/* A reader does not block other readers. */
static struct end copy_leased(int flags)
{
	int in = must_open("from4097", O_RDONLY | O_NONBLOCK), out;
	struct end e;

	out = must_open("to", O_RDWR | O_CREAT | flags);
	e = copy(in, out, 4096);
	close(in);
	close(out);
	unlink("to");
	return e;
}

static void test_leases(void)
{
	lease(F_WRLCK, "read, lease for writing", open_leased, O_RDONLY);
	lease(F_WRLCK, "read at once", open_leased, O_RDONLY | O_NONBLOCK);
	lease(F_RDLCK, "read, lease for reading", open_leased, O_RDONLY);
	lease(F_RDLCK, "write, lease for reading", write_leased, O_WRONLY);
	lease(F_RDLCK, "write at once", write_leased, O_WRONLY | O_NONBLOCK);
	lease(F_RDLCK, "emptied", write_leased, O_WRONLY | O_TRUNC);
	lease(F_RDLCK, "names, lease for reading", names_leased, 0);
	lease(F_WRLCK, "names, lease for writing", names_leased, 0);
	lease(F_RDLCK, "copied, lease for reading", copy_leased, 0);
}

/* Print the lock on the whole file that another process sees. */
static void say_locks(const char *what)
{
	int status;
	pid_t child;

	fflush(stdout);
	child = fork();
	if (!child) {
		int fd = must_open("from4097", O_RDWR);
		struct flock lock = { .l_type = F_WRLCK }, open_lock = lock;

		fcntl(fd, F_GETLK, &lock);
		fcntl(fd, F_OFD_GETLK, &open_lock);
		printf("%s: %d %d %d\n", what, lock.l_type, open_lock.l_type,
		       flock(fd, LOCK_EX | LOCK_NB));
		fflush(stdout);
		_exit(0);
	}
	waitpid(child, &status, 0);
}

/* A lock on a private file, as another file sees it, and after it is closed. */
static void lock_private(int kind)
{
	struct flock lock = { .l_type = F_WRLCK, .l_len = 100 }, seen[3] = { lock, lock, lock };
	int other = must_open("from4097", O_RDWR), results[8] = { 0 };
	char byte;

	for (int i = 0; i < 3; i++)
		seen[i].l_pid = 0;
	COSY_START;
	int fd = open("from4097", O_RDWR);
	results[0] = (int)read(fd, &byte, 1);
	results[1] = kind < 0 ? flock(fd, LOCK_EX) : fcntl(fd, kind, &lock);
	results[2] = fcntl(other, F_OFD_GETLK, &seen[0]);
	results[3] = flock(other, LOCK_SH | LOCK_NB);
	results[4] = (int)pwrite(fd, &byte, 1, 0);
	results[5] = fcntl(other, F_OFD_GETLK, &seen[1]);
	close(fd);
	results[6] = fcntl(other, F_OFD_GETLK, &seen[2]);
	results[7] = flock(other, LOCK_SH | LOCK_NB);
	COSY_END;
	printf("locked in between, %d:", kind);
	for (int i = 0; i < 8; i++)
		printf(" %d", results[i]);
	for (int i = 0; i < 3; i++)
		printf(", %d by %s", seen[i].l_type, seen[i].l_pid == getpid() ? "us" : "a file");
	printf("\n");
	close(other);
}

static void test_locks(void)
{
	struct flock lock = { .l_type = F_WRLCK, .l_len = 100 };
	int kinds[] = { F_SETLK, F_OFD_SETLK };

	for (int i = 0; i < 3; i++) {
		int fd = must_open("from4097", O_RDWR);
		int err = i < 2 ? fcntl(fd, kinds[i], &lock) : flock(fd, LOCK_EX);

		printf("lock %d: %d\n", i, err);
		say_locks("before");
		say("locks do not hinder a read", slurp("from4097", O_RDONLY));
		say_locks("after a file was opened and closed");
		say("written", create("from4097", O_RDWR, 1));
		say("through the other one", write_at(fd, 0, 10));
		say_locks("after that");
		close(fd);
		say_locks("closed");
		lock_private(i < 2 ? kinds[i] : -1);
	}
}

int main(int argc, char **argv)
{
	if (argc != 2)
		return 2;
	setvbuf(stdout, NULL, _IOLBF, 0);
	test_fanotify();
	test_inotify();
	test_times(argv[1]);
	if (geteuid() == 0) {
		test_leases();
		test_locks();
	}
	return 0;
}
