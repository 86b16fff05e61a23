// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A declaration of a COSY_ASYNC function need not tell its parameters in C before C23.
// RUN: for level in -O0 -O2; do \
// RUN:   %clang $level -std=gnu17 -w -DDEFINED -c %s -o %t.o && \
// RUN:   %clang $level -std=gnu17 -w -pthread %s %t.o -o %t -L%lib -l:libcosy.a && \
// RUN:   COSY_EXECUTOR=user %bounded %t || exit; done
#include <stdint.h>
#include <unistd.h>

#include <cosy/task.h>

#ifdef DEFINED
COSY_ASYNC intptr_t difference(char *end, long begin)
{
	read(-1, NULL, 0);
	return end - (char *)begin;
}
#else
COSY_ASYNC intptr_t difference();

COSY_ASYNC static intptr_t twice(char *end)
{
	return difference(end, 30L) + difference(end, 30L);
}

int main(void)
{
	struct cosy_async first = { 0 }, second = { 0 };
	struct cosy_loop *loop;
	char *end = (char *)50;

	if (cosy_loop_create(&loop, NULL) ||
	    COSY_SPAWN(loop, difference(end, 30L), .op = &first) ||
	    COSY_SPAWN(loop, twice(end), .op = &second) || cosy_loop_run(loop) < 0)
		return 2;
	return first.result != 20 || second.result != 40 || cosy_loop_destroy(loop);
}
#endif
