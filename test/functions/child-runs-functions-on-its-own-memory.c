// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A process that forks before the first run of a region, as a server does before it has served: the
// functions of the child change the child's memory, those of the parent the parent's. A second child has
// replaced the segment that it has inherited.
// RUN: %cosy-cc -O2 -Wall -Wextra -Werror %s -o %t
// RUN: %vm env COSY_EXECUTOR=kernel COSY_FUNCTIONS=kernel COSY_STATS=1 %t 2>&1 | FileCheck %s
// CHECK-DAG: child: 100 of its own, 0 of its parent
// CHECK-DAG: function add: executor=native upcalls=100
// CHECK-DAG: child with a new segment: 100 of its own, 0 of its parent
// CHECK-DAG: parent: 100 of its own, 0 of its child
// CHECK-DAG: function add: executor=kernel upcalls=1
#include <cosy.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

/* How often each process has added. */
struct added {
	unsigned int parent, child;
};

COSY_FUNCTION void add(struct added *added, unsigned int child)
{
	if (child)
		added->child++;
	else
		added->parent++;
}

static void run(struct added *added, unsigned int child)
{
	for (int i = 0; i < 100; i++) {
		COSY_START;
		getppid();
		add(added, child);
		COSY_END;
	}
}

static void child(struct added *added, const char *name)
{
	run(added, 1);
	printf("%s: %u of its own, %u of its parent\n", name, added->child, added->parent);
}

int main(void)
{
	struct cosy_segment *segment = cosy_segment_create(0);
	struct added *added;
	int status;
	pid_t pid;

	if (!segment)
		return 1;
	cosy_segment_use(segment);
	added = cosy_calloc(1, sizeof(*added));
	for (int i = 0; i < 2; i++) {
		pid = fork();
		if (pid < 0 || !added)
			return 1;
		if (!pid && !i) {
			child(added, "child");
			return 0;
		}
		if (!pid) {
			cosy_segment_destroy(segment);
			segment = cosy_segment_create(0);
			cosy_segment_use(segment);
			added = cosy_calloc(1, sizeof(*added));
			child(added, "child with a new segment");
			return 0;
		}
		if (waitpid(pid, &status, 0) != pid || status)
			return 1;
	}
	run(added, 0);
	printf("parent: %u of its own, %u of its child\n", added->parent, added->child);
	return 0;
}
