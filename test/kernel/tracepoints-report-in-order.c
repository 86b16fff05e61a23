// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * The module's tracepoints report loading, entering, leaving, fast paths, the entries of loops and
 * their threads, and the calls of rings, in the order of the events, and nothing when they are off.
 */
// RUN: %compile %s -o %t
// In a VM of one CPU, because an emulated machine with several CPUs does not always survive
// patching tracepoints.
// RUN: %root/scripts/vm/run --smp 1 -- %t
#include "../async/kernel/Inputs/ring.h"
#include "../async/kernel/Inputs/workers.h"

#include <sys/mount.h>
#include <sys/stat.h>

#define TRACING "/sys/kernel/tracing"
/* A separate buffer, which no other process writes to. */
#define BUFFER TRACING "/instances/cosy-tracepoints"

static void put(const char *file, const char *text)
{
	char name[100];
	int fd;

	snprintf(name, sizeof(name), BUFFER "/%s", file);
	fd = open(name, O_WRONLY | O_TRUNC);
	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		die(name);
	close(fd);
}

/*
 * The events so far, without those that depend on timing: leaving for a signal, and entries that
 * continue after pending work of the kernel.
 */
static char *events(void)
{
	static char text[10000];
	FILE *file = fopen(BUFFER "/trace", "r");
	char *line = NULL, *event;
	size_t room = 0, length = 0;
	char last[100] = "";
	bool again = false;

	if (!file)
		die(BUFFER "/trace");
	text[0] = '\0';
	while (getline(&line, &room, file) > 0) {
		if (line[0] == '#')
			continue;
		event = strstr(line, ": ");
		if (!event)
			die(line);
		event += 2;
		if (strstr(event, "status=AGAIN")) {
			again = true;
			continue;
		}
		if (again) {
			again = false;
			continue;
		}
		if (!strncmp(event, "start: ", 7) && !strcmp(event, last))
			continue;
		snprintf(last, sizeof(last), "%s", event);
		length += (size_t)snprintf(text + length, sizeof(text) - length, "%s", event);
		if (length >= sizeof(text))
			die("too many events");
	}
	free(line);
	fclose(file);
	return text;
}

static void expect(const char *what, const char *expected)
{
	const char *is = events();

	if (!check(!strcmp(is, expected), "%s", what))
		printf("is:\n%sshould be:\n%s", is, expected);
	put("trace", "");
}

/* The number of the loop is not known before. */
static unsigned long long loop_in_events(void)
{
	const char *text = strstr(events(), "loop=");

	return text ? strtoull(text + 5, NULL, 10) : 0;
}

static void entries_of_loops(void)
{
	const struct cosy_op ops[] = {
		SYS(0, SYS_recvfrom, 6), ARG(1), ARG(2), ARGI(1), ARGI(0), ARGI(0), ARGI(0), EXIT(3),
	};
	char expected[1000], byte, other;
	__u64 frame[4] = { 0 }, handle;
	struct loop loop;
	int sv[2], error, ended = 0;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, sv))
		die("socketpair");
	create(&loop, 64);
	handle = load_for_loops(ops, sizeof(ops) / sizeof(*ops), 3);
	prepare_recv(&loop);
	put("trace", "");
	frame[1] = (__u64)sv[0];
	frame[2] = (uintptr_t)&byte;
	submit(&loop, 4, 0, SYS_getpid, 0, 0, 0, 0);
	submit(&loop, 5, 0, COSY_ENTRY_COMPOUND, (__u64)device, handle, (uintptr_t)frame,
	       (uintptr_t)&error);
	loop.entries[5].args[4] = loop.entries[5].args[5] = 0;
	while (!readable(loop.fd))
		ended += execute(&loop);
	send(sv[1], "x", 1, 0);
	while (ended < 2)
		ended += execute(&loop);
	submit_recv(&loop, 6, sv[0], &other);
	execute(&loop);
	snprintf(expected, sizeof(expected),
		 "submit: loop=%1$llu index=4 nr=%2$d\n"
		 "start: loop=%1$llu index=4\n"
		 "complete: loop=%1$llu index=4 status=DONE result=%3$d\n"
		 "submit: loop=%1$llu index=5 nr=2147483648\n"
		 "start: loop=%1$llu index=5\n"
		 "park: loop=%1$llu index=5 fd=%4$d\n"
		 "wake: loop=%1$llu index=5\n"
		 "start: loop=%1$llu index=5\n"
		 "complete: loop=%1$llu index=5 status=DONE result=3\n"
		 "submit: loop=%1$llu index=6 nr=2147483648\n"
		 "start: loop=%1$llu index=6\n"
		 "park: loop=%1$llu index=6 fd=%4$d\n",
		 loop_in_events(), SYS_getpid, getpid(), sv[0]);
	expect("events say what loops do", expected);
	destroy(&loop);
	close(sv[0]);
	close(sv[1]);
}

/*
 * Calls of a ring have no entry: the lower half of the operation's address is their number, and of
 * one that waits, the descriptor. When its socket has an event, it starts again, without a wake-up.
 */
static void calls_of_a_ring(void)
{
	const uint64_t op = 0x700000000;
	char expected[1000], byte;
	struct ring ring;
	int sv[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, sv))
		die("socketpair");
	ring_create(&ring, 64);
	put("trace", "");
	ring_call(&ring, op + 1, SYS_getpid, 0, 0, 0, 0);
	check(ring_completes(&ring, op + 1, getpid()), "a call of a ring completes");
	ring_receive(&ring, op + 2, sv[0], &byte, 1);
	check(ring_execute(&ring) == 0 && ring.page->waiting == 1, "a receive waits");
	send(sv[1], "x", 1, 0);
	check(ring_completes(&ring, op + 2, 1), "it completes after an event");
	ring_call(&ring, op + 3, SYS_recvmsg, (uint64_t)sv[0], 0, 0, 0);
	check(ring_execute(&ring) == 0 && ring_gave(&ring, op + 3, SYS_recvmsg, 0),
	      "among the calls, a receive is given back");
	snprintf(expected, sizeof(expected),
		 "submit: loop=%1$llu index=1 nr=%2$d\n"
		 "start: loop=%1$llu index=1\n"
		 "complete: loop=%1$llu index=1 status=DONE result=%3$d\n"
		 "submit: loop=%1$llu index=2 nr=%4$d\n"
		 "start: loop=%1$llu index=2\n"
		 "park: loop=%1$llu index=%5$d fd=%5$d\n"
		 "start: loop=%1$llu index=2\n"
		 "complete: loop=%1$llu index=2 status=DONE result=1\n"
		 "submit: loop=%1$llu index=3 nr=%6$d\n"
		 "start: loop=%1$llu index=3\n"
		 "complete: loop=%1$llu index=3 status=USER result=0\n",
		 loop_in_events(), SYS_getpid, getpid(), SYS_recvfrom, sv[0], SYS_recvmsg);
	expect("events say what rings do", expected);
	ring_destroy(&ring);
	close(sv[0]);
	close(sv[1]);
}

/* A thread that sleeps in a call reports that before another one makes the next call. */
static void handing_over(void)
{
	char expected[300], byte;
	struct worker w[2];
	struct loop loop;
	int fds[2], tries = 0;

	if (pipe(fds))
		die("pipe");
	put("options/event-fork", "1");
	create(&loop, 64);
	start(&w[0], &loop, 0);
	start(&w[1], &loop, 0);
	/*
	 * The first call is made before the second one is queued if the kernel has pending work.
	 */
	do {
		put("trace", "");
		submit(&loop, 1, COSY_ENTRY_THREAD, SYS_read, (uint64_t)fds[0], (uintptr_t)&byte, 1,
		       0);
		submit(&loop, 2, COSY_ENTRY_THREAD, SYS_gettid, 0, 0, 0, 0);
		check(next_of(&loop) == 2, "another thread makes the second call");
		if (write(fds[1], "x", 1) != 1)
			die("write");
		check(next_of(&loop) == 1, "the first call completes");
	} while (!strstr(events(), "handover: ") && ++tries < 100);
	snprintf(expected, sizeof(expected),
		 "start: loop=%1$llu index=1\n"
		 "handover: loop=%1$llu index=1\n"
		 "start: loop=%1$llu index=2\n", loop_in_events());
	check(strstr(events(), expected) != NULL, "it says which call sleeps:\n%s", events());
	end_all(w, 2);
	put("trace", "");
	destroy(&loop);
	close(fds[0]);
	close(fds[1]);
}

int main(void)
{
	const struct cosy_op refused[] = { MOV(0, 63), EXIT(0) };
	__u64 frame[4] = { (__u64)(uintptr_t)"/nothing", (__u64)(uintptr_t)must_map(4096) };
	struct image *bad = make_image(refused, 2, 1, 0, 0, 0);
	char pid[20], expected[1000];
	int dev = device = open_device();
	struct cosy_run run;
	__u64 handle;

	if (access(TRACING "/instances", F_OK) && mount("tracefs", TRACING, "tracefs", 0, NULL))
		die(TRACING);
	if (mkdir(BUFFER, 0700) && errno != EEXIST)
		die(BUFFER);
	snprintf(pid, sizeof(pid), "%d", getpid());
	put("set_event_pid", pid);

	handle = must_load(dev, 4, SYS(2, SYS_getpid, 0), EXIT(1));
	check(run_frame(dev, handle, frame, &run) == done(1), "a compound runs");
	expect("nothing is reported while the tracepoints are off", "");

	put("events/cosy/enable", "1");
	handle = must_load(dev, 4, SYS(2, SYS_getpid, 0), SYS(3, SYS_stat, 2), ARG(0), ARG(1),
			   UPCALL(2), EXIT(3));
	check(frame[2] == (__u64)getpid(), "the compound has run");
	check(run_frame(dev, handle, frame, &run) == COSY_RUN_LEFT && run.status == COSY_UPCALL,
	      "another one leaves for an up-call");
	run.status = COSY_AGAIN;
	check(run_on(dev, &run) == done(3), "the compound resumes, and ends");
	check(!load_image(dev, bad) && errno == EINVAL, "an image is rejected");
	snprintf(expected, sizeof(expected),
		 "load: handle=%llu size=%zu error=0\n"
		 "run: handle=%llu pc=0\n"
		 "fast: nr=%d result=%d\n"
		 "leave: handle=%llu pc=5 status=UPCALL value=2\n"
		 "run: handle=%llu pc=5\n"
		 "leave: handle=%llu pc=0 status=DONE value=3\n"
		 "load: handle=0 size=%u error=%d\n",
		 handle, sizeof(struct cosy_header) + 6 * sizeof(struct cosy_op) + 1, handle,
		 SYS_stat, -ENOENT, handle, handle, handle, bad->h.size, -EINVAL);
	expect("events say what has happened", expected);

	entries_of_loops();
	calls_of_a_ring();
	handing_over();
	put("events/cosy/enable", "0");
	put("options/event-fork", "0");
	run_frame(dev, handle, frame, &run);
	expect("nothing is reported after they are off again", "");
	if (rmdir(BUFFER))
		die("rmdir");
	free(bad);
	return finish();
}
