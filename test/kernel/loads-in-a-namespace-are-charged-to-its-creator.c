// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* Loads of users inside a namespace are charged to the creator of the namespace. */
// RUN: %compile %s -o %t
// RUN: %vm %t
#include "compound.h"

#include <sched.h>
#include <sys/wait.h>

#define USER	65531	/* the user who creates a namespace */
#define INSIDE	200000	/* the first of two users inside it */

/* Decoded, more than an eighth of a user's limit. */
#define OPS	((1u << 20) - 8)

static void become(unsigned int id)
{
	if (setresgid(id, id, id) || setresuid(id, id, id))
		die("setresuid");
}

/* Open the device and continue as user @id of the namespace of @maker. */
static int enter_namespace(pid_t maker, unsigned int id)
{
	char name[64];
	int dev = open_device();

	snprintf(name, sizeof(name), "/proc/%d/ns/user", maker);
	if (setns(open(name, O_RDONLY), CLONE_NEWUSER))
		die("setns");
	become(id);
	return dev;
}

static void write_map(pid_t pid, const char *file, const char *map)
{
	char name[64];
	int fd;

	snprintf(name, sizeof(name), "/proc/%d/%s", pid, file);
	fd = open(name, O_WRONLY);
	if (fd < 0 || write(fd, map, strlen(map)) < 0)
		die(name);
	close(fd);
}

int main(void)
{
	struct cosy_op *ops = calloc(OPS, sizeof(*ops));
	int ready[2], first, second, status;
	struct image *im;
	pid_t maker, pid;
	char map[64], c;

	for (unsigned int i = 0; i < OPS - 1; i++)
		ops[i] = (struct cosy_op)ADDI(0, 0, 1);
	ops[OPS - 1] = (struct cosy_op)EXIT(0);
	im = make_image(ops, OPS, 1, 1, 0, 1);
	free(ops);

	if (pipe(ready))
		die("pipe");
	maker = fork();
	if (!maker) {
		become(USER);
		if (unshare(CLONE_NEWUSER))
			die("unshare");
		if (write(ready[1], "", 1) != 1)
			die("write");
		pause();
		_exit(0);
	}
	if (read(ready[0], &c, 1) != 1)
		die("read");
	snprintf(map, sizeof(map), "0 %u 1\n1 %u 2\n", USER, INSIDE);
	write_map(maker, "uid_map", map);
	write_map(maker, "gid_map", map);

	pid = fork();
	if (!pid) {
		int n, dev = enter_namespace(maker, 1);

		/* One user inside uses all of it. */
		for (n = 0; n < 100 && load_image(dev, im); n++)
			;
		if (n == 100 || errno != EDQUOT)
			die("COSY_IOC_LOAD");
		if (write(ready[1], &(char){ (char)n }, 1) != 1)
			die("write");
		pause();
		_exit(0);
	}
	if (read(ready[0], &c, 1) != 1)
		die("read");
	first = c;

	second = fork();
	if (!second) {
		_exit(load_image(enter_namespace(maker, 2), im) ? 1 : errno == EDQUOT ? 0 : 2);
	}
	waitpid(second, &status, 0);
	check(first > 0 && WIFEXITED(status) && !WEXITSTATUS(status),
	      "%d loads by one user of a namespace, and none by another", first);
	kill(pid, SIGKILL);
	kill(maker, SIGKILL);
	waitpid(pid, NULL, 0);
	waitpid(maker, NULL, 0);
	free(im);
	return finish();
}
