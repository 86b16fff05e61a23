// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 // Listing a directory: watchers get the same events, its access time changes as natively,
// automounts happen as natively. Meanwhile entries may be removed, be copied to an upper layer, or
// be mounted on in another mount namespace.
// REQUIRES: root
// RUN: %cosy-cc -O2 -Wall -Wextra -D_GNU_SOURCE %s -o %t
// RUN: %vm %S/Inputs/ways %S/Inputs/make-directory %t | FileCheck %s
// CHECK: tmpfs, as root: {{[1-9][0-9]+}} lines
// CHECK-NEXT: tmpfs, as user: {{[1-9][0-9]*}} lines
// CHECK-NEXT: ext4, as root: {{[1-9][0-9]+}} lines
// CHECK-NEXT: overlayfs, as root: {{[1-9][0-9]+}} lines
#include <cosy.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fanotify.h>
#include <sys/inotify.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define MOST 400

/* The result of a listing: statuses by fstatat() of even entries and by statx() of odd ones. */
static struct entry {
	char name[256];
	ino_t number, found;
	int error;
} entries[MOST];

static long list(const char *name, int flags)
{
	static char buffer[512];	/* small, for many calls */
	static struct statx more;
	static struct stat status;
	struct dirent64 *entry;
	long n, at, count = 0;
	int dir;

	COSY_START;
	dir = open(name, O_RDONLY | O_DIRECTORY | flags);
	while (count < MOST - 30 && (n = getdents64(dir, buffer, sizeof(buffer))) > 0) {
		for (at = 0; at < n; at += entry->d_reclen) {
			entry = (struct dirent64 *)(buffer + at);
			strcpy(entries[count].name, entry->d_name);
			entries[count].number = entry->d_ino;
			entries[count].error = 0;
			if (count % 2) {
				if (statx(dir, entry->d_name, AT_SYMLINK_NOFOLLOW, STATX_INO, &more))
					entries[count].error = errno;
				entries[count].found = more.stx_ino;
			} else {
				if (fstatat(dir, entry->d_name, &status, AT_SYMLINK_NOFOLLOW))
					entries[count].error = errno;
				entries[count].found = status.st_ino;
			}
			count++;
		}
	}
	close(dir);
	COSY_END;
	return count;
}

/* Each event with its name and its count, because queues merge equal events. */
static void print_inotify(int queue)
{
	static char buffer[65536];
	ssize_t n = read(queue, buffer, sizeof(buffer));

	for (ssize_t at = 0; at < n;) {
		struct inotify_event *event = (struct inotify_event *)(buffer + at);

		printf("inotify %#x %s\n", event->mask, event->len ? event->name : "");
		at += (ssize_t)(sizeof(*event) + event->len);
	}
}

static void print_fanotify(int queue)
{
	static struct fanotify_event_metadata events[256];
	ssize_t n = read(queue, events, sizeof(events));

	for (ssize_t i = 0; i < n / (ssize_t)sizeof(*events); i++) {
		printf("fanotify %#llx\n", (unsigned long long)events[i].mask);
		close(events[i].fd);
	}
}

static volatile sig_atomic_t notified;

static void on_notify(int signal)
{
	(void)signal;
	notified++;
}

static void watched(void)
{
	int inotify = inotify_init1(IN_NONBLOCK), fanotify, dnotify;
	long count;

	inotify_add_watch(inotify, ".", IN_ALL_EVENTS);
	fanotify = fanotify_init(FAN_NONBLOCK | FAN_CLASS_NOTIF, O_RDONLY);
	if (fanotify >= 0)
		fanotify_mark(fanotify, FAN_MARK_ADD,
			      FAN_OPEN | FAN_ACCESS | FAN_CLOSE | FAN_ONDIR | FAN_EVENT_ON_CHILD,
			      AT_FDCWD, ".");
	signal(SIGRTMIN, on_notify);
	dnotify = open(".", O_RDONLY | O_DIRECTORY);
	fcntl(dnotify, F_SETSIG, SIGRTMIN);
	if (fcntl(dnotify, F_NOTIFY, DN_ACCESS | DN_ATTRIB | DN_MULTISHOT) < 0)
		perror("F_NOTIFY");
	count = list(".", 0);
	printf("watched: %ld entries, %d notified\n", count, (int)notified);
	print_inotify(inotify);
	if (fanotify >= 0)
		print_fanotify(fanotify);
	close(dnotify);
	close(inotify);
	close(fanotify);
}

static void accessed(void)
{
	static const int flags[] = { 0, O_NOATIME, 0 };

	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		const struct timespec old[2] = { { .tv_sec = 1000 }, { .tv_sec = 2000 } };
		struct stat status;

		if (utimensat(AT_FDCWD, ".", old, 0) && errno != EPERM)
			perror("utimensat");
		list(".", flags[i]);
		stat(".", &status);
		printf("accessed with %#x: %s\n", (unsigned int)flags[i],
		       status.st_atim.tv_sec == 1000 ? "before" : "now");
	}
}

static int mounts_below(const char *name)
{
	FILE *mounts = fopen("/proc/self/mounts", "r");
	static char line[4096];
	int count = 0;

	while (fgets(line, sizeof(line), mounts))
		count += strstr(line, name) != NULL;
	fclose(mounts);
	return count;
}

/* debugfs mounts another file system on "tracing" at the first access. */
static void mounted_on_demand(void)
{
	static const int flags[] = { AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT, AT_NO_AUTOMOUNT, 0 };
	struct stat parent, status;
	struct statx more;
	int dir, ret;

	if (mkdir("on-demand", 0700) || mount("debugfs", "on-demand", "debugfs", 0, NULL)) {
		printf("not mounted: %s\n", strerror(errno));
		return;
	}
	dir = open("on-demand", O_RDONLY | O_DIRECTORY);
	fstat(dir, &parent);
	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		COSY_START;
		ret = fstatat(dir, "tracing", &status, flags[i] & ~AT_NO_AUTOMOUNT);
		COSY_END;
		printf("fstatat %#x: %d, %s, %d mounts\n", (unsigned int)flags[i], ret,
		       status.st_dev == parent.st_dev ? "not entered" : "entered",
		       mounts_below("/on-demand"));
		COSY_START;
		ret = statx(dir, "tracing", flags[i], STATX_BASIC_STATS | STATX_MNT_ID, &more);
		COSY_END;
		printf("statx %#x: %d, root of a mount %d, %d mounts\n", (unsigned int)flags[i],
		       ret, (more.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0,
		       mounts_below("/on-demand"));
	}
	close(dir);
	umount2("on-demand/tracing", MNT_DETACH);
	if (umount2("on-demand", MNT_DETACH))
		perror("umount");
	rmdir("on-demand");
}

/* Between reading a name and its status, the entry is removed, moved or replaced. */
static void changing(void)
{
	static char buffer[4096];
	struct dirent64 *entry;
	int results[32], count = 0, dir;
	struct stat status;
	long n, at;

	if (mkdir("change", 0755) || chdir("change"))
		perror("change");
	for (int i = 0; i < 16; i++) {
		char name[16];

		snprintf(name, sizeof(name), "%d", i);
		close(open(name, O_WRONLY | O_CREAT, 0600));
	}
	dir = open(".", O_RDONLY | O_DIRECTORY);
	COSY_START;
	n = getdents64(dir, buffer, sizeof(buffer));
	for (at = 0; at < n; at += entry->d_reclen) {
		entry = (struct dirent64 *)(buffer + at);
		if (entry->d_name[0] == '.')
			continue;
		if (count % 4 == 1)
			unlinkat(dir, entry->d_name, 0);
		if (count % 4 == 2)
			renameat(dir, entry->d_name, dir, "moved");
		if (count % 4 == 3) {
			unlinkat(dir, entry->d_name, 0);
			symlinkat("nowhere", dir, entry->d_name);
		}
		if (fstatat(dir, entry->d_name, &status, AT_SYMLINK_NOFOLLOW))
			results[count] = -errno;
		else
			results[count] = (int)status.st_mode;
		count++;
	}
	COSY_END;
	close(dir);
	printf("changing:");
	for (int i = 0; i < count; i++)
		printf(" %o", (unsigned int)results[i]);
	putchar('\n');
	if (chdir(".."))
		perror("..");
}

/* Another process creates and removes entries. Permanent entries are always found. */
static void vanishing(void)
{
	long wrong = 0;
	pid_t child;

	if (mkdir("vanish", 0755) || chdir("vanish"))
		perror("vanish");
	for (int i = 0; i < 20; i++) {
		char name[16];

		snprintf(name, sizeof(name), "%d", i);
		close(open(name, O_WRONLY | O_CREAT, 0600));
	}
	child = fork();
	if (!child) {
		for (unsigned int i = 0;; i++) {
			char name[16], to[16];

			snprintf(name, sizeof(name), "%u", 100 + i * 7 % 100);
			snprintf(to, sizeof(to), "%u", 100 + i * 11 % 100);
			if (i % 3 == 0)
				close(open(name, O_WRONLY | O_CREAT, 0600));
			else if (i % 3 == 1)
				rename(name, to);
			else
				unlink(to);
		}
	}
	for (int turn = 0; turn < 30; turn++) {
		long count = list(".", 0), stay = 0;

		for (long i = 0; i < count; i++) {
			const struct entry *entry = &entries[i];
			bool changes = strlen(entry->name) == 3;

			stay += entry->name[0] != '.' && !changes && !entry->error &&
				entry->found == entry->number;
			wrong += entry->error && (!changes || entry->error != ENOENT);
		}
		wrong += stay != 20;
	}
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	printf("vanishing: %ld wrong\n", wrong);
	if (chdir(".."))
		perror("..");
}

/* Overlayfs copies files to its upper layer that are opened for writing, or changed. */
static void copied_up(void)
{
	static char buffer[4096], byte[2];
	struct stat before = { 0 }, after = { 0 };
	int same = 0, open_before, dir;
	long count = 0, size = 0, old = 0;
	struct dirent64 *entry;
	struct statx more;
	long n, at;

	open_before = open("file1", O_RDONLY);
	COSY_START;
	dir = open(".", O_RDONLY | O_DIRECTORY);
	while ((n = getdents64(dir, buffer, sizeof(buffer))) > 0) {
		for (at = 0; at < n; at += entry->d_reclen) {
			entry = (struct dirent64 *)(buffer + at);
			if (entry->d_name[0] != 'f')
				continue;
			fstatat(dir, entry->d_name, &before, AT_SYMLINK_NOFOLLOW);
			if (count % 2) {
				int fd = openat(dir, entry->d_name, O_WRONLY | O_APPEND);

				write(fd, "xy", 2);
				close(fd);
			} else {
				fchmodat(dir, entry->d_name, 0604, 0);
			}
			fstatat(dir, entry->d_name, &after, AT_SYMLINK_NOFOLLOW);
			statx(dir, entry->d_name, AT_SYMLINK_NOFOLLOW, STATX_BASIC_STATS, &more);
			same += before.st_ino == after.st_ino && before.st_dev == after.st_dev &&
				more.stx_ino == after.st_ino;
			size += after.st_size * 1000 + (long)more.stx_size + (after.st_mode & 07);
			count++;
		}
	}
	close(dir);
	/* Through a file that was opened before, the file of the lower layer is read. */
	int fd = open("file1", O_WRONLY);
	write(fd, "z", 1);
	close(fd);
	old = read(open_before, byte, sizeof(byte));
	COSY_END;
	close(open_before);
	printf("copied up: %ld, %d as before, size and mode %ld, read %ld\n", count, same, size, old);
}

#define ROUNDS 4

/* The result of each iteration, while another process mounts and unmounts between them. */
static void find_mounts(int go, int done)
{
	static const char *const places[] = { "directory", "file" };
	int found[ROUNDS][2][4] = { { { 0 } } }, dir = open("shared", O_RDONLY | O_DIRECTORY);
	struct stat parent, st = { 0 };
	struct statx more = { 0 };
	char c;

	fstat(dir, &parent);
	COSY_START;
	for (int round = 0; round < ROUNDS; round++) {
		read(go, &c, 1);
		for (int i = 0; i < 2; i++) {
			int fd;

			found[round][i][0] = fstatat(dir, places[i], &st, AT_SYMLINK_NOFOLLOW);
			found[round][i][1] = st.st_dev == parent.st_dev;
			statx(dir, places[i], AT_SYMLINK_NOFOLLOW, STATX_BASIC_STATS, &more);
			found[round][i][2] = (more.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0;
			fd = openat(dir, places[i], O_RDONLY);
			found[round][i][3] = (int)read(fd, &c, 1);
			close(fd);
		}
		write(done, &c, 1);
	}
	COSY_END;
	for (int round = 0; round < ROUNDS; round++)
		for (int i = 0; i < 2; i++)
			printf("  %s: %d, same device %d, mounted %d, read %d\n", places[i],
			       found[round][i][0], found[round][i][1], found[round][i][2],
			       found[round][i][3]);
	fflush(stdout);
	_exit(0);
}

static void must(const char *what, int error)
{
	if (error)
		perror(what);
}

/* In a separate mount namespace, which receives mounts or does not. */
static void propagated(const char *what, unsigned long propagation)
{
	int go[2], done[2];
	pid_t child;
	char c;

	if (pipe(go) || pipe(done))
		perror("pipe");
	printf("%s\n", what);
	fflush(stdout);
	child = fork();
	if (!child) {
		must("unshare", unshare(CLONE_NEWNS));
		must(what, mount(NULL, "shared", NULL, propagation, NULL));
		find_mounts(go[0], done[1]);
	}
	for (int round = 0; round < ROUNDS; round++) {
		if (round == 1) {
			must("mount", mount("tmpfs", "shared/directory", "tmpfs", 0, NULL));
			must("bind", mount("/proc/version", "shared/file", NULL, MS_BIND, NULL));
		} else if (round == 2) {
			must("umount", umount("shared/directory"));
		} else if (round == 3) {
			must("umount", umount2("shared/file", MNT_DETACH));
		}
		if (write(go[1], "", 1) != 1 || read(done[0], &c, 1) != 1)
			printf("it has ended\n");
	}
	waitpid(child, NULL, 0);
	close(go[0]);
	close(go[1]);
	close(done[0]);
	close(done[1]);
}

static void mounted_meanwhile(void)
{
	if (mkdir("shared", 0755) || mkdir("shared/directory", 0755))
		perror("mkdir");
	close(open("shared/file", O_WRONLY | O_CREAT, 0644));
	must("bind", mount("shared", "shared", NULL, MS_BIND, NULL));
	must("shared", mount(NULL, "shared", NULL, MS_SHARED, NULL));
	propagated("a peer", MS_SHARED);
	propagated("a slave", MS_SLAVE);
	propagated("private", MS_PRIVATE);
	must("umount", umount("shared"));
}

int main(int argc, char **argv)
{
	if (argc != 2 || chdir(argv[1]))
		return 1;
	watched();
	accessed();
	mounted_on_demand();
	changing();
	vanishing();
	copied_up();
	if (geteuid() == 0)
		mounted_meanwhile();
	return 0;
}
