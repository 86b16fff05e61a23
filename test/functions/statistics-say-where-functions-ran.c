// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * User functions in regions give the same results on every executor, and COSY_STATS shows
 * where they ran.
 */
// RUN: %clang -O2 -Wall -Werror -pthread %s -o %t -L%lib -l:libcosy.a
// RUN: %t > %t.native
// RUN: %vm env COSY_FUNCTIONS=kernel COSY_STATS=1 %t > %t.out 2> %t.err
// RUN: diff %t.native %t.out && %FileCheck --check-prefix=KERNEL %s < %t.err
// RUN: %vm env COSY_FUNCTIONS=auto COSY_STATS=1 %t > %t.out 2> %t.err
// RUN: diff %t.native %t.out && %FileCheck --check-prefix=AUTO %s < %t.err
// If no compound runs in the kernel, no function is loaded.
// RUN: %vm env COSY_EXECUTOR=native strace -f -e trace=bpf,openat -o %t.trace %t > %t.out
// RUN: diff %t.native %t.out && %FileCheck --check-prefix=NOTHING %s < %t.trace
// RUN: %vm env COSY_FUNCTIONS=native COSY_STATS=1 %t > %t.out 2> %t.err
// RUN: diff %t.native %t.out && %FileCheck --check-prefix=NATIVE %s < %t.err
// An unprivileged user may not load programs. The results are the same, natively, with a message
// on request. The user may have no access to the checkout.
// RUN: %vm sh -c 'cp %t /tmp/functions-run && chmod 755 /tmp/functions-run'
// RUN: %vm setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all env COSY_FUNCTIONS=kernel COSY_STATS=1 /tmp/functions-run > %t.out 2> %t.err
// RUN: diff %t.native %t.out && %FileCheck --check-prefix=NATIVE %s < %t.err
// The two capabilities are sufficient.
// RUN: %vm setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all,+bpf,+perfmon --ambient-caps=-all,+bpf,+perfmon env COSY_FUNCTIONS=kernel COSY_STATS=1 /tmp/functions-run > %t.out 2> %t.err
// RUN: diff %t.native %t.out && %FileCheck --check-prefix=KERNEL %s < %t.err
// RUN: %vm rm /tmp/functions-run
// RUN: COSY_FUNCTIONS=here %t 2>&1 >%t.out | %FileCheck --check-prefix=UNKNOWN %s
//
// KERNEL: statistics-say-where-functions-ran.c:[[#]]: function length: executor=kernel
// AUTO: statistics-say-where-functions-ran.c:[[#]]: function length: executor={{kernel|native}} upcalls={{.*}} native-cycles={{[0-9]+}} kernel-cycles={{[0-9]+}}
// NOTHING-NOT: bpf(
// NOTHING-NOT: /dev/cosy
// NOTHING: exited with 0
// NATIVE: statistics-say-where-functions-ran.c:[[#]]: function length: executor=native
// UNKNOWN: {{^}}cosy: COSY_FUNCTIONS=here is unknown (known: auto, kernel, native); using auto{{$}}
#include <cosy.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct node {
	struct node *next;
	long value;
};

/* A list that user code has created, traversed and changed in place. */
COSY_FUNCTION
static long length(struct node *list)
{
	long n = 0;

	for (; list; list = list->next) {
		list->value++;
		n += list->value;
	}
	return n;
}

static struct node *make(int count)
{
	struct node *list = NULL;

	for (int i = 0; i < count; i++) {
		struct node *node = cosy_malloc(sizeof(*node));

		node->next = list;
		node->value = i;
		list = node;
	}
	return list;
}

static long walk(struct node *list)
{
	long total = 0;

	for (int i = 0; i < 100; i++) {
		COSY_START;
		getppid();
		total += length(list);
		COSY_END;
	}
	return total;
}

/* Each on a separate segment, or all on the shared one. */
static void *in_thread(void *arg)
{
	struct cosy_segment *own = NULL;
	long total;

	if ((long)arg % 2) {
		own = cosy_segment_create(0);
		cosy_segment_use(own);
	}
	total = walk(make(100));
	cosy_segment_destroy(own);
	return (void *)total;
}

int main(void)
{
	struct node outside = { NULL, 5 };
	struct node *list = make(1000);
	pthread_t threads[6];
	void *total;

	printf("%ld\n", walk(list));
	printf("%ld\n", walk(NULL));
	/* Memory outside a segment works, too. */
	printf("%ld\n", walk(&outside));
	for (long i = 0; i < 6; i++)
		pthread_create(&threads[i], NULL, in_thread, (void *)i);
	for (int i = 0; i < 6; i++) {
		pthread_join(threads[i], &total);
		printf("thread: %ld\n", (long)total);
	}
	fflush(stdout);
	if (!fork()) {
		printf("child: %ld\n", walk(list));
		fflush(stdout);
		_exit(0);
	}
	wait(NULL);
	printf("parent: %ld\n", walk(list));
	return 0;
}
