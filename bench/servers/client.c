// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * client.c - measure what a request costs a server that runs as another process.
 *
 *	server-client PROTOCOL ADDRESS CONNECTIONS ACTIVE COUNT PID...
 *	server-client [--each] --seconds SECONDS PROTOCOL ADDRESS CONNECTIONS
 *
 * PROTOCOL is "http:PATH", "http-close:PATH" (a connection for each request), "memcached" or "redis": the
 * last two get a value of 100 bytes. ADDRESS is a port of 127.0.0.1, or the path of a unix socket. ACTIVE of the CONNECTIONS send a request, then the
 * answers are received, and so on: with 64 of 64, the server finds many requests at once; with 1 of 64,
 * one.
 *
 * Prints the median of three runs of COUNT requests, and the lowest and highest: the CPU time of
 * the processes PID for a request, the time for a request (of both processes, and of the switches between
 * them, on one processor), and the switches of the first PID. Under icount a nanosecond is an instruction.
 *
 * With --seconds, each connection sends its next request when it has its answer, or is replaced by a new one. Prints
 * the requests in a second, and the microseconds in which 50 % and 99 % were answered. With --each also the longest
 * time, and how many answers the connection with the fewest and the one with the most had: is any of them starved?
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <err.h>
#include <errno.h>
#include <netinet/in.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define CONNECTIONS_MAX 1024
#define SERVERS_MAX	16
#define RUNS		3
#define VALUE		100 /* Bytes of a value. */

/*
 * struct store - the protocol of a server that stores values
 * @set:    format of a request that stores one: its size and the value
 * @stored: the answer
 * @get:    the request that is measured
 * @value:  how its answer begins
 * @end:    how its answer ends
 */
struct store {
	const char *name, *set, *stored, *get, *value, *end;
};

static const struct store stores[] = {
	{ "memcached", "set key 0 0 %d\r\n%s\r\n", "STORED\r\n", "get key\r\n", "VALUE key 0 ", "END\r\n" },
	{ "redis", "*3\r\n$3\r\nSET\r\n$3\r\nkey\r\n$%d\r\n%s\r\n", "+OK\r\n",
	  "*2\r\n$3\r\nGET\r\n$3\r\nkey\r\n", "$100\r\nv", "v\r\n" },
};


static struct sockaddr_storage address;
static socklen_t address_size;
static int connections[CONNECTIONS_MAX];
static unsigned int count, active, first;
static bool closing;
static char request[512], answer[1 << 16];
static size_t request_size, answer_size;
static pid_t servers[SERVERS_MAX];
static unsigned int nservers;

static void parse_address(const char *text)
{
	struct sockaddr_in *in = (struct sockaddr_in *)&address;
	struct sockaddr_un *un = (struct sockaddr_un *)&address;

	if (strchr(text, '/')) {
		un->sun_family = AF_UNIX;
		snprintf(un->sun_path, sizeof(un->sun_path), "%s", text);
		address_size = sizeof(*un);
	} else {
		in->sin_family = AF_INET;
		in->sin_port = htons((in_port_t)atoi(text));
		in->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
		address_size = sizeof(*in);
	}
}

static int open_connection(void)
{
	int fd = socket(address.ss_family, SOCK_STREAM, 0);

	if (fd < 0 || connect(fd, (struct sockaddr *)&address, address_size))
		err(1, "cannot connect");
	return fd;
}

static void send_request(int fd)
{
	if (send(fd, request, request_size, MSG_NOSIGNAL) != (ssize_t)request_size)
		err(1, "send");
}

/* Receive an answer of the size that the first one had. */
static void receive_answer(int fd)
{
	size_t have = 0;
	ssize_t n;

	while (have < answer_size) {
		size_t rest = answer_size - have;

		n = recv(fd, answer, rest < sizeof(answer) ? rest : sizeof(answer), 0);
		if (n <= 0)
			err(1, "the server has ended a connection");
		have += (size_t)n;
	}
}

/* Receive the first answer, up to its end, and note its size. */
static void learn_answer(int fd, const struct store *store)
{
	const char *const last = store ? store->end : "\r\n\r\n";
	const char *end, *field;
	size_t have = 0;
	ssize_t n;

	do {
		n = recv(fd, answer + have, sizeof(answer) - 1 - have, 0);
		if (n <= 0)
			errx(1, "the server has ended the first connection");
		have += (size_t)n;
		answer[have] = 0;
		end = strstr(answer, last);
	} while (!end);
	answer_size = (size_t)(end - answer) + strlen(last);
	if (!store) {
		field = strcasestr(answer, "\r\nContent-Length:");
		if (strncmp(answer, "HTTP/1.1 200", 12) || !field)
			errx(1, "not an answer with a file: %.200s", answer);
		answer_size += strtoul(field + 17, NULL, 10);
	} else if (strncmp(answer, store->value, strlen(store->value))) {
		errx(1, "not a value: %.200s", answer);
	}
	if (have > answer_size)
		errx(1, "more than an answer");
	for (; have < answer_size; have += (size_t)n) {
		n = recv(fd, answer, sizeof(answer), 0);
		if (n <= 0)
			errx(1, "the first answer is not complete");
	}
}

static void set_value(int fd, const struct store *store)
{
	const size_t stored = strlen(store->stored);
	char value[VALUE + 1];
	int size;

	memset(value, 'v', VALUE);
	value[VALUE] = 0;
	size = snprintf(request, sizeof(request), store->set, VALUE, value);
	if (send(fd, request, (size_t)size, 0) != size ||
	    recv(fd, answer, stored, MSG_WAITALL) != (ssize_t)stored || memcmp(answer, store->stored, stored))
		errx(1, "the server does not store a value");
}

/* Return the protocol of that name, or NULL: HTTP. */
static const struct store *find_store(const char *protocol)
{
	for (size_t i = 0; i < sizeof(stores) / sizeof(stores[0]); i++)
		if (!strcmp(protocol, stores[i].name))
			return &stores[i];
	if (strncmp(protocol, "http", 4) || !strchr(protocol, ':'))
		errx(1, "%s: not a protocol", protocol);
	return NULL;
}

static void prepare(const char *protocol)
{
	const struct store *store = find_store(protocol);
	int fd = open_connection();

	closing = !strncmp(protocol, "http-close", 10);
	if (store)
		set_value(fd, store);
	request_size = (size_t)(store ? snprintf(request, sizeof(request), "%s", store->get) :
				snprintf(request, sizeof(request), "GET %s HTTP/1.1\r\nHost: localhost\r\n%s\r\n",
					 strchr(protocol, ':') + 1, closing ? "Connection: close\r\n" : ""));
	send_request(fd);
	learn_answer(fd, store);
	close(fd);
	for (unsigned int i = 0; i < count && !closing; i++)
		connections[i] = open_connection();
}

static void exchange(void)
{
	if (closing)
		for (unsigned int i = 0; i < active; i++)
			connections[i] = open_connection();
	for (unsigned int i = 0; i < active; i++)
		send_request(connections[(first + i) % count]);
	for (unsigned int i = 0; i < active; i++)
		receive_answer(connections[(first + i) % count]);
	for (unsigned int i = 0; closing && i < active; i++) {
		if (recv(connections[i], answer, 1, 0) != 0)
			errx(1, "the server does not end a connection");
		close(connections[i]);
	}
	if (!closing)
		first = (first + active) % count;
}

static double cpu_time(void)
{
	double sum = 0;

	for (unsigned int i = 0; i < nservers; i++) {
		struct timespec time;
		clockid_t clock;

		if (clock_getcpuclockid(servers[i], &clock) || clock_gettime(clock, &time))
			errx(1, "there is no process %d", servers[i]);
		sum += 1e9 * (double)time.tv_sec + (double)time.tv_nsec;
	}
	return sum;
}

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return 1e9 * (double)time.tv_sec + (double)time.tv_nsec;
}

/* Return how often the thread has been switched from. */
static unsigned long count_switches(const char *task)
{
	unsigned long sum = 0, number;
	char name[300], line[256];
	FILE *file;

	snprintf(name, sizeof(name), "/proc/%d/task/%s/status", servers[0], task);
	file = fopen(name, "re");
	if (!file)
		err(1, "%s", name);
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "voluntary_ctxt_switches: %lu", &number) == 1 ||
		    sscanf(line, "nonvoluntary_ctxt_switches: %lu", &number) == 1)
			sum += number;
	fclose(file);
	return sum;
}

static void set_batch(const char *task)
{
	/* A thread that is woken does not preempt: otherwise the figures are not stable with many active. */
	const struct sched_param batch = { .sched_priority = 0 };

	if (sched_setscheduler(atoi(task), SCHED_BATCH, &batch))
		err(1, "sched_setscheduler");
}

/* Set the policy of all threads of a server, or return the sum of their switches. */
static unsigned long for_threads(pid_t server, bool batch)
{
	unsigned long sum = 0;
	struct dirent *entry;
	char name[64];
	DIR *tasks;

	snprintf(name, sizeof(name), "/proc/%d/task", server);
	tasks = opendir(name);
	if (!tasks)
		err(1, "%s", name);
	while ((entry = readdir(tasks))) {
		if (*entry->d_name == '.')
			continue;
		if (batch)
			set_batch(entry->d_name);
		else
			sum += count_switches(entry->d_name);
	}
	closedir(tasks);
	return sum;
}

static int compare(const void *left, const void *right)
{
	const double a = *(const double *)left, b = *(const double *)right;

	return (a > b) - (a < b);
}

static void print(const char *name, double *values)
{
	qsort(values, RUNS, sizeof(*values), compare);
	printf("%s %.0f (%.0f to %.0f)  ", name, values[RUNS / 2], values[0], values[RUNS - 1]);
}

static void measure(unsigned long requests)
{
	double server[RUNS], total[RUNS], switched = 0;
	const unsigned long rounds = requests / active;

	for (int run = -1; run < RUNS; run++) {
		double from_cpu = cpu_time(), from = now();

		switched = (double)for_threads(servers[0], false);
		for (unsigned long i = 0; i < rounds; i++)
			exchange();
		switched = (double)for_threads(servers[0], false) - switched;
		if (run < 0)
			continue;
		total[run] = (now() - from) / (double)(rounds * active);
		server[run] = (cpu_time() - from_cpu) / (double)(rounds * active);
	}
	print("server", server);
	print("total", total);
	printf("switches %.2f\n", switched / (double)(rounds * active));
}

/*
 * struct line - a connection of load(), or with http-close the connections that follow each other
 * @began:   when the request was sent, or its connection was begun
 * @have:    bytes of the answer that have come
 * @answers: how many are complete
 * @sent:    the request has been sent
 */
static struct line {
	double began;
	size_t have;
	unsigned long answers;
	bool sent;
} lines[CONNECTIONS_MAX];

static void watch(int epoll, unsigned int index, int operation, uint32_t events)
{
	struct epoll_event event = { .events = events, .data.u32 = index };

	if (epoll_ctl(epoll, operation, connections[index], &event))
		err(1, "epoll_ctl");
}

static void begin(unsigned int index)
{
	lines[index].began = now();
	lines[index].have = 0;
	if (!closing)
		send_request(connections[index]);
}

/*
 * Begin a connection and send the request. If the server's queue is full, the kernel makes the connection later: the
 * others must not wait for that.
 */
static void begin_connection(int epoll, unsigned int index)
{
	/* A unix socket cannot do that: connect() would fail. */
	const int type = SOCK_STREAM | (address.ss_family == AF_UNIX ? 0 : SOCK_NONBLOCK);
	const int fd = socket(address.ss_family, type, 0);
	ssize_t n;

	begin(index);
	if (fd < 0 || (connect(fd, (struct sockaddr *)&address, address_size) && errno != EINPROGRESS))
		err(1, "cannot connect");
	connections[index] = fd;
	n = send(fd, request, request_size, MSG_NOSIGNAL);
	if (n != (ssize_t)request_size && (n >= 0 || (errno != EAGAIN && errno != ENOTCONN)))
		err(1, "send");
	lines[index].sent = n > 0;
	watch(epoll, index, EPOLL_CTL_ADD, n > 0 ? EPOLLIN : EPOLLOUT);
}

/* Return true once the answer is complete, and with http-close the connection has ended. */
static bool receive_part(int epoll, unsigned int index)
{
	struct line *line = &lines[index];
	ssize_t n;

	if (closing && !line->sent) {
		send_request(connections[index]);
		line->sent = true;
		watch(epoll, index, EPOLL_CTL_MOD, EPOLLIN);
		return false;
	}
	n = recv(connections[index], answer, sizeof(answer), MSG_DONTWAIT);
	if (n < 0 && errno == EAGAIN)
		return false;
	if (n < 0 || (n == 0 && (!closing || line->have != answer_size)))
		err(1, "the server has ended a connection");
	line->have += (size_t)n;
	if (line->have > answer_size)
		errx(1, "more than an answer");
	return closing ? n == 0 : line->have == answer_size;
}

/* Note how long a request took. */
static void note(double time, double **times, size_t *have)
{
	static size_t room;

	if (*have == room) {
		room = room ? 2 * room : 4096;
		*times = reallocarray(*times, room, sizeof(**times));
		if (!*times)
			err(1, "no memory");
	}
	(*times)[(*have)++] = time;
}

/* Print the longest time, also of a request that has no answer yet, and how many answers the connections had. */
static void print_each(double longest, double at)
{
	unsigned long fewest = lines[0].answers, most = 0;

	for (unsigned int i = 0; i < count; i++) {
		longest = at - lines[i].began > longest ? at - lines[i].began : longest;
		fewest = lines[i].answers < fewest ? lines[i].answers : fewest;
		most = lines[i].answers > most ? lines[i].answers : most;
	}
	printf(" %.2f %lu %lu", longest / 1e3, fewest, most);
}

/* Send requests over all connections, each after the answer to the one before, and print the rate and the times. */
static void load(double seconds, bool each)
{
	static struct epoll_event events[CONNECTIONS_MAX];
	const int epoll = epoll_create1(0);
	const double from = now(), until = from + 1e9 * seconds;
	double *times = NULL, at;
	size_t have = 0;

	if (epoll < 0)
		err(1, "epoll_create1");
	for (unsigned int i = 0; i < count; i++) {
		if (closing) {
			begin_connection(epoll, i);
		} else {
			watch(epoll, i, EPOLL_CTL_ADD, EPOLLIN);
			begin(i);
		}
	}
	do {
		const int n = epoll_wait(epoll, events, CONNECTIONS_MAX, 1000);

		if (n < 0)
			err(1, "epoll_wait");
		for (int i = 0; i < n; i++) {
			const unsigned int index = events[i].data.u32;

			if (!receive_part(epoll, index))
				continue;
			note(now() - lines[index].began, &times, &have);
			lines[index].answers++;
			if (closing) {
				close(connections[index]);
				begin_connection(epoll, index);
			} else {
				begin(index);
			}
		}
		at = now();
	} while (at < until);
	if (!have)
		errx(1, "no answer");
	qsort(times, have, sizeof(*times), compare);
	printf("%.2f %.2f %.2f", 1e9 * (double)have / (at - from), times[have / 2] / 1e3, times[have * 99 / 100] / 1e3);
	if (each)
		print_each(times[have - 1], at);
	putchar('\n');
	free(times);
	close(epoll);
}

static int main_load(int argc, char **argv)
{
	const bool each = !strcmp(argv[1], "--each");
	double seconds;

	argc -= each;
	argv += each;
	seconds = argc == 6 && !strcmp(argv[1], "--seconds") ? atof(argv[2]) : 0;
	if (seconds <= 0)
		errx(1, "usage: server-client [--each] --seconds SECONDS PROTOCOL ADDRESS CONNECTIONS");
	parse_address(argv[4]);
	count = (unsigned int)atoi(argv[5]);
	if (!count || count > CONNECTIONS_MAX)
		errx(1, "1 to %d connections", CONNECTIONS_MAX);
	prepare(argv[3]);
	load(seconds, each);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc > 1 && !strncmp(argv[1], "--", 2))
		return main_load(argc, argv);
	if (argc < 7 || argc - 6 > SERVERS_MAX)
		errx(1, "usage: server-client PROTOCOL ADDRESS CONNECTIONS ACTIVE COUNT PID...");
	parse_address(argv[2]);
	count = (unsigned int)atoi(argv[3]);
	active = (unsigned int)atoi(argv[4]);
	if (count > CONNECTIONS_MAX || !active || active > count || strtoul(argv[5], NULL, 10) < active)
		errx(1, "at most %d connections, of which at least one is active", CONNECTIONS_MAX);
	for (int i = 6; i < argc; i++)
		servers[nservers++] = atoi(argv[i]);
	if (active > 1) {
		set_batch("0");
		for (unsigned int i = 0; i < nservers; i++)
			for_threads(servers[i], true);
	}
	prepare(argv[1]);
	measure(strtoul(argv[5], NULL, 10));
	return 0;
}
