// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * module.c - libFuzzer target: the module, in the VM, guided by its own coverage.
 *
 * An input is a series of choices for test/kernel/programs.h, functions.h, loops.h, rings.h and
 * shares.h: which compounds are made, how they run, the requests to the device, the work of a loop
 * and of its ring, the calls in shares, and the seccomp filters. The first byte chooses the module's parameters. A child executes each input as an
 * unprivileged user with its own files, memory and descriptors, in up to three threads and with
 * signals. The counters of kernel/cosy/coverage.c, which all processes share, are libFuzzer's extra
 * counters.
 *
 * Results are not checked. The kernel must survive without reporting a fault, and every child must
 * be killable. An input after which the kernel has reported one is a finding.
 *
 * test/fuzz/run starts it with five variables: COSY_FUZZ_FUNCTIONS is an object of user
 * functions, COSY_FUZZ_DISK a directory on a disk that all inputs share, COSY_FUZZ_SEEN the file
 * with the counters that were ever set, COSY_FUZZ_LAST the file with the last input, which tells
 * what the kernel has died of, COSY_FUZZ_SECONDS how long an input may take.
 */
// REQUIRES: root, long, vm
// RUN: %S/run --runs 0
#include "shares.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>

#define NR_COUNTERS	(128 * 1024)
#define NOBODY		65534
#define MAX_FUNCTIONS	16

__attribute__((section("__libfuzzer_extra_counters"), aligned(4096)))
static uint8_t counters[NR_COUNTERS];
static uint8_t seen[NR_COUNTERS];

/* --- the input's bytes as choices ------------------------------------------------ */

static _Thread_local const uint8_t *at;
static _Thread_local size_t left;

/* After the end of the input it is always 0. */
static unsigned int any(unsigned int n)
{
	unsigned int value = 0;

	for (unsigned int range = n - 1; range && left; range >>= 8) {
		value = value << 8 | *at++;
		left--;
	}
	return value % n;
}

/* --- the work of a child --------------------------------------------------------- */

static void nothing(int sig)
{
	(void)sig;
}

static void lost(int sig)
{
	(void)sig;
	_exit(1);
}

/*
 * A filter that allows most calls. Some of one kind may fail, or entering the module may be
 * forbidden.
 */
static void set_filter(unsigned int flags)
{
	const __u32 nr = any(6) ? (__u32)fast[any(NR_FAST)] : SYS_lseek;
	const __u32 data = any(3) ? offsetof(struct seccomp_data, args) + 8 * any(6) :
				    offsetof(struct seccomp_data, nr);
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, nr, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, data),
		BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, any(20), 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(code) / sizeof(*code), code };

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
}

/* Any bytes as an image. The verifier rejects most of them. */
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

/* What a thread has of an input. */
struct part {
	const uint8_t *bytes;
	size_t size;
	unsigned int number;
};

/* Interrupt blocking calls in each thread, because a process's signal goes to only one thread. */
static void interrupt_often(void)
{
	struct itimerspec often = { { 0, 5000000 }, { 0, 5000000 } };
	struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGALRM };
	timer_t timer;

	event._sigev_un._tid = gettid();
	if (timer_create(CLOCK_MONOTONIC, &event, &timer) == 0)
		timer_settime(timer, 0, &often, NULL);
}

static void *thread(void *arg)
{
	struct part *part = arg;
	__u64 here[NREGS];
	struct program p;

	interrupt_often();
	at = part->bytes;
	left = part->size;
	while (left) {
		__u64 *frame = any(3) ? here : (__u64 *)(arena + any(PAGES - 1) * PAGE);
		struct cosy_run *run = any(3) ? &runs[part->number] : &runs[any(THREADS)];

		switch (any(20)) {
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
		case 6:
			use_loop();
			break;
		case 7:
		case 8:
			single_call();
			break;
		case 9:
			if (rarely())
				set_filter(SECCOMP_FILTER_FLAG_TSYNC);
			break;
		case 10:
		case 11:
		case 12:
			use_ring();
			break;
		case 13:
		case 14:
			use_share();
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

/*
 * A separate root with the names of programs.h, which disappears with the child; an unprivileged
 * user.
 */
static void enter_root(void)
{
	const char *disk = getenv("COSY_FUZZ_DISK");
	struct stat cosy;

	if (stat(COSY_DEVICE, &cosy) || unshare(CLONE_NEWNS) ||
	    mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("fuzz", "/mnt", "tmpfs", 0, "size=16m,mode=777") || chdir("/mnt") ||
	    mkdir("dev", 0755) || mkdir("proc", 0755) || mount("proc", "proc", "proc", 0, NULL) ||
	    (disk && (mkdir("disk", 0755) || mount(disk, "disk", NULL, MS_BIND, NULL))))
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
	struct sigaction action = { .sa_handler = nothing };
	struct part parts[THREADS];
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
	make_ring();
	make_shares();
	for (unsigned int filters = any(4); filters > 1; filters--)
		set_filter(0);
	if (rarely())
		unshare(CLONE_NEWUSER);
	for (; started < n; started++) {
		parts[started] = (struct part){ at + left / n * started, left / n, started };
		if (pthread_create(&threads[started], NULL, thread, &parts[started]))
			break;
	}
	while (started)
		pthread_join(threads[--started], NULL);
	_exit(0);
}

/* --- libFuzzer's side ------------------------------------------------------------ */

/* The module's parameters for most inputs, and other values for some. */
static const struct parameter {
	const char *name, *usual, *odd;
} parameters[] = {
	{ "max_run_operations", "0", "2000" }, { "max_run_ms", "0", "1" },
	{ "kill_over_limit", "N", "Y" },       { "max_loads", "4096", "2" },
	{ "max_waiters", "64", "1" },	       { "max_reads", "4096", "0" },
	{ "user_memory", "256", "1" },	       { "time_slice", "1", "10" },
	{ "function_time", "10000", "1" },
};

static void set_parameter(const char *name, const char *value)
{
	char path[100];
	int fd;

	snprintf(path, sizeof(path), "/sys/module/cosy/parameters/%s", name);
	fd = open(path, O_WRONLY);
	if (fd < 0 || write(fd, value, strlen(value)) < 0)
		die(path);
	close(fd);
}

/* Every second input has the default parameters. */
static const struct parameter *choose_parameter(uint8_t byte)
{
	return byte & 1 ? &parameters[(byte >> 1) % (sizeof(parameters) / sizeof(*parameters))] :
			  NULL;
}

static void add_seen(void)
{
	for (size_t i = 0; i < sizeof(seen); i += 8)
		*(uint64_t *)(seen + i) |= *(uint64_t *)(counters + i);
}

/* Continue with the counters of an earlier run. */
static void read_seen(void)
{
	const char *file = getenv("COSY_FUZZ_SEEN");
	int fd = file ? open(file, O_RDONLY) : -1;

	if (fd < 0)
		return;
	if (read(fd, seen, sizeof(seen)) < 0)
		perror(file);
	close(fd);
}

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

static double seconds = 1;
static int last_input = -1;

static void save_input(const uint8_t *bytes, size_t size)
{
	if (last_input < 0)
		return;
	if (pwrite(last_input, bytes, size, 0) != (ssize_t)size || ftruncate(last_input, (off_t)size))
		die("the last input");
}

static int messages = -1;

/* Return true if the kernel has reported a fault since the last call. */
static bool kernel_complains(void)
{
	static const char *const faults[] = { "BUG:", "WARNING:", "KASAN", "UBSAN", "Oops" };
	bool complains = false;
	char message[8192];
	ssize_t n;

	/* EPIPE: messages were overwritten before they were read. */
	while ((n = read(messages, message, sizeof(message) - 1)) > 0 || errno == EPIPE) {
		message[n > 0 ? n : 0] = 0;
		for (size_t i = 0; i < sizeof(faults) / sizeof(*faults); i++)
			complains |= strstr(message, faults[i]) != NULL;
	}
	return complains;
}

static void read_environment(void)
{
	const char *last = getenv("COSY_FUZZ_LAST"), *limit = getenv("COSY_FUZZ_SECONDS");

	if (limit)
		seconds = atof(limit);
	if (last)
		last_input = open(last, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	messages = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if ((last && last_input < 0) || messages < 0 || lseek(messages, 0, SEEK_END) < 0)
		die("/dev/kmsg, or the file for the last input");
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
	read_environment();
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
	/* Functions find memory and stacks there. */
	segment.base[0] = segment.base[PAGE] = 0;
	close(dev);
	read_seen();
	/* The coverage of loading the module and functions. */
	add_seen();
	atexit(write_seen);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	static unsigned int inputs;
	const struct parameter *odd;
	double begun = now();
	bool killed = false;
	int status;
	pid_t pid;

	if (!size)
		return 0;
	save_input(bytes, size);
	odd = choose_parameter(*bytes);
	if (odd)
		set_parameter(odd->name, odd->odd);
	pid = fork();
	if (pid < 0)
		return 0;
	if (!pid)
		child(bytes + 1, size - 1);
	while (waitpid(pid, &status, WNOHANG) != pid) {
		if (now() - begun > seconds && !killed) {
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
	if (kernel_complains()) {
		fprintf(stderr, "FAILED: the kernel has reported a fault\n");
		abort();
	}
	if (odd)
		set_parameter(odd->name, odd->usual);
	add_seen();
	if (++inputs % 200 == 0)
		write_seen();
	return 0;
}
