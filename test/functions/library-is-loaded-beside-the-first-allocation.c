// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A thread allocates the first memory of functions, for which libcosy loads libbpf, while another thread
// loads a library whose constructor allocates, too. Neither waits for the other for ever.
// RUN: %cosy-cc -O2 -Wall -Wextra -Werror -pthread -rdynamic %s -o %t
// RUN: %cc -O2 -Wall -Wextra -Werror -DLIBRARY -shared -fPIC %s -o %t.so
// RUN: %vm env COSY_FUNCTIONS=kernel COSY_STATS=1 %t %t.so 2>&1 | FileCheck %s
// CHECK-DAG: done
// CHECK-DAG: function add: executor=kernel
#ifdef LIBRARY
void constructed(void);

__attribute__((constructor)) static void construct(void)
{
	constructed();
}
#else
#include <cosy.h>
#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static sem_t loading;
static unsigned int *count, *counted;

COSY_FUNCTION void add(unsigned int *to)
{
	++*to;
}

void constructed(void)
{
	const struct timespec while_it_allocates = { .tv_nsec = 500000000 };

	sem_post(&loading);
	nanosleep(&while_it_allocates, NULL);
	counted = cosy_calloc(1, sizeof(*counted));
}

static void *allocate(void *arg)
{
	(void)arg;
	sem_wait(&loading);
	count = cosy_calloc(1, sizeof(*count));
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread;

	if (argc < 2 || sem_init(&loading, 0, 0) || pthread_create(&thread, NULL, allocate, NULL))
		return 1;
	alarm(120);
	if (!dlopen(argv[1], RTLD_NOW) || pthread_join(thread, NULL) || !count || !counted)
		return 1;
	for (int i = 0; i < 3; i++) {
		COSY_START;
		getppid();
		add(count);
		COSY_END;
	}
	printf("%s\n", *count == 3 ? "done" : "wrong");
	return 0;
}
#endif
