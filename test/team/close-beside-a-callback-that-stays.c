/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A worker that closes a descriptor answers its own question in the loop of another one whose callback takes
 * long. That loop is as right, and as fast, as if the other worker had answered, also if it has buffers.
 */
// RUN: %compile
// RUN: %everywhere
#include <dirent.h>
#include <fcntl.h>

#include "team.h"

#define MINUTE	(&(struct timespec){ .tv_sec = 60 })

/* More than a loop without its lock could have owners. */
#define CLOSES	20

/* Colours that stay, each on a worker: @STUCK on that which is not removed. */
enum { STUCK, CLOSER, OTHER };

static struct cosy_team *team;
static struct cosy_loop *loops[2];
static pthread_barrier_t barrier;
static struct gate gate, gate_after;

static const struct cosy_submit *submit_of(struct cosy_loop *loop)
{
	return *(struct cosy_submit **)(void *)loop;
}

static bool has_ring(struct cosy_loop *loop)
{
	return submit_of(loop)->thread == cosy_submit_self();
}

/* Keep the running colour on a worker: each on that whose number is the colour. */
static void settle(void *arg)
{
	struct cosy_loop *loop = cosy_team_loop();

	(void)arg;
	loops[submit_of(loop)->member - 1] = loop;
	cosy_team_stay(true);
	pthread_barrier_wait(&barrier);
}

/* The colours on the two workers. */
static uint64_t colours[2];

static void note_worker(void *arg)
{
	(void)arg;
	colours[cosy_team_loop() == loops[CLOSER]] = cosy_team_colour();
}

static void begin_team(void)
{
	team = make_team(2);
	pthread_barrier_init(&barrier, NULL, 2);
	for (uint64_t colour = 1; colour <= 2; colour++)
		EQUAL(cosy_team_call(team, colour, settle, NULL), 0);
	EQUAL(cosy_team_wait(team, MINUTE), 0);
	for (uint64_t colour = 1; colour <= 2; colour++)
		EQUAL(cosy_team_call(team, colour, note_worker, NULL), 0);
	EQUAL(cosy_team_wait(team, MINUTE), 0);
	CHECK(colours[STUCK] != colours[CLOSER]);
}

static void call(int worker, void (*fn)(void *arg), void *arg)
{
	EQUAL(cosy_team_call(team, colours[worker], fn, arg), 0);
}

static struct receive {
	struct cosy_coloured op;
	char byte;
	atomic_uint ended;
	int64_t result;
	struct cosy_loop *loop;
	bool had_ring;
} receive;

static void received(struct cosy_coloured *op)
{
	receive.result = op->op.result;
	receive.loop = cosy_team_loop();
	receive.had_ring = has_ring(receive.loop);
	receive.ended = 1;
}

static void receive_from(struct cosy_loop *loop, int fd)
{
	EQUAL(cosy_async_recv(loop, cosy_colour(&receive.op, cosy_team_colour(), received), fd,
			      &receive.byte, 1, 0), 0);
}

static void begin(void *arg)
{
	receive_from(cosy_team_loop(), *(int *)arg);
}

static void await_waiting(struct cosy_loop *loop)
{
	struct cosy_loop_info info;

	do {
		sched_yield();
		EQUAL(cosy_loop_info(loop, &info, sizeof(info)), 0);
	} while (!info.waiting);
}

static void make_pair(int fds[2])
{
	EQUAL(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
}

/* Receive a byte, which is there, on a worker. Return true if its thread then had the ring. */
static bool receive_on(int worker, const int fds[2])
{
	EQUAL(write(fds[1], "x", 1), 1);
	receive.ended = 0;
	call(worker, begin, (void *)&fds[0]);
	await_count(&receive.ended, 1);
	EQUAL(receive.result, 1);
	return receive.had_ring;
}

static void stop(void)
{
	gate = (struct gate)GATE;
	call(STUCK, pass_gate, &gate);
	await_at_gate(&gate, 1);
}

static struct cosy_coloured closing;
static atomic_uint closes_ended;
static int64_t close_result;

static void closed(struct cosy_coloured *op)
{
	close_result = op->op.result;
	closes_ended++;
}

static void close_here(void *arg)
{
	EQUAL(cosy_async_close(cosy_team_loop(), cosy_colour(&closing, cosy_team_colour(), closed),
			       *(int *)arg), 0);
}

static void begin_to_close(int *fd)
{
	closes_ended = 0;
	call(CLOSER, close_here, fd);
}

static void close_while_stuck(int *fd)
{
	begin_to_close(fd);
	await_count(&closes_ended, 1);
	EQUAL(close_result, 0);
	EQUAL(fcntl(*fd, F_GETFD), -1);
}

static int next_file[2];

/* Use the number of a descriptor that was closed meanwhile, by a loop that was got before, and stay. */
static void receive_from_next_file(void *arg)
{
	struct cosy_loop *loop = cosy_team_loop();

	pass_gate(&gate);
	make_pair(next_file);
	EQUAL(next_file[0], *(int *)arg);
	receive_from(loop, next_file[0]);
	pass_gate(&gate_after);
}

static void next_file_is_not_cancelled(void)
{
	int fds[2], other[2];

	make_pair(fds);
	make_pair(other);
	receive_on(STUCK, fds);
	receive_on(STUCK, other);
	gate = gate_after = (struct gate)GATE;
	receive.ended = 0;
	call(STUCK, receive_from_next_file, &fds[0]);
	await_at_gate(&gate, 1);
	/* Nothing is outstanding there: the close does not wait, and the number is forgotten later. */
	close_while_stuck(&fds[0]);
	EQUAL(gate.inside, 1);
	open_gate(&gate);
	await_at_gate(&gate_after, 1);
	close_while_stuck(&other[0]);
	EQUAL(gate_after.inside, 1);
	open_gate(&gate_after);
	await_waiting(loops[STUCK]);
	EQUAL(write(next_file[1], "n", 1), 1);
	await_count(&receive.ended, 1);
	EQUAL(receive.result, 1);
	EQUAL(receive.byte, 'n');
	close_while_stuck(&next_file[0]);
	close(next_file[1]);
	close(fds[1]);
	close(other[1]);
}

/* The thread of the loop can use it without the lock afterwards. */
static void ring_is_given_back(void)
{
	bool had_ring;
	int fds[2], again[2];

	make_pair(again);
	had_ring = receive_on(STUCK, again);
	for (int i = 0; i < CLOSES; i++) {
		make_pair(fds);
		call(STUCK, begin, &fds[0]);
		await_waiting(loops[STUCK]);
		stop();
		close_while_stuck(&fds[0]);
		EQUAL(gate.inside, 1);
		open_gate(&gate);
		EQUAL(cosy_team_wait(team, MINUTE), 0);
		EQUAL(receive.result, -ECANCELED);
		close(fds[1]);
	}
	EQUAL(receive_on(STUCK, again), had_ring);
	close_while_stuck(&again[0]);
	close(again[1]);
}

static unsigned int count_threads(void)
{
	DIR *dir = opendir("/proc/self/task");
	unsigned int count = 0;

	while (readdir(dir))
		count++;
	closedir(dir);
	return count;
}

/* Let the close ask, cancel it, and let the worker end before it looks for the answer. */
static void close_cancel_and_end(void *arg)
{
	close_here(arg);
	EQUAL(cosy_wait(cosy_team_loop(), 0, NULL), 0);
	EQUAL(cosy_team_cancel(&closing), 0);
	cosy_team_stay(false);
	EQUAL(cosy_team_resize(team, 1), 0);
}

/* A worker that has ended while it asked has nothing to wait for when it starts again. */
static void worker_that_asks_ends(void)
{
	unsigned int threads;
	bool had_ring;
	int fds[2], again[2];

	make_pair(fds);
	make_pair(again);
	had_ring = receive_on(CLOSER, again);
	call(STUCK, begin, &fds[0]);
	await_waiting(loops[STUCK]);
	stop();
	threads = count_threads();
	closes_ended = 0;
	call(CLOSER, close_cancel_and_end, &fds[0]);
	while (count_threads() == threads)
		sched_yield();
	open_gate(&gate);
	EQUAL(cosy_team_wait(team, MINUTE), 0);
	EQUAL(close_result, -ECANCELED);
	CHECK(fcntl(fds[0], F_GETFD) >= 0);
	EQUAL(cosy_team_resize(team, 2), 0);
	/* A new colour, which the worker steals from the other one. */
	stop();
	colours[CLOSER] = OTHER + 1;
	EQUAL(receive_on(CLOSER, again), had_ring);
	CHECK(receive.loop == loops[CLOSER]);
	open_gate(&gate);
	for (int i = 0; i < 2; i++) {
		close(fds[i]);
		close(again[i]);
	}
}

#define BUFFERS	4

static struct cosy_receive receives[BUFFERS];
static int senders[BUFFERS];
static atomic_uint receives_ended;

static void received_into(struct cosy_async *op)
{
	EQUAL(op->result, 1);
	receives_ended++;
}

/* Receive a byte, which is there, into a buffer of this worker's loop. */
static void receive_into(void *arg)
{
	struct cosy_receive *into = arg;
	int fds[2];

	make_pair(fds);
	EQUAL(write(fds[1], "x", 1), 1);
	senders[into - receives] = fds[1];
	into->op.done = received_into;
	EQUAL(cosy_async_receive(cosy_team_loop(), into, fds[0]), 0);
}

static void receive_into_and_stop(void *arg)
{
	receive_into(arg);
	pass_gate(&gate);
}

static void give_buffers(void *arg)
{
	static char buffers[BUFFERS][64];

	(void)arg;
	EQUAL(cosy_loop_buffers(cosy_team_loop(), buffers, sizeof(buffers[0]), BUFFERS), 0);
}

static void return_buffers(void *arg)
{
	(void)arg;
	for (int i = 0; i < BUFFERS; i++)
		EQUAL(cosy_buffer_return(cosy_team_loop(), receives[i].buffer), 0);
}

/* The thread that closes makes the receive that was submitted before, and takes a buffer. None is lost. */
static void loop_has_buffers(void)
{
	int fds[2];

	make_pair(fds);
	call(STUCK, give_buffers, NULL);
	call(STUCK, begin, &fds[0]);
	await_waiting(loops[STUCK]);
	gate = (struct gate)GATE;
	call(STUCK, receive_into_and_stop, &receives[0]);
	await_at_gate(&gate, 1);
	close_while_stuck(&fds[0]);
	EQUAL(gate.inside, 1);
	open_gate(&gate);
	EQUAL(cosy_team_wait(team, MINUTE), 0);
	EQUAL(receive.result, -ECANCELED);
	for (int i = 1; i < BUFFERS; i++)
		call(STUCK, receive_into, &receives[i]);
	await_count(&receives_ended, BUFFERS);
	call(STUCK, return_buffers, NULL);
	EQUAL(cosy_team_wait(team, MINUTE), 0);
	close(fds[1]);
	for (int i = 0; i < BUFFERS; i++)
		close(senders[i]);
}

int main(void)
{
	alarm(300);
	begin_team();
	next_file_is_not_cancelled();
	ring_is_given_back();
	loop_has_buffers();
	EQUAL(cosy_team_destroy(team), 0);
	begin_team();
	worker_that_asks_ends();
	EQUAL(cosy_team_destroy(team), 0);
	return 0;
}
