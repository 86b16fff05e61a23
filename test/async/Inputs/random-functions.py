#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Print a C program of random functions that wait.

usage: random-functions.py SEED

With -DTHREADS each worker is a thread, and the functions are ordinary functions. Without it, they
are COSY_ASYNC functions of a loop. Both print the same. A function computes. It writes to and reads
from a stream and a pipe of its worker, which has both ends. What a worker reads does not depend on
when it runs. A function calls only functions after it, so all calls end.
"""
import random
import sys

FUNCTIONS = 8
WORKERS = 12

HEAD = """\
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#ifdef THREADS
#define ASYNC
#else
#include <cosy/task.h>
#define ASYNC COSY_ASYNC
#endif

struct worker {
	int fds[2];
	int pipe[2];
	uint32_t hash;
	uint32_t budget; /* calls that may still be made */
	uint64_t result;
};

struct block {
	uint32_t words[12];
};

static uint32_t mix(uint32_t a, uint32_t b)
{
	return (a ^ b) * 2654435761u + (a >> 15);
}

static void note(struct worker *w, uint64_t value)
{
	w->hash = mix(w->hash, (uint32_t)(value ^ value >> 32));
}
"""

TAIL = """
#ifdef THREADS
static void *run(void *arg)
{
	struct worker *w = arg;

	w->result = (uint64_t)f0(w, 7, w->budget);
	return NULL;
}
#else
static void done(struct cosy_async *op)
{
	struct worker *w = op->data;

	w->result = (uint64_t)op->result;
}
#endif

int main(void)
{
	static struct worker workers[%(workers)d];
#ifdef THREADS
	pthread_t threads[%(workers)d];
#else
	struct cosy_loop *loop;

	if (cosy_loop_create(&loop, NULL))
		return 1;
#endif
	for (int i = 0; i < %(workers)d; i++) {
		struct worker *w = &workers[i];

		if (socketpair(AF_UNIX, SOCK_STREAM, 0, w->fds) || pipe(w->pipe))
			return 1;
		w->budget = 300 + (uint32_t)i;
#ifdef THREADS
		if (pthread_create(&threads[i], NULL, run, w))
			return 1;
#else
		if (COSY_SPAWN(loop, f0(w, 7, w->budget), .done = done, .data = w))
			return 1;
#endif
	}
#ifdef THREADS
	for (int i = 0; i < %(workers)d; i++)
		pthread_join(threads[i], NULL);
#else
	if (cosy_loop_run(loop) || cosy_loop_destroy(loop))
		return 1;
#endif
	for (int i = 0; i < %(workers)d; i++)
		printf("%%d: %%llx %%x %%u\\n", i, (unsigned long long)workers[i].result,
		       workers[i].hash, workers[i].budget);
	return 0;
}
"""


class Body:
    """The statements of a function."""

    def __init__(self, rng, number, results):
        self.rng = rng
        self.number = number
        self.results = results
        self.loops = 0

    def variable(self):
        return self.rng.choice(("a", "b", "local.words[a % 12]", "bytes[b % 40]", "*p"))

    def value(self):
        rng = self.rng
        return rng.choice((self.variable(), str(rng.randrange(100)), "w->hash & 255",
                           f"{self.variable()} + {self.variable()}",
                           f"mix({self.variable()}, {rng.randrange(1000)})",
                           f"({self.variable()} & 1 ? {self.variable()} : {rng.randrange(9)})"))

    def call(self):
        callee = self.rng.randrange(self.number + 1, FUNCTIONS)
        if self.rng.randrange(4) == 0:
            return f"by_value(w, local, {self.value()})"
        return f"f{callee}(w, {self.value()}, {self.value()})"

    def statement(self, depth):
        rng = self.rng
        kind = rng.randrange(13)
        if kind < 2:
            return [f"{self.variable()} = {self.value()};"]
        if kind == 2 and self.number + 1 < FUNCTIONS:
            return ["if (w->budget) {", "\tw->budget--;",
                    f"\t{self.variable()} += (uint32_t){self.call()};", "}"]
        if kind == 3:
            size = rng.randrange(1, 40)
            call = rng.choice((f"write(w->fds[1], bytes, {size})",
                               f"send(w->fds[1], bytes, {size}, 0)"))
            received = rng.choice((f"recv(w->fds[0], bytes, {size}, MSG_WAITALL)",
                                   f"read(w->fds[0], bytes, {size})"))
            if rng.randrange(3) == 0:
                call = f"write(w->pipe[1], bytes, {size})"
                received = f"read(w->pipe[0], bytes, {size})"
            return [f"note(w, (uint64_t){call});",
                    f"note(w, (uint64_t){received});",
                    "note(w, (uint64_t)errno);"]
        if kind == 4:
            return [f"local.words[3] = {self.value()};",
                    "note(w, (uint64_t)send(w->fds[0], &local, sizeof(local), 0));",
                    "memset(&local, 0, sizeof(local));",
                    "note(w, (uint64_t)recv(w->fds[1], &local, sizeof(local), MSG_WAITALL));",
                    "note(w, local.words[3]);", "note(w, (uint64_t)errno);"]
        if kind == 5:
            return [rng.choice(("note(w, (uint64_t)read(-1, bytes, 1));",
                                "note(w, (uint64_t)close(-2));",
                                'note(w, (uint64_t)open("/does/not/exist", O_RDONLY));',
                                "note(w, (uint64_t)lseek(w->fds[0], 0, SEEK_SET));",
                                "note(w, (uint64_t)recv(-1, bytes, 1, 0));",
                                "note(w, (uint64_t)strtol(\"99999999999999999999\", NULL, 10));",
                                "errno = 5;", "errno += 3;")),
                    "note(w, (uint64_t)errno);"]
        if kind == 6:
            return ["nanosleep(&moment, NULL);", "note(w, (uint64_t)errno);"]
        if kind == 7:
            return ["ready.fd = w->fds[1];", "ready.events = POLLOUT;",
                    "note(w, (uint64_t)poll(&ready, 1, -1));", "note(w, (uint64_t)ready.revents);"]
        if kind == 8:
            return [f"p = {rng.choice(('&a', '&b', 'local.words + 5'))};", f"*p ^= {self.value()};"]
        if kind == 9 and depth:
            return [f"if ({self.value()} & 2) {{", *self.block(depth - 1), "} else {",
                    *self.block(depth - 1), "}"]
        if kind == 10 and depth:
            self.loops += 1
            i = f"i{self.loops}"
            return [f"for (int {i} = 0; {i} < {rng.randrange(1, 4)}; {i}++) {{",
                    *self.block(depth - 1),
                    f"\tif ({self.value()} % 5 == 4)", f"\t\t{rng.choice(('break', 'continue'))};",
                    f"\tnote(w, (uint64_t){i});", "}"]
        if kind == 11 and depth:
            lines = [f"switch ({self.value()} % 4) {{"]
            for case in range(3):
                lines += [f"case {case}:", *self.block(depth - 1)]
                lines += ["\tbreak;"] if rng.randrange(3) else ["\t/* fall through */"]
            return lines + ["default:", "\tnote(w, 17);", "}"]
        if kind == 12 and rng.randrange(3) == 0:
            return [f"if ({self.value()} % 11 == 3)", f"\treturn ({self.results}){self.value()};"]
        return ["note(w, a);", "note(w, b);"]

    def block(self, depth):
        lines = []
        for _ in range(self.rng.randrange(1, 5)):
            lines += ["\t" + line for line in self.statement(depth)]
        return lines


def main():
    rng = random.Random(int(sys.argv[1]))
    print(HEAD)
    results = [rng.choice(("int32_t", "uint32_t", "int64_t", "uint8_t", "int16_t"))
               for _ in range(FUNCTIONS)]
    for n, result in enumerate(results):
        print(f"ASYNC static {result} f{n}(struct worker *w, uint32_t a, uint32_t b);")
    print("""
ASYNC static int64_t by_value(struct worker *w, struct block block, uint32_t n)
{
	uint32_t sum = n;

	for (int i = 0; i < 12; i++) {
		sum = mix(sum, block.words[i]);
		block.words[i] = sum;
		note(w, (uint64_t)write(w->fds[1], &block.words[i], 4));
		note(w, (uint64_t)read(w->fds[0], &sum, 4));
	}
	return -(int64_t)sum;
}""")
    for n, result in enumerate(results):
        body = Body(rng, n, result)
        print(f"\nASYNC static {result} f{n}(struct worker *w, uint32_t a, uint32_t b)\n{{\n"
              "\tconst struct timespec moment = { .tv_nsec = 1000 };\n"
              "\tunsigned char bytes[40] = { 0 };\n"
              "\tstruct block local = { { 0 } };\n"
              "\tstruct pollfd ready;\n"
              "\tuint32_t *p = &a;\n")
        for _ in range(4):
            print("\n".join(body.block(3)))
        print("\t(void)moment;\n\t(void)ready;\n"
              f"\treturn ({result})(a + b + *p + bytes[7]);\n}}")
    print(TAIL % {"workers": WORKERS})


main()
