// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * module.c - libFuzzer target: the module, in the VM, guided by its own coverage.
 *
 * An input is the choices that test/kernel/programs.h and loops.h make: which compounds are made,
 * how they are run, what the device is asked for, what a loop executes.  Each input is executed by
 * a child, as a plain user with files, memory and descriptors of its own, in up to three threads
 * and under signals.  The counters of kernel/cosy/coverage.c, which all
 * processes share, are libFuzzer's extra counters.
 *
 * Nothing is claimed about results: the kernel has to survive without a complaint, and
 * every child has to be killable.
 *
 * Started by test/fuzz/run, with two variables: COSY_FUZZ_FUNCTIONS names an object of
 * user functions, COSY_FUZZ_SEEN the file that tells which counters have ever been set.
 */
// REQUIRES: root, long, vm
// RUN: %S/run --runs 0
#include "../kernel/function.h"
#include "loops.h"

#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/sysmacros.h>
#include <sys/time.h>
#include <sys/wait.h>

#define NR_COUNTERS	(128 * 1024)
#define NOBODY		65534
#define MAX_FUNCTIONS	16
/* Where the programs of user functions are, out of reach of what compounds close. */
#define FUNCTION_FDS	200

__attribute__((section("__libfuzzer_extra_counters"), aligned(4096)))
static uint8_t counters[NR_COUNTERS];
static uint8_t seen[NR_COUNTERS];

static struct segment segment;
static unsigned int nr_functions;

/* --- the input's bytes as choices ------------------------------------------------ */

static _Thread_local const uint8_t *at;
static _Thread_local size_t left;

/* At the end of the input it is 0 for ever. */
static unsigned int any(unsigned int n)
{
	unsigned int value = 0;

	for (unsigned int range = n - 1; range && left; range >>= 8) {
		value = value << 8 | *at++;
		left--;
	}
	return value % n;
}

/* --- what a child does ----------------------------------------------------------- */

static void nothing(int sig)
{
	(void)sig;
}

static void lost(int sig)
{
	(void)sig;
	_exit(1);
}

/* A user function, bound as it should be or nearly so, and called. */
static void call_function(__u64 *frame, struct cosy_run *run)
{
	struct cosy_bind bind = {
		.size = sizeof(bind),
		.handle = load_caller(dev),
		.fd = FUNCTION_FDS + (int)any(nr_functions),
		.base = (uintptr_t)segment.base,
		.pointers = any(4) ? 1 : any(64),
		.trial = rarely() ? any(3) : 0,
		.stacks = (uintptr_t)segment.base + PAGE,
		.stack_size = any(2) ? 512 : 0,
		.stack_stride = 1024,
		.nstacks = any(2) ? 2 : 0,
	};
	unsigned int entries = 1 + any(4);

	if (rarely())
		((__u32 *)&bind)[any(sizeof(bind) / 4)] = (__u32)number();
	ioctl(dev, COSY_IOC_BIND, &bind);
	memset(run, 0, sizeof(*run));
	run->handle = bind.handle;
	run->frame = (uintptr_t)frame;
	run->errno_addr = (uintptr_t)&errno;
	frame[1] = (uintptr_t)segment.base + (any(2) ? 8 * any(600) : (__u64)number());
	frame[2] = (__u64)number();
	frame[3] = any(3) ? any(2000) : (__u64)memory();
	while (entries--) {
		run->flags = any(2) ? COSY_RUN_COUNT : any(16);
		run->slice = any(3);
		enter(dev, run);
		run->status = COSY_AGAIN;
	}
	bind.fd = -1;
	if (any(2))
		ioctl(dev, COSY_IOC_BIND, &bind);
	ioctl(dev, COSY_IOC_UNLOAD, &bind.handle);
}

/* Any bytes as an image, most of which the verifier rejects. */
static void load_bytes(void)
{
	struct cosy_load load = { .size = sizeof(load) };
	size_t size = any(2000);
	uint8_t *image = malloc(size + 1);

	if (!image)
		return;
	for (size_t i = 0; i < size; i++)
		image[i] = (uint8_t)any(256);
	load.image = (uintptr_t)image;
	load.image_size = (__u32)size;
	if (ioctl(dev, COSY_IOC_LOAD, &load) == 0)
		ioctl(dev, COSY_IOC_UNLOAD, &load.handle);
	free(image);
}

struct share {
	const uint8_t *bytes;
	size_t size;
	unsigned int number;
};

static void *thread(void *arg)
{
	struct share *share = arg;
	__u64 here[NREGS];
	struct program p;

	at = share->bytes;
	left = share->size;
	while (left) {
		__u64 *frame = any(3) ? here : (__u64 *)(arena + any(PAGES - 1) * PAGE);
		struct cosy_run *run = any(3) ? &runs[share->number] : &runs[any(THREADS)];

		switch (any(16)) {
		case 0:
			ask();
			break;
		case 1:
			load_bytes();
			break;
		case 2:
			call_function(here, run);
			break;
		case 3:
			mprotect(arena + any(PAGES) * PAGE, PAGE, (int)any(4));
			break;
		case 4:
		case 5:
			use_loop();
			break;
		default:
			make(&p);
			run_some(run, frame, &p);
		}
	}
	return NULL;
}

static void make_device(const char *name, unsigned int major_number, unsigned int minor_number)
{
	if (mknod(name, S_IFCHR | 0666, makedev(major_number, minor_number)) || chmod(name, 0666))
		_exit(2);
}

/* A root of its own with what programs.h names, which goes when the child does; a plain user. */
static void enter_root(void)
{
	struct stat cosy;

	if (stat(COSY_DEVICE, &cosy) || unshare(CLONE_NEWNS) ||
	    mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("fuzz", "/mnt", "tmpfs", 0, "size=16m,mode=777") || chdir("/mnt") ||
	    mkdir("dev", 0755) || mkdir("proc", 0755) || mount("proc", "proc", "proc", 0, NULL))
		_exit(2);
	make_device("dev/null", 1, 3);
	make_device("dev/zero", 1, 5);
	make_device("dev/full", 1, 7);
	make_device("dev/cosy", major(cosy.st_rdev), minor(cosy.st_rdev));
	if (mkdir("dev/shm", 01777) || chroot(".") || setresgid(NOBODY, NOBODY, NOBODY) ||
	    setresuid(NOBODY, NOBODY, NOBODY))
		_exit(2);
}

static void child(const uint8_t *bytes, size_t size)
{
	struct itimerval often = { { 0, 20000 }, { 0, 20000 } };
	struct sigaction action = { .sa_handler = nothing };
	sigset_t alarms;
	struct share shares[THREADS];
	pthread_t threads[THREADS];
	unsigned int n, started = 0;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	at = bytes;
	left = size;
	n = 1 + any(THREADS);
	enter_root();
	close_range(0, FUNCTION_FDS - 1, 0);
	for (int i = 0; i < 3; i++)
		open("/dev/null", O_RDWR);
	setrlimit(RLIMIT_FSIZE, &(struct rlimit){ 1 << 20, 1 << 20 });
	setrlimit(RLIMIT_CORE, &(struct rlimit){ 0, 0 });
	signal(SIGXFSZ, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGABRT, SIG_DFL);
	signal(SIGSEGV, lost);
	signal(SIGBUS, lost);
	sigaction(SIGALRM, &action, NULL);
	make_files();
	make_loop();
	/* What blocks is interrupted. */
	setitimer(ITIMER_REAL, &often, NULL);
	for (; started < n; started++) {
		shares[started] = (struct share){ at + left / n * started, left / n, started };
		if (pthread_create(&threads[started], NULL, thread, &shares[started]))
			break;
	}
	/* The first thread would get all of them. */
	sigemptyset(&alarms);
	sigaddset(&alarms, SIGALRM);
	pthread_sigmask(SIG_BLOCK, &alarms, NULL);
	while (started)
		pthread_join(threads[--started], NULL);
	_exit(0);
}

/* --- libFuzzer's side ------------------------------------------------------------ */

static void write_seen(void)
{
	const char *file = getenv("COSY_FUZZ_SEEN");
	int fd = file ? open(file, O_WRONLY | O_CREAT | O_TRUNC, 0644) : -1;

	if (fd < 0)
		return;
	if (write(fd, seen, sizeof(seen)) != sizeof(seen))
		perror(file);
	close(fd);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	const char *functions = getenv("COSY_FUZZ_FUNCTIONS");
	struct bpf_program *program;
	struct bpf_object *object;
	int fd = open("/dev/cosy-coverage", O_RDWR | O_CLOEXEC);

	(void)argc;
	(void)argv;
	if (fd < 0 || mmap(counters, sizeof(counters), PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_FIXED, fd, 0) != counters)
		die("/dev/cosy-coverage (the module is to be built with COSY_COVERAGE=y)");
	dev = open_device();
	segment = segment_create();
	object = functions_load(dev, functions, &segment);
	bpf_object__for_each_program(program, object) {
		if (nr_functions == MAX_FUNCTIONS)
			break;
		if (bpf_program__fd(program) >= 0 &&
		    dup2(bpf_program__fd(program), FUNCTION_FDS + (int)nr_functions) >= 0)
			nr_functions++;
	}
	if (!nr_functions)
		die("no user function");
	close(dev);
	atexit(write_seen);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	static unsigned int inputs;
	double begun = now();
	bool killed = false;
	int status;
	pid_t pid;

	if (!size)
		return 0;
	pid = fork();
	if (pid < 0)
		return 0;
	if (!pid)
		child(bytes, size);
	while (waitpid(pid, &status, WNOHANG) != pid) {
		if (now() - begun > 3 && !killed) {
			kill(pid, SIGKILL);
			killed = true;
		}
		if (now() - begun > 300) {
			fprintf(stderr, "FAILED: a process does not die of SIGKILL\n");
			abort();
		}
		usleep(500);
	}
	if (WIFEXITED(status) && WEXITSTATUS(status) == 2) {
		fprintf(stderr, "FAILED: a child cannot prepare its root\n");
		abort();
	}
	for (size_t i = 0; i < sizeof(seen); i += 8)
		*(uint64_t *)(seen + i) |= *(uint64_t *)(counters + i);
	if (++inputs % 200 == 0)
		write_seen();
	return 0;
}
