/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Has a loop with seven functions; calls `COSY stat` while they wait, and when three have resumed. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cosy/task.h>

enum { N = 7, ACTIVE = 3 };

COSY_ASYNC static int repeat(int fd)
{
	char text[16];
	ssize_t n;

	while ((n = recv(fd, text, sizeof(text), 0)) > 0)
		if (send(fd, text, (size_t)n, MSG_NOSIGNAL) < 0)
			return 1;
	return 0;
}

static void show(const char *cosy)
{
	char command[4200];

	snprintf(command, sizeof(command), "%s stat -t -d 0.01 -n 1 -p %d", cosy, getpid());
	if (system(command))
		exit(1);
}

int main(int argc, char **argv)
{
	struct cosy_async ops[N] = { 0 };
	struct cosy_loop *loop;
	int fds[N][2];

	if (argc != 2 || cosy_loop_create(&loop, NULL))
		return 1;
	for (int i = 0; i < N; i++)
		if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds[i]) ||
		    COSY_SPAWN(loop, repeat(fds[i][0]), .op = &ops[i]))
			return 1;
	/* The functions and their compounds begin. */
	cosy_wait(loop, 0, NULL);
	cosy_wait(loop, 0, NULL);
	show(argv[1]);
	for (int i = 0; i < ACTIVE; i++)
		if (send(fds[i][1], "hello", 5, 0) != 5)
			return 1;
	cosy_wait(loop, 0, NULL);
	for (int i = 0; i < N; i++)
		close(fds[i][1]);
	for (int i = 0; i < N; i++)
		if (cosy_wait_for(loop, &ops[i], NULL))
			return 1;
	show(argv[1]);
	return cosy_loop_destroy(loop) != 0;
}
