// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * Auditing sees its events of a compound, and file names that it keeps remain valid as
 * long as it needs them. In a separate VM, because auditing can never be disabled completely
 * again.
 */
// REQUIRES: root
// RUN: %compile %s -o %t
// RUN: %root/scripts/vm/run -- %t
#include "loop.h"

#include <linux/audit.h>
#include <linux/netlink.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

static __u64 frame[4];
static struct cosy_run run;

static bool traced(long ret)
{
	return ret == COSY_RUN_LEFT && run.status == COSY_STEP &&
	       run.value == COSY_STEP_TRACED;
}

/* Returns 0 or the error in the kernel's answer. */
static int audit(unsigned int type, const void *data, unsigned int size)
{
	struct {
		struct nlmsghdr h;
		char data[2048];
	} message = { .h = { .nlmsg_len = NLMSG_LENGTH(size), .nlmsg_type = type,
			     .nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK } };
	struct nlmsgerr *answer = (void *)message.data;
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_AUDIT);
	int err = -1;

	if (fd < 0)
		return errno;
	memcpy(message.data, data, size);
	if (send(fd, &message, message.h.nlmsg_len, 0) > 0) {
		/* Other messages may precede the answer. */
		while (recv(fd, &message, sizeof(message), 0) > 0 &&
		       message.h.nlmsg_type != NLMSG_ERROR)
			;
		err = -answer->error;
	}
	close(fd);
	return err;
}

/* The result of an entry of a loop. */
static int entry_status(struct loop *loop)
{
	submit(loop, 0, 0, SYS_getpid, 0, 0, 0, 0);
	return execute(loop) == 1 && collect(loop) == 0 ? loop->entries[0].status : -1;
}

/* A rule for acct(), which no process calls. */
static int rule(unsigned int type)
{
	struct audit_rule_data data = { .flags = AUDIT_FILTER_EXIT, .action = AUDIT_ALWAYS };

	data.mask[SYS_acct / 32] = 1u << SYS_acct % 32;
	return audit(type, &data, sizeof(data));
}

/* A thread that adds a rule while another one sleeps inside the kernel, and then wakes it. */
struct ruler {
	pid_t sleeper;
	void (*wake)(struct ruler *ruler);
	struct loop *loop;
	int fd;
	int err;
};

static void *add_rule(void *arg)
{
	struct ruler *ruler = arg;

	while (!is_asleep(ruler->sleeper))
		sched_yield();
	ruler->err = rule(AUDIT_ADD_RULE);
	ruler->wake(ruler);
	return NULL;
}

static void wake_by_write(struct ruler *ruler)
{
	if (write(ruler->fd, "x", 1) != 1)
		die("write");
}

static void wake_by_work(struct ruler *ruler)
{
	struct loop *loop = ruler->loop;
	uint8_t status;

	submit(loop, 0, COSY_ENTRY_THREAD, SYS_getpid, 0, 0, 0, 0);
	do {
		/* Also publishes the result, if the thread makes the call. */
		if (execute(loop) < 0)
			die("execute");
		status = __atomic_load_n(&loop->entries[0].status, __ATOMIC_ACQUIRE);
	} while (status == COSY_ENTRY_SUBMITTED || status == COSY_ENTRY_RUNNING);
	/* Then the thread would wait for the next call. */
	__atomic_store_n(&loop->page->recall, COSY_RECALL, __ATOMIC_RELEASE);
	enter_loop(loop, COSY_ASYNC_WORK | COSY_ASYNC_CANCEL);
}

static pthread_t rule_meanwhile(struct ruler *ruler, void (*wake)(struct ruler *ruler))
{
	pthread_t thread;

	ruler->sleeper = gettid();
	ruler->wake = wake;
	if (pthread_create(&thread, NULL, add_rule, ruler))
		die("pthread_create");
	return thread;
}

/* Delete the rule that the thread has added. Return false if either has failed. */
static bool end_rule(struct ruler *ruler, pthread_t thread)
{
	pthread_join(thread, NULL);
	return !ruler->err && !rule(AUDIT_DEL_RULE);
}

/* A run that has entered before there was a rule: reads from a pipe, and then calls getpid(). */
static int test_asleep_in_run(int dev)
{
	__u64 handle = must_load(dev, 4, SYS(0, SYS_read, 3), ARG(1), ARG(2), ARGI(1),
				 SYS(0, SYS_getpid, 0), EXIT(0));
	struct ruler ruler = {};
	pthread_t thread;
	int pipes[2];
	char byte;
	bool left;

	if (pipe(pipes))
		die("pipe");
	ruler.fd = pipes[1];
	frame[1] = (__u64)pipes[0];
	frame[2] = (uintptr_t)&byte;
	thread = rule_meanwhile(&ruler, wake_by_write);
	left = traced(run_frame(dev, handle, frame, &run)) && frame[0] == 1;
	return !end_rule(&ruler, thread) ? 20 : left ? 0 : 21;
}

/* A thread that waits for calls of a loop. */
static int test_asleep_at_work(struct loop *loop)
{
	struct ruler ruler = { .loop = loop };
	pthread_t thread = rule_meanwhile(&ruler, wake_by_work);
	long long taken;

	do {
		taken = enter_loop(loop, COSY_ASYNC_WORK | loop->page->id);
	} while (taken == (long long)COSY_ASYNC_ENTERED &&
		 !__atomic_load_n(&loop->page->recall, __ATOMIC_ACQUIRE));
	if (!end_rule(&ruler, thread))
		return 22;
	while (collect(loop) >= 0)
		;
	return taken == (long long)(COSY_ASYNC_ENTERED | COSY_WORK_TAKEN) &&
	       loop->entries[0].status == COSY_ENTRY_USER ? 0 : 23;
}

/* A thread that sleeps in a loop until an entry can be executed. */
static int test_asleep_in_loop(struct loop *loop)
{
	struct ruler ruler = {};
	pthread_t thread;
	int sv[2], index;
	char byte;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, sv))
		die("socketpair");
	ruler.fd = sv[1];
	submit_recv(loop, 1, sv[0], &byte);
	loop->page->sleep_fd = -1;
	loop->page->sleep_ns = COSY_ASYNC_FOR_EVER;
	thread = rule_meanwhile(&ruler, wake_by_write);
	while ((index = collect(loop)) < 0)
		enter_loop(loop, COSY_ASYNC_SLEEP | COSY_ASYNC_AWAIT | COSY_ASYNC_MAX_DONE);
	if (!end_rule(&ruler, thread))
		return 24;
	return index == 1 && loop->entries[1].status == COSY_ENTRY_LEFT ? 0 : 25;
}

/*
 * Auditing applies to processes that are created while it is enabled. Their calls are checked only
 * if there is a rule.
 */
static void test_audit(int dev, __u64 getpid_handle)
{
	struct audit_status on = { .mask = AUDIT_STATUS_ENABLED, .enabled = 1 };
	int status, err = audit(AUDIT_SET, &on, sizeof(on));
	pid_t pid;

	if (err) {
		printf("not checked: auditing cannot be turned on: %s\n", strerror(err));
		return;
	}
	pid = fork();
	if (!pid) {
		struct loop loop;

		if (run_frame(dev, getpid_handle, frame, &run) != done(0))
			_exit(1);
		device = dev;
		if (create(&loop, 64) || entry_status(&loop) != COSY_ENTRY_DONE)
			_exit(6);
		if (rule(AUDIT_ADD_RULE))
			_exit(2);
		status = !traced(run_frame(dev, getpid_handle, frame, &run)) ? 3 :
			 entry_status(&loop) != COSY_ENTRY_USER ? 7 : 0;
		if (rule(AUDIT_DEL_RULE))
			_exit(4);
		if (!status && entry_status(&loop) != COSY_ENTRY_DONE)
			status = 8;
		_exit(status ? status :
		      run_frame(dev, getpid_handle, frame, &run) == done(0) ? 0 : 5);
	}
	waitpid(pid, &status, 0);
	check(!status, "audited without rules calls run, with rules they do not (%#x)", status);
	pid = fork();
	if (!pid) {
		struct loop loop;

		device = dev;
		if (create(&loop, 64))
			_exit(1);
		status = test_asleep_in_run(dev);
		check(!status, "a run that was asleep is left after a rule was added (%d)", status);
		status = test_asleep_at_work(&loop);
		check(!status, "and a thread at work takes its call to user mode (%d)", status);
		status = test_asleep_in_loop(&loop);
		check(!status, "and a thread asleep in a loop gives its call back (%d)", status);
		_exit(failures);
	}
	waitpid(pid, &status, 0);
	check(!status, "calls after a sleep inside the kernel are audited (%#x)", status);
	on.enabled = 0;
	audit(AUDIT_SET, &on, sizeof(on));
	pid = fork();
	if (!pid)
		_exit(run_frame(dev, getpid_handle, frame, &run) != done(0));
	waitpid(pid, &status, 0);
	check(!status, "and they run when auditing has been turned off");
}

/* --- a record that is only made while a name is used ------------------------------- */

/* A name of the maximum length that a compound has on the stack. */
#define DIRECTORY	"/tmp/audited-directory"
#define NAME		DIRECTORY "/name-of-a-file"
#define PROFILE		"cosy-audited"

/* The format of an AppArmor profile for the kernel: policy_unpack.c. */
enum { U32 = 2, NAMED = 4, STRING = 5, STRUCT = 7, STRUCTEND = 8 };

static void add_text(FILE *to, int code, const char *text)
{
	unsigned short size = (unsigned short)(strlen(text) + 1);

	fputc(code, to);
	fwrite(&size, sizeof(size), 1, to);
	fwrite(text, size, 1, to);
}

static void add_u32(FILE *to, unsigned int value)
{
	fputc(U32, to);
	fwrite(&value, sizeof(value), 1, to);
}

/* Loads a profile that allows nothing and logs everything. */
static bool load_profile(void)
{
	FILE *to;

	mount("none", "/sys/kernel/security", "securityfs", 0, NULL);
	to = fopen("/sys/kernel/security/apparmor/.replace", "w");
	if (!to)
		return false;
	add_text(to, NAMED, "version");
	add_u32(to, 5);
	add_text(to, NAMED, "profile");
	fputc(STRUCT, to);
	add_text(to, STRING, PROFILE);
	add_text(to, NAMED, "flags");
	fputc(STRUCT, to);
	add_u32(to, 0);
	add_u32(to, 1);
	add_u32(to, 0);
	fputc(STRUCTEND, to);
	for (int i = 0; i < 4; i++)
		add_u32(to, 0);
	fputc(STRUCTEND, to);
	return !fclose(to);
}

static bool enter_profile(void)
{
	static const char text[] = "changeprofile " PROFILE;
	int fd = open("/proc/self/attr/apparmor/current", O_WRONLY);

	return fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text) && !close(fd);
}

/* Wait for a record of @type that contains @what. Return false if there is none. */
static bool recorded(int log, unsigned int type, const char *what)
{
	struct pollfd some = { log, POLLIN, 0 };
	char record[8192] __attribute__((aligned(8)));
	struct nlmsghdr *h = (void *)record;
	ssize_t n;

	while (poll(&some, 1, 100000) > 0) {
		n = recv(log, record, sizeof(record) - 1, 0);
		if (n < (ssize_t)sizeof(*h))
			return false;
		record[n] = '\0';
		if (h->nlmsg_type == type && strstr(NLMSG_DATA(h), what))
			return true;
	}
	return false;
}

/*
 * A directory is searched by a capability, for which AppArmor makes a record. So the name that is
 * looked up also becomes a record, when the kernel is left.
 */
static void test_names(int dev)
{
	struct audit_status on = { .mask = AUDIT_STATUS_ENABLED, .enabled = 1 };
	struct sockaddr_nl readers = { .nl_family = AF_NETLINK, .nl_groups = 1 };
	__u64 handle = must_load(dev, 4, SYS(0, SYS_stat, 2), ARG(1), ARG(2), EXIT(0));
	/* Not the child's own stack before it is written to, because that had the name. */
	__u64 *registers = must_map(4096);
	int log = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_AUDIT), status;
	static struct stat st;
	pid_t pid;

	if (bind(log, (void *)&readers, sizeof(readers)))
		die("records of auditing");
	if (mkdir(DIRECTORY, 0700) || mknod(NAME, S_IFREG | 0600, 0) ||
	    chown(DIRECTORY, 65534, 65534))
		die(NAME);
	if (!load_profile()) {
		printf("not checked: no AppArmor\n");
		return;
	}
	audit(AUDIT_SET, &on, sizeof(on));
	registers[1] = (uintptr_t)NAME;
	registers[2] = (uintptr_t)&st;
	pid = fork();
	if (!pid) {
		if (!enter_profile())
			_exit(1);
		_exit(run_frame(dev, handle, registers, &run) == done(0) && !registers[0] &&
		      S_ISREG(st.st_mode) ? 0 : 2);
	}
	waitpid(pid, &status, 0);
	check(!status, "a file is looked at by a process that is complained of (%#x)", status);
	check(recorded(log, AUDIT_PATH, "name=\"" NAME "\""),
	      "the records contain the name of the file");
	on.enabled = 0;
	audit(AUDIT_SET, &on, sizeof(on));
	close(log);
}

int main(void)
{
	int dev = open_device();

	test_audit(dev, must_load(dev, 4, SYS(0, SYS_getpid, 0), EXIT(0)));
	test_names(dev);
	return finish();
}
