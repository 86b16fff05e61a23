/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * `cosy stat` shows the workers of a team, and names one that does not return: its time, its colour, and
 * what waits in its queue. Other workers steal that. No module is needed. A child shows nothing.
 */
// RUN: %compile
// RUN: COSY_EXECUTOR=user timeout 100 %t %build/bin/cosy > %t.out
// RUN: FileCheck %s < %t.out
#include <stdlib.h>
#include <sys/wait.h>

#include "team.h"

static struct cosy_team *team;
static const char *cosy;
static atomic_bool begun, go_on;
static atomic_int ran;

static void show(const char *what)
{
	char command[256];

	printf("%s\n", what);
	fflush(stdout);
	snprintf(command, sizeof(command), "%s stat -n 1 -d 0.01 -p %d 2>&1", cosy, getpid());
	printf("status %d\n", system(command));
	fflush(stdout);
}

static void does_not_return(void *arg)
{
	(void)arg;
	begun = true;
	while (!go_on)
		usleep(1000);
}

static void runs(void *arg)
{
	(void)arg;
	ran++;
}

int main(int argc, char **argv)
{
	struct cosy_team_options options = { .size = sizeof(options), .workers = 2 };
	struct cosy_team_info info;

	CHECK(argc == 2);
	cosy = argv[1];
	// CHECK: no team
	// CHECK-NOT: COMMAND TEAM
	show("no team");
	EQUAL(cosy_team_create(&team, &options), 0);
	do {
		usleep(1000);
		EQUAL(cosy_team_info(team, &info, sizeof(info)), 0);
	} while (info.asleep < 2);
	// CHECK: idle
	// CHECK: PID COMMAND TEAM WORKER THREAD QUEUED RAN STOLEN SENT DROPPED OLDEST_MS RUNS_MS COLOUR
	// CHECK-NEXT: [[#PID:]] cosy-stat-shows [[#TEAM:]] 0 [[#FIRST:]] 0 0 0 0 0 0 -
	// CHECK-NEXT: [[#PID]] cosy-stat-shows [[#TEAM]] 1 [[#]] 0 0 0 0 0 0 -
	// CHECK: status 0
	show("idle");
	EQUAL(cosy_team_call(team, 0xabc, does_not_return, NULL), 0);
	while (!begun)
		usleep(1000);
	for (uint64_t i = 1; i <= 100; i++)
		EQUAL(cosy_team_call(team, i, runs, NULL), 0);
	while (ran < 100)
		usleep(1000);
	usleep(300000);
	// CHECK: stuck
	// CHECK: COLOUR
	// CHECK-DAG: [[#PID]] cosy-stat-shows [[#TEAM]] [[#]] [[#]] 0 0 0 0 0 0 {{[2-9][0-9][0-9]|[0-9][0-9][0-9][0-9]+}} 0xabc
	// CHECK-DAG: [[#PID]] cosy-stat-shows [[#TEAM]] [[#]] [[#]] 0 100 {{.*}} {{-|[0-9]+ .*}}
	// CHECK: status 0
	show("stuck");
	go_on = true;
	EQUAL(cosy_team_wait(team, NULL), 0);
	if (!fork()) {
		// CHECK: child
		// CHECK-NOT: COMMAND TEAM
		// CHECK: end of child
		show("child");
		puts("end of child");
		fflush(stdout);
		_exit(0);
	}
	wait(NULL);
	EQUAL(cosy_team_destroy(team), 0);
	// CHECK: destroyed
	// CHECK-NOT: COMMAND TEAM
	show("destroyed");
	return 0;
}
