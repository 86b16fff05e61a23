/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * By default a team has as many workers as CPUs that it may use: by its affinity mask, and by the time that its
 * cgroup, and those that contain it, have. The limits are ordinary files, mounted over those of the kernel. To set
 * one there changes the scheduler's code, while the other CPU executes it, which the emulator does not always survive.
 */
// RUN: %compile
// RUN: COSY_EXECUTOR=user %bounded %t
// RUN: %with-module cgroups
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "team.h"

#define OUTER	"/sys/fs/cgroup/cosy-team"
#define INNER	OUTER "/inner"

static uint32_t default_size(void)
{
	struct cosy_team *team = make_team(0);
	const uint32_t workers = info_of(team).workers;

	EQUAL(cosy_team_destroy(team), 0);
	return workers;
}

static void put(const char *file, const char *text)
{
	const int fd = open(file, O_WRONLY | O_CREAT | O_TRUNC, 0644);

	CHECK(fd >= 0);
	EQUAL(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
}

/* Let the calling thread run on one CPU. */
static cpu_set_t take_one_cpu(void)
{
	cpu_set_t all, one;

	EQUAL(sched_getaffinity(0, sizeof(all), &all), 0);
	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	EQUAL(sched_setaffinity(0, sizeof(one), &one), 0);
	return all;
}

static void obeys_affinity(void)
{
	const cpu_set_t all = take_one_cpu();

	EQUAL(default_size(), 1);
	EQUAL(sched_setaffinity(0, sizeof(all), &all), 0);
}

static void obeys_cgroups(void)
{
	const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	struct cosy_team *team;

	CHECK(cpus >= 2);
	EQUAL(default_size(), cpus);
	EQUAL(mkdir(OUTER, 0755), 0);
	EQUAL(mkdir(INNER, 0755), 0);
	put(INNER "/cgroup.procs", "0");
	EQUAL(default_size(), cpus);
	EQUAL(unshare(CLONE_NEWNS), 0);
	EQUAL(mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL), 0);
	EQUAL(mount("none", "/sys/fs/cgroup", "tmpfs", 0, NULL), 0);
	EQUAL(mkdir(OUTER, 0755), 0);
	EQUAL(mkdir(INNER, 0755), 0);
	put(INNER "/cpu.max", "max 100000\n");
	EQUAL(default_size(), cpus);
	put(INNER "/cpu.max", "100000 100000\n");
	EQUAL(default_size(), 1);
	/* A part of a CPU is rounded up. */
	put(INNER "/cpu.max", "50000 100000\n");
	EQUAL(default_size(), 1);
	put(INNER "/cpu.max", "110000 100000\n");
	EQUAL(default_size(), 2);
	put(INNER "/cpu.max", "8000000 100000\n");
	EQUAL(default_size(), cpus);
	obeys_affinity();
	/* A cgroup that contains that of the process. */
	put(OUTER "/cpu.max", "60000 100000\n");
	EQUAL(default_size(), 1);
	/* The program may know better, and a team gets the present default when it asks for that. */
	team = make_team(2);
	EQUAL(info_of(team).workers, 2);
	EQUAL(cosy_team_resize(team, 0), 0);
	EQUAL(info_of(team).workers, 1);
	put(OUTER "/cpu.max", "max 100000\n");
	EQUAL(cosy_team_resize(team, 0), 0);
	EQUAL(info_of(team).workers, cpus);
	EQUAL(cosy_team_destroy(team), 0);
	EQUAL(umount2("/sys/fs/cgroup", MNT_DETACH), 0);
	put("/sys/fs/cgroup/cgroup.procs", "0");
	EQUAL(rmdir(INNER), 0);
	EQUAL(rmdir(OUTER), 0);
}

int main(int argc, char **argv)
{
	(void)argv;
	alarm(600);
	obeys_affinity();
	if (argc > 1)
		obeys_cgroups();
	return 0;
}
