// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * Compounds that no compiler would emit: random operations and calls with random hints,
 * by an unprivileged user, in threads that share files and memory, with signals, while others
 * change both. Results are not checked. Every process must be killable, no open file must be lost,
 * and the kernel must report no fault, which is checked after the tests.
 *
 *	random [SECONDS [SEED]]
 */
// REQUIRES: root
// RUN: %compile -I%root/compound-ir %s -o %t
// RUN: %vm setpriv --reuid nobody --regid nogroup --clear-groups %t %seconds | FileCheck %s
// CHECK: passed
#include "programs.h"

#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>

#define WORKERS		3

/* --- random numbers ---------------------------------------------------------- */

static _Thread_local __u64 state;

static unsigned int any(unsigned int n)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (unsigned int)(state >> 16) % n;
}

/* --- processes ---------------------------------------------------------------- */

static void nothing(int sig)
{
	(void)sig;
}

/* A run that has lost its frame; any other error would be repeated without end. */
static void lost(int sig, siginfo_t *info, void *context)
{
	(void)sig;
	(void)context;
	if (info->si_code != SI_KERNEL)
		_exit(1);
}

static void *runner(void *arg)
{
	unsigned int which = (unsigned int)(uintptr_t)arg;
	struct program p;

	state = (__u64)getpid() * 1000003 + which * 7919 + (__u64)(now() * 1e6);
	for (;;) {
		/* Sometimes the frame is where others write. */
		__u64 here[NREGS], *frame = any(3) ? here :
			(__u64 *)(arena + any(PAGES - 1) * PAGE);

		if (rarely())
			ask();
		if (rarely())
			single_call();
		make(&p);
		run_some(any(3) ? &runs[which] : &runs[any(THREADS)], frame, &p);
	}
	return NULL;
}

/* Native operations meanwhile. */
static void meddle(pthread_t *threads, char *const *self)
{
	struct rlimit limit;
	char *at = arena + (1 + any(PAGES - 1)) * PAGE;
	size_t len = (1 + any(8)) * PAGE;
	pid_t child;

	if (at + len > arena + PAGES * PAGE)
		len = PAGE;
	switch (any(16)) {
	case 0:
		munmap(at, len);
		break;
	case 1:
		mprotect(at, len, (int)any(4));
		break;
	case 2:
		madvise(at, len, MADV_DONTNEED);
		break;
	case 3:
		madvise(at, len, any(2) ? MADV_PAGEOUT : MADV_FREE);
		break;
	case 4:
	case 5:
	case 6:
		mmap(at, len, PROT_READ | PROT_WRITE, MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS, -1,
		     0);
		break;
	case 7:
		mmap(at, len, PROT_READ | PROT_WRITE, MAP_FIXED | MAP_SHARED,
		     (int)(3 + any(10)), 0);
		break;
	case 8:
		if (truncate("a", any(100000)) == 0 && rarely())
			rename("a", "b");
		break;
	case 9:
		dup2((int)any(20), (int)(3 + any(24)));
		break;
	case 10:
		close((int)(3 + any(24)));
		break;
	case 11:
		child = fork();
		if (child == 0)
			_exit(0);
		if (child > 0)
			waitpid(child, NULL, 0);
		break;
	case 12:
		pthread_kill(threads[any(THREADS)], SIGUSR1);
		break;
	case 13:
		if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
			limit.rlim_cur = 16 + any(40);
			setrlimit(RLIMIT_NOFILE, &limit);
		}
		break;
	case 14:
		if (rarely() && rarely())
			execv("/proc/self/exe", self);
		break;
	default:
		if (rarely())
			syscall(SYS_unshare, CLONE_FILES);
	}
}

/* Never returns; the directory is the current one. */
static void worker(char *const *self)
{
	struct itimerval often = { { 0, 3000 }, { 0, 3000 } };
	struct sigaction action = { .sa_handler = nothing };
	pthread_t threads[THREADS];

	/* Large files would fill the memory of the file system. */
	setrlimit(RLIMIT_FSIZE, &(struct rlimit){ 1 << 20, 1 << 20 });
	setrlimit(RLIMIT_AS, &(struct rlimit){ 1ul << 30, 1ul << 30 });
	setrlimit(RLIMIT_CORE, &(struct rlimit){ 0, 0 });
	signal(SIGXFSZ, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	sigaction(SIGUSR1, &action, NULL);
	sigaction(SIGALRM, &action, NULL);
	action.sa_sigaction = lost;
	action.sa_flags = SA_SIGINFO;
	sigaction(SIGSEGV, &action, NULL);
	state = (__u64)getpid() * 7919 + (__u64)(now() * 1e6);

	make_files();
	for (uintptr_t i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, runner, (void *)i))
			_exit(0);
	setitimer(ITIMER_REAL, &often, NULL);
	for (;;) {
		meddle(threads, self);
		usleep(100);
	}
}

static long open_files(void)
{
	FILE *f = fopen("/proc/sys/fs/file-nr", "r");
	long n = -1;

	if (!f || fscanf(f, "%ld", &n) != 1)
		die("file-nr");
	fclose(f);
	return n;
}

static pid_t start(char *const *self, const char *dir)
{
	pid_t pid = fork();

	if (pid == 0) {
		/* Its output and changes end with it. */
		freopen("/dev/null", "r+", stdout);
		dup2(1, 2);
		setsid();
		if (chdir(dir))
			_exit(1);
		execv("/proc/self/exe", self);
		_exit(1);
	}
	return pid;
}

/* SIGKILL soon ends it. */
static bool ends(pid_t pid)
{
	double deadline = now() + 120;

	kill(pid, SIGKILL);
	while (now() < deadline) {
		if (waitpid(pid, NULL, WNOHANG) == pid)
			return true;
		usleep(1000);
	}
	return false;
}

int main(int argc, char **argv)
{
	static char *const self[] = { "random", "--worker", NULL };
	char dirs[WORKERS][32];
	double deadline;
	pid_t workers[WORKERS];
	unsigned int killed = 0, stuck = 0;
	long files;

	if (argc > 1 && !strcmp(argv[1], "--worker"))
		worker(self);
	close(open_device());
	state = argc > 2 ? strtoull(argv[2], NULL, 0) : (__u64)(now() * 1e6);
	printf("seed %llu\n", state);
	fflush(stdout);
	deadline = now() + (argc > 1 ? atof(argv[1]) : 15);
	files = open_files();
	for (int i = 0; i < WORKERS; i++) {
		strcpy(dirs[i], "/tmp/random-XXXXXX");
		if (!mkdtemp(dirs[i]))
			die("mkdtemp");
		workers[i] = start(self, dirs[i]);
	}
	while (now() < deadline && !stuck) {
		unsigned int i = any(WORKERS);

		usleep(any(200000));
		if (ends(workers[i]))
			killed++;
		else
			stuck++;
		workers[i] = start(self, dirs[i]);
	}
	for (int i = 0; i < WORKERS; i++) {
		char command[64];

		stuck += !ends(workers[i]);
		snprintf(command, sizeof(command), "chmod -R u+rwx %s; rm -rf %s", dirs[i], dirs[i]);
		if (system(command))
			die(command);
	}
	check(!stuck, "what runs compounds can be killed");
	/* Other processes open files, too, but fewer; and closing all of them takes a moment. */
	for (deadline = now() + 120; open_files() >= files + 300 && now() < deadline;)
		usleep(100000);
	check(open_files() < files + 300, "no open file is lost: %ld before, %ld after", files,
	      open_files());
	printf("%u killed\n", killed);
	return finish();
}
