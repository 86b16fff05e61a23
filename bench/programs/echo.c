// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * echo: a server's cost of a request: it receives 64 bytes and sends 64 bytes, over connections of
 * which some are active at a time. The clients' cost is measured separately and subtracted. A
 * client's send() costs more if a thread waits for it; this difference is a cost of the server. If
 * the server is a process of its own, the switches between the processes are also its cost.
 *
 * The server of the cache-... benchmarks parses a line, and sets or looks up a value (cache.h). That of
 * the sum-... benchmarks answers by the sum of a request's words (uring-bpf.h). That of the serve-file-...
 * benchmarks opens, reads and closes a file for each request, and sends it.
 *
 *	echo throughput WAY CONNECTIONS ACTIVE CPUS COUNT
 *
 * measures requests per second instead, and the CPU time of the server and of both processes, in
 * five runs of COUNT requests. The server is a process of its own. With 1 CPU both processes run on
 * CPU 0, with 2 the server runs on CPU 1. The way "user-functions" is that of functions with
 * COSY_EXECUTOR=user.
 */

#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cosy.h>
#include <cosy/async.h>
#include <cosy/task.h>

#include "../common/bench.h"
#include "../common/uring-bpf.h"
#include "../common/uring.h"
#include "cache.h"

#define MAX_CONNECTIONS CONNECTIONS
#define EVENTS		64
#define COUNT		20480

/* Flags in a benchmark's parameter. */
#define TCP	1
#define PROCESS 2 /* The server is a process of its own. */
#define CHANGED 4 /* A function of the program changes each request. */
#define RANDOM	8 /* The active connections begin at a random one. */
#define CACHE	16 /* The server is a cache, not an echo. */
#define SUM	32 /* The answer is computed from the request. */
#define BY_FILE	64 /* The answer is a file. */
#define PARAMETER(connections, active, flags) \
	((uint64_t)(connections) << 32 | (uint64_t)(active) << 7 | (flags))

/*
 * struct connection - a connection, and what the server keeps of it
 * @requests: what the client sends by turns
 * @sizes:    of them
 * @turn:     the next one
 * @buffer:   what the server receives
 * @have:     bytes of a request in @buffer that is not complete
 * @out:      answer of the cache
 */
struct connection {
	int client, server;
	char requests[2][SIZE];
	size_t sizes[2];
	bool turn;
	char buffer[SIZE] __attribute__((aligned(sizeof(__u64))));
	size_t have;
	char out[2 * CACHE_LINE];
	struct cosy_async received, sent;
};

static const char *way;
static struct connection connections[MAX_CONNECTIONS];
static unsigned int nconnections, active;
static unsigned int first; /* of the connections that are active next */
static unsigned int echoed;
static bool apart;     /* the server is another process */
static bool changed;   /* change() is called for each request */
static bool at_random; /* the active connections begin at a random one */
static bool caches;    /* the server is a cache */
static bool sums;      /* the server answers by sum_words() */
static bool files;     /* the server answers by a file */
static struct cache cache;
static double clients; /* the cost of the clients alone */
static struct cosy_loop *loop;
static int epoll;
static struct uring_bpf_state *bpf;

static _Noreturn void failed(const char *what, long error)
{
	errno = (int)error;
	bench_die(what);
}

static void transfer(ssize_t n, const char *what)
{
	if (n != SIZE)
		failed(what, n < 0 ? errno : EIO);
}

static void clients_send(void)
{
	for (unsigned int i = 0; i < active; i++) {
		struct connection *c = &connections[(first + i) % nconnections];
		const ssize_t size = (ssize_t)c->sizes[c->turn];

		if (send(c->client, c->requests[c->turn], (size_t)size, 0) != size)
			failed("send", errno);
		c->turn = !c->turn;
	}
}

/* The words of a request are 1 to 8, so the first word of the answer is their sum. */
static bool is_sum(const char *answer)
{
	const __u64 words = SIZE / sizeof(words), expected = words * (words + 1) / 2;

	return !memcmp(answer, &expected, sizeof(expected));
}

/* Receive the answers: those of an echo have the size of the request, those of a cache are a line. */
static void clients_receive(void)
{
	char answer[2 * CACHE_LINE];

	for (unsigned int i = 0; i < active; i++) {
		struct connection *c = &connections[(first + i) % nconnections];
		ssize_t n = recv(c->client, answer, sizeof(answer), 0);

		if (n <= 0 || (caches ? answer[n - 1] != '\n' : n != SIZE) ||
		    (sums && !is_sum(answer)))
			failed("recv", n < 0 ? errno : EIO);
	}
	first = (at_random ? (unsigned int)random() : first + active) % nconnections;
}

#define FILE_NAME "echo.file"

/* Read the file with which a request is answered. The calls of COSY_ASYNC functions are their own. */
#define READ_FILE(buffer)                                                                          \
	do {                                                                                       \
		struct stat status;                                                                \
		int file = open(FILE_NAME, O_RDONLY | O_CLOEXEC);                                  \
                                                                                                   \
		if (file < 0 || fstat(file, &status))                                              \
			failed(FILE_NAME, errno);                                                  \
		transfer(read(file, buffer, (size_t)status.st_size), FILE_NAME);                   \
		close(file);                                                                       \
	} while (0)

static void make_file(void)
{
	int file = open(FILE_NAME, O_CREAT | O_WRONLY | O_TRUNC, 0600);

	if (file < 0)
		bench_die(FILE_NAME);
	transfer(write(file, connections[0].requests[0], SIZE), FILE_NAME);
	close(file);
}

/* COSY_ASYNC functions make an up-call of it, because assembly has no operation. */
static void change(struct connection *c)
{
	__asm__ volatile("incb %0" : "+m"(c->buffer[0]));
}

/*
 * Answer a request of which @n bytes were received.
 *
 * Return: the bytes of the answer, see answer_of(); 0 if the request is incomplete.
 */
static size_t answer(struct connection *c, size_t n)
{
	size_t size;

	if (!caches) {
		if (n != SIZE)
			failed("the server's request", EIO);
		if (changed)
			change(c);
		if (sums)
			sum_words((__u64 *)c->buffer);
		if (files)
			READ_FILE(c->buffer);
		return n;
	}
	c->have += n;
	size = cache_answer(&cache, c->buffer, c->have, c->out);
	if (size)
		c->have = 0;
	else if (c->have == SIZE)
		failed("a line of the client", EMSGSIZE);
	return size;
}

static char *answer_of(struct connection *c)
{
	return caches ? c->out : c->buffer;
}

static void serve_request(struct connection *c)
{
	ssize_t n = recv(c->server, c->buffer + c->have, SIZE - c->have, 0);
	size_t size;

	if (n <= 0)
		failed("the server's recv", n ? errno : EIO);
	size = answer(c, (size_t)n);
	if (size && send(c->server, answer_of(c), size, 0) != (ssize_t)size)
		failed("the server's send", errno);
}

static void serve_directly(void)
{
	for (unsigned int i = 0; i < active; i++)
		serve_request(&connections[(first + i) % nconnections]);
}

static void serve_by_epoll(void)
{
	struct epoll_event events[EVENTS];
	unsigned int served = 0;

	while (served < active) {
		int n = epoll_wait(epoll, events, EVENTS, -1);

		if (n < 0)
			bench_die("epoll_wait");
		for (int i = 0; i < n; i++)
			serve_request(events[i].data.ptr);
		served += (unsigned int)n;
	}
}

static void receive(struct connection *c)
{
	int err = cosy_async_recv(loop, &c->received, c->server, c->buffer + c->have,
				  SIZE - c->have, 0);

	if (err)
		failed("cosy_async_recv", -err);
}

static void received(struct cosy_async *op)
{
	struct connection *c = op->data;
	size_t size;
	int err;

	if (op->result <= 0)
		failed("the entry that receives", op->result ? -op->result : EIO);
	size = answer(c, (size_t)op->result);
	if (!size) {
		receive(c);
		return;
	}
	if (apart)
		err = cosy_async_reply(loop, op, c->server, answer_of(c), size, 0, c->buffer, SIZE);
	else
		err = cosy_async_send(loop, &c->sent, c->server, answer_of(c), size, 0);
	if (err)
		failed("the answer", -err);
}

/* A client in the same thread sends its next request after the answer was sent: no reply. */
static void sent(struct cosy_async *op)
{
	if (op->result <= 0)
		failed("the entry that sends", -op->result);
	echoed++;
	receive(op->data);
}

COSY_ASYNC static int serve_one(struct connection *c)
{
	for (;;) {
		transfer(recv(c->server, c->buffer, SIZE, 0), "the function's recv");
		transfer(send(c->server, c->buffer, SIZE, 0), "the function's send");
		echoed++;
	}
}

/* A function of its own, so that serve_one() has no operation for a test of @changed. */
COSY_ASYNC static int change_one(struct connection *c)
{
	for (;;) {
		transfer(recv(c->server, c->buffer, SIZE, 0), "the function's recv");
		change(c);
		transfer(send(c->server, c->buffer, SIZE, 0), "the function's send");
		echoed++;
	}
}

COSY_ASYNC static int sum_one(struct connection *c)
{
	for (;;) {
		transfer(recv(c->server, c->buffer, SIZE, 0), "the function's recv");
		sum_words((__u64 *)c->buffer);
		transfer(send(c->server, c->buffer, SIZE, 0), "the function's send");
		echoed++;
	}
}

COSY_ASYNC static int serve_file(struct connection *c)
{
	for (;;) {
		transfer(recv(c->server, c->buffer, SIZE, 0), "the function's recv");
		READ_FILE(c->buffer);
		transfer(send(c->server, c->buffer, SIZE, 0), "the function's send");
		echoed++;
	}
}

/* As a server with a cache is written: all but the calls is plain C. */
COSY_ASYNC static ssize_t serve_cache(struct connection *c)
{
	const int fd = c->server;
	ssize_t n;
	size_t have = 0, size;

	while ((n = recv(fd, c->buffer + have, SIZE - have, 0)) > 0) {
		have += (size_t)n;
		size = cache_answer(&cache, c->buffer, have, c->out);
		if (!size)
			continue;
		have = 0;
		if (send(fd, c->out, size, 0) < 0)
			break;
	}
	return n;
}

/*
 * struct module_connection - what a server keeps of a connection that is served in the module
 * @fd:	    the connection
 * @cache:  the cache
 * @buffer: @out: as in struct connection
 */
struct module_connection {
	int fd;
	struct cache *cache;
	char buffer[SIZE];
	char out[2 * CACHE_LINE];
};

COSY_FUNCTION
static size_t answer_in_module(struct cache *from, char *in, size_t size, char *out)
{
	return cache_answer(from, in, size, out);
}

/* The same as serve_cache(), but for the memory, and that the module answers, too. */
COSY_ASYNC static ssize_t serve_in_module(struct module_connection *c)
{
	ssize_t n;
	size_t have = 0, size;

	while ((n = recv(c->fd, c->buffer + have, SIZE - have, 0)) > 0) {
		have += (size_t)n;
		size = answer_in_module(c->cache, c->buffer, have, c->out);
		if (!size)
			continue;
		have = 0;
		if (send(c->fd, c->out, size, 0) < 0)
			break;
	}
	return n;
}

static int spawn_in_module(const struct connection *c)
{
	static struct cache *in_segment;
	struct module_connection *of = cosy_calloc(1, sizeof(*of));

	if (!in_segment)
		in_segment = cosy_calloc(1, sizeof(*in_segment));
	if (!of || !in_segment)
		bench_die("cosy_calloc");
	of->fd = c->server;
	of->cache = in_segment;
	return COSY_SPAWN(loop, serve_in_module(of));
}

/* Start the function of a connection. Return 0, or -errno. */
static int spawn(struct connection *c)
{
	if (!strcmp(way, "module"))
		return spawn_in_module(c);
	if (caches)
		return COSY_SPAWN(loop, serve_cache(c));
	if (sums)
		return COSY_SPAWN(loop, sum_one(c));
	if (files)
		return COSY_SPAWN(loop, serve_file(c));
	return changed ? COSY_SPAWN(loop, change_one(c)) : COSY_SPAWN(loop, serve_one(c));
}

static bool by_functions(void)
{
	return !strcmp(way, "functions") || !strcmp(way, "user-functions") ||
	       !strcmp(way, "module");
}

/*
 * Serve by operations, or by functions. Functions that run in the module complete no operation:
 * then all requests that have arrived are served, without waiting for more.
 */
static void serve_by_loop(void)
{
	const unsigned int min = !by_functions();

	for (echoed = 0; echoed < active;) {
		int n = cosy_wait(loop, min, NULL);

		if (n < 0)
			failed("cosy_wait", -n);
	}
}

/* Fill an entry of a connection, which is a direct descriptor of the ring. */
static struct io_uring_sqe *ring_entry(struct connection *c, unsigned char opcode, char *buffer,
				       size_t size)
{
	struct io_uring_sqe *sqe =
		uring_rw(opcode, (int)(c - connections), buffer, (unsigned int)size, 0);

	sqe->flags = IOSQE_FIXED_FILE;
	return sqe;
}

/*
 * Return true if receives can be linked to sends: if all clients are active and fit into one batch,
 * a receive that is linked to the previous send is made after the next request has arrived.
 * Otherwise it would fail, so poll first.
 */
static bool links(void)
{
	return !apart && active == nconnections && active <= EVENTS;
}

static void ring_receive(struct connection *c)
{
	struct io_uring_sqe *sqe =
		ring_entry(c, IORING_OP_RECV, c->buffer + c->have, SIZE - c->have);

	if (!links())
		sqe->ioprio = IORING_RECVSEND_POLL_FIRST;
	sqe->user_data = (uintptr_t)c;
}

static void ring_answer(struct connection *c, size_t n)
{
	size_t size = answer(c, n);
	struct io_uring_sqe *sqe;

	if (!size) {
		ring_receive(c);
		return;
	}
	sqe = ring_entry(c, IORING_OP_SEND, answer_of(c), size);
	sqe->flags |= IOSQE_CQE_SKIP_SUCCESS | (links() ? IOSQE_IO_LINK : 0);
	ring_receive(c);
}

static void serve_by_ring(void)
{
	unsigned int served = 0;
	struct io_uring_cqe cqe;

	while (served < active) {
		uring_enter(1);
		for (unsigned int n = 0; n < EVENTS && uring_next(&cqe); n++) {
			if (cqe.res <= 0)
				failed("an operation in the ring", cqe.res ? -cqe.res : EIO);
			ring_answer((struct connection *)cqe.user_data, (size_t)cqe.res);
			served++;
		}
	}
	uring_enter(0);
}

static void serve_by_bpf(void)
{
	bpf->done = 0;
	bpf->wanted = apart ? UINT64_MAX : active;
	uring_bpf_run();
}

static void rounds(uint64_t count, void (*serve)(void))
{
	for (uint64_t done = 0; done < count; done += active) {
		clients_send();
		if (!apart)
			serve();
		clients_receive();
	}
}

/* Measure the cost of the clients while no thread waits for them. */
static double clients_alone(uint64_t count)
{
	uint64_t cost = 0, start;

	for (uint64_t done = 0; done < count; done += active) {
		start = bench_now();
		clients_send();
		cost += bench_now() - start;
		serve_directly();
		start = bench_now();
		clients_receive();
		cost += bench_now() - start;
	}
	return (double)cost;
}

static void tcp_pair(int pair[2])
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t size = sizeof(address);
	int listener = socket(AF_INET, SOCK_STREAM, 0), one = 1;

	if (listener < 0 || bind(listener, (struct sockaddr *)&address, size) ||
	    listen(listener, 1) || getsockname(listener, (struct sockaddr *)&address, &size))
		bench_die("a TCP socket");
	pair[0] = socket(AF_INET, SOCK_STREAM, 0);
	if (pair[0] < 0 || connect(pair[0], (struct sockaddr *)&address, size))
		bench_die("connect");
	pair[1] = accept(listener, NULL, NULL);
	if (pair[1] < 0)
		bench_die("accept");
	for (int i = 0; i < 2; i++)
		setsockopt(pair[i], IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	close(listener);
}

/* The client of a cache sets a value and looks it up by turns. */
static void prepare_requests(struct connection *c, unsigned int n)
{
	c->sizes[0] = c->sizes[1] = SIZE;
	for (__u64 i = 1; sums && i <= SIZE / sizeof(i); i++) {
		memcpy(c->requests[0] + (i - 1) * sizeof(i), &i, sizeof(i));
		memcpy(c->requests[1] + (i - 1) * sizeof(i), &i, sizeof(i));
	}
	if (!caches)
		return;
	c->sizes[0] = (size_t)snprintf(c->requests[0], SIZE, "SET key-%u the-value-of-%u\n", n, n);
	c->sizes[1] = (size_t)snprintf(c->requests[1], SIZE, "GET key-%u\n", n);
}

static void connect_all(bool tcp)
{
	struct rlimit limit;
	int pair[2];

	getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
	for (unsigned int i = 0; i < nconnections; i++) {
		prepare_requests(&connections[i], i);
		if (tcp)
			tcp_pair(pair);
		else if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
			bench_die("socketpair");
		connections[i].client = pair[0];
		connections[i].server = pair[1];
	}
}

static void start_epoll(void)
{
	epoll = epoll_create1(EPOLL_CLOEXEC);
	for (unsigned int i = 0; i < nconnections; i++) {
		struct epoll_event event = { .events = EPOLLIN, .data.ptr = &connections[i] };

		if (epoll_ctl(epoll, EPOLL_CTL_ADD, connections[i].server, &event))
			bench_die("epoll_ctl");
	}
}

static void start_loop(void)
{
	int err = cosy_loop_create(&loop, NULL);
	struct cosy_loop_info info;

	if (err)
		failed("cosy_loop_create", -err);
	cosy_loop_info(loop, &info, sizeof(info));
	if (info.kernel == !strncmp(way, "user", 4))
		failed("the module", ENODEV);
	for (unsigned int i = 0; i < nconnections; i++) {
		struct connection *c = &connections[i];

		if (by_functions()) {
			err = spawn(c);
			if (err)
				failed("COSY_SPAWN", -err);
			continue;
		}
		c->received = (struct cosy_async){ .done = received, .data = c };
		c->sent = (struct cosy_async){ .done = sent, .data = c };
		receive(c);
	}
	while (cosy_wait(loop, 0, NULL))
		;
}

static void start_ring(void)
{
	/* Two entries for each request. */
	uring_open_waiting(2 * EVENTS, MAX_CONNECTIONS);
	uring_register_files(nconnections);
	for (unsigned int i = 0; i < nconnections; i++) {
		uring_register_file(i, connections[i].server);
		ring_receive(&connections[i]);
		if (i % EVENTS == EVENTS - 1)
			uring_enter(0);
	}
}

/* The loop first receives from each connection, and stops. */
static void start_bpf(void)
{
	static char requests[ECHO_MEMORY] __attribute__((aligned(4096)));

	bpf = uring_bpf_open("echo", requests, sizeof(requests), nconnections);
	for (unsigned int i = 0; i < nconnections; i++)
		uring_bpf_file(i, connections[i].server);
	bpf->flags = IOSQE_FIXED_FILE | IOSQE_CQE_SKIP_SUCCESS;
	if (links())
		bpf->flags |= IOSQE_IO_LINK;
	else
		bpf->first = IORING_RECVSEND_POLL_FIRST;
	bpf->end = nconnections;
	uring_bpf_run();
}

static void prepare(void)
{
	uint64_t parameter = bench_parameter();

	way = bench_way();
	nconnections = (unsigned int)(parameter >> 32);
	active = (unsigned int)(parameter & 0xffffffff) >> 7;
	apart = parameter & PROCESS;
	changed = parameter & CHANGED;
	at_random = parameter & RANDOM;
	caches = parameter & CACHE;
	sums = parameter & SUM;
	files = parameter & BY_FILE;
	if (files)
		make_file();
	connect_all(parameter & TCP);
}

/* Prepare to serve. Return the function that serves the active connections. */
static void (*start(void))(void)
{
	if (!strcmp(way, "native")) {
		start_epoll();
		return serve_by_epoll;
	}
	if (!strcmp(way, "io_uring")) {
		start_ring();
		return serve_by_ring;
	}
	if (!strcmp(way, "io_uring-bpf")) {
		start_bpf();
		return serve_by_bpf;
	}
	start_loop();
	return serve_by_loop;
}

static void run_on(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		bench_die("sched_setaffinity");
}

/*
 * Start a process that serves until this process ends, on @cpu, or where this process may run if
 * that is negative. Return the process.
 */
static pid_t start_server(int cpu)
{
	pid_t child = fork();
	void (*serve)(void);

	if (child < 0)
		bench_die("fork");
	if (child)
		return child;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (cpu >= 0)
		run_on(cpu);
	serve = start();
	for (;;) {
		if (loop)
			cosy_loop_run(loop);
		else
			serve();
	}
}

static double measure(void)
{
	static void (*serve)(void);
	static bool started;
	uint64_t begin;

	/* In the first run, which is not counted: no thread waits for the sockets yet. */
	if (!started) {
		started = true;
		clients_alone(COUNT);
		clients = clients_alone(COUNT);
		if (apart)
			start_server(-1);
		else
			serve = start();
	}
	begin = bench_now();
	rounds(COUNT, serve);
	return ((double)(bench_now() - begin) - clients) / COUNT;
}

static double seconds(clockid_t clock)
{
	struct timespec now;

	if (clock_gettime(clock, &now))
		bench_die("clock_gettime");
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int throughput(int argc, char **argv)
{
	static const char *const ways[] = { "native",  "io_uring",  "user", "user-functions",
					    "entries", "functions", NULL };
	const char *const *known;
	double begin, server_begin, own_begin, took, server_time, own_time;
	clockid_t server;
	uint64_t count;
	int cpus;

	if (argc != 5)
		errx(2, "usage: echo throughput WAY CONNECTIONS ACTIVE CPUS COUNT");
	way = argv[0];
	for (known = ways; *known && strcmp(*known, way); known++)
		;
	if (!*known)
		errx(2, "no way '%s'", way);
	nconnections = (unsigned int)atoi(argv[1]);
	active = (unsigned int)atoi(argv[2]);
	cpus = atoi(argv[3]);
	count = strtoull(argv[4], NULL, 10);
	if (!nconnections || nconnections > MAX_CONNECTIONS || !active || active > nconnections ||
	    (cpus != 1 && cpus != 2))
		errx(2, "up to %d CONNECTIONS, up to so many ACTIVE, 1 or 2 CPUS", MAX_CONNECTIONS);
	apart = true;
	connect_all(false);
	run_on(0);
	if (clock_getcpuclockid(start_server(cpus - 1), &server))
		bench_die("clock_getcpuclockid");
	/* If the server ends, the clients report an error. */
	signal(SIGPIPE, SIG_IGN);
	for (unsigned int i = 0; i < nconnections; i++)
		close(connections[i].server);
	rounds(count / 5, NULL);
	for (int run = 0; run < 5; run++) {
		begin = seconds(CLOCK_MONOTONIC);
		server_begin = seconds(server);
		own_begin = seconds(CLOCK_PROCESS_CPUTIME_ID);
		rounds(count, NULL);
		took = seconds(CLOCK_MONOTONIC) - begin;
		server_time = seconds(server) - server_begin;
		own_time = seconds(CLOCK_PROCESS_CPUTIME_ID) - own_begin;
		printf("%7.0f requests/s, CPU time of a request: %5.2f us of the server, %5.2f us in all\n",
		       (double)count / took, 1e6 * server_time / (double)count,
		       1e6 * (server_time + own_time) / (double)count);
	}
	return 0;
}

int main(int argc, char **argv)
{
	static const struct bench benches[] = {
		{ .name = "echo-unix-64",
		  .per = "request",
		  .measure = measure,
		  .parameter = PARAMETER(64, 64, 0) },
		{ .name = "echo-changed-64",
		  .per = "request",
		  .measure = measure,
		  .parameter = PARAMETER(64, 64, CHANGED) },
		{ .name = "echo-unix-1",
		  .per = "request",
		  .measure = measure,
		  .parameter = PARAMETER(64, 1, 0) },
		{ .name = "echo-unix-1024",
		  .per = "request",
		  .measure = measure,
		  .parameter = PARAMETER(1024, 1024, 0) },
		{ .name = "echo-tcp-64",
		  .per = "request",
		  .measure = measure,
		  .parameter = PARAMETER(64, 64, TCP) },
		{ .name = "echo-process-1",
		  .per = "request",
		  .measure = measure,
		  .parameter = PARAMETER(64, 1, PROCESS) },
		{ .name = "echo-process-64",
		  .per = "request",
		  .measure = measure,
		  .parameter = PARAMETER(64, 64, PROCESS) },
		{ .name = "echo-random-16",
		  .per = "request",
		  .measure = measure,
		  .parameter = PARAMETER(1024, 16, RANDOM) },
		{ .name = "sum-unix-64",
		  .per = "request",
		  .measure = measure,
		  .parameter = PARAMETER(64, 64, SUM) },
		{ .name = "sum-process-64",
		  .per = "request",
		  .measure = measure,
		  .parameter = PARAMETER(64, 64, PROCESS | SUM) },
		{ .name = "sum-process-1",
		  .per = "request",
		  .measure = measure,
		  .parameter = PARAMETER(64, 1, PROCESS | SUM) },
		{ .name = "serve-file-64",
		  .per = "request",
		  .measure = measure,
		  .parameter = PARAMETER(64, 64, PROCESS | BY_FILE) },
		{ .name = "serve-file-1",
		  .per = "request",
		  .measure = measure,
		  .parameter = PARAMETER(64, 1, PROCESS | BY_FILE) },
		{ .name = "cache-unix-64",
		  .per = "request",
		  .measure = measure,
		  .parameter = PARAMETER(64, 64, PROCESS | CACHE) },
		{ .name = "cache-unix-1",
		  .per = "request",
		  .measure = measure,
		  .parameter = PARAMETER(64, 1, PROCESS | CACHE) },
		{ .name = "cache-tcp-64",
		  .per = "request",
		  .measure = measure,
		  .parameter = PARAMETER(64, 64, PROCESS | CACHE | TCP) },
		{ .name = "cache-tcp-1",
		  .per = "request",
		  .measure = measure,
		  .parameter = PARAMETER(64, 1, PROCESS | CACHE | TCP) },
		{ 0 },
	};

	if (argc > 1 && !strcmp(argv[1], "throughput"))
		return throughput(argc - 2, argv + 2);
	return bench_main(argc, argv, benches, prepare);
}
