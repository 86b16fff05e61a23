// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * with-token.c - run a command in a user namespace that has a file system of BPF
 * at a given directory.
 *
 *	with-token none|delegate DIRECTORY COMMAND [ARGUMENT...]
 *
 * "delegate": the file system gives tokens for the needs of user functions. The command has all
 * capabilities in its namespace, and none outside.
 */
#define _GNU_SOURCE
#include <linux/mount.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void check(const char *what, long result)
{
	if (result >= 0)
		return;
	perror(what);
	exit(1);
}

static void send_fd(int to, int fd)
{
	char byte = 0, control[CMSG_SPACE(sizeof(fd))] = { 0 };
	struct iovec data = { &byte, 1 };
	struct msghdr message = { .msg_iov = &data, .msg_iovlen = 1,
				  .msg_control = control,
				  .msg_controllen = sizeof(control) };
	struct cmsghdr *header = CMSG_FIRSTHDR(&message);

	header->cmsg_level = SOL_SOCKET;
	header->cmsg_type = SCM_RIGHTS;
	header->cmsg_len = CMSG_LEN(sizeof(fd));
	memcpy(CMSG_DATA(header), &fd, sizeof(fd));
	check("sendmsg", sendmsg(to, &message, 0));
}

static int receive_fd(int from)
{
	char byte, control[CMSG_SPACE(sizeof(int))];
	struct iovec data = { &byte, 1 };
	struct msghdr message = { .msg_iov = &data, .msg_iovlen = 1,
				  .msg_control = control,
				  .msg_controllen = sizeof(control) };
	struct cmsghdr *header;
	int fd;

	check("recvmsg", recvmsg(from, &message, 0));
	header = CMSG_FIRSTHDR(&message);
	check("no descriptor", header ? 0 : -1);
	memcpy(&fd, CMSG_DATA(header), sizeof(fd));
	return fd;
}

static void put(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	if (!f || fputs(text, f) < 0 || fclose(f))
		check(path, -1);
}

/* Only root of the initial namespace can delegate. */
static void delegate(int fd)
{
	/* By number, because names are known only since Linux 6.15. */
	static const char *const options[][2] = {
		{ "delegate_cmds", "0x40021" },		/* MAP_CREATE, PROG_LOAD, BTF_LOAD */
		{ "delegate_maps", "0x200000000" },	/* ARENA */
		{ "delegate_progs", "0x80000000" },	/* SYSCALL */
		{ "delegate_attachs", "0x1" },		/* 0, nothing to attach to */
	};

	for (int i = 0; i < 4; i++)
		check(options[i][0], syscall(SYS_fsconfig, fd, FSCONFIG_SET_STRING,
					     options[i][0], options[i][1], 0));
}

static void in_namespace(int parent, char **argv)
{
	int fd, mount;
	char byte;

	check("unshare", unshare(CLONE_NEWUSER | CLONE_NEWNS));
	/* The parent writes the id maps. */
	check("write", write(parent, "", 1));
	check("read", read(parent, &byte, 1));
	check("setresgid", setresgid(0, 0, 0));
	check("setresuid", setresuid(0, 0, 0));
	fd = (int)syscall(SYS_fsopen, "bpf", FSOPEN_CLOEXEC);
	check("fsopen", fd);
	send_fd(parent, fd);
	check("read", read(parent, &byte, 1));
	mount = (int)syscall(SYS_fsmount, fd, FSMOUNT_CLOEXEC, 0);
	check("fsmount", mount);
	check("move_mount", syscall(SYS_move_mount, mount, "", -1, argv[2],
				    MOVE_MOUNT_F_EMPTY_PATH));
	execvp(argv[3], argv + 3);
	perror(argv[3]);
	exit(1);
}

int main(int argc, char **argv)
{
	int sockets[2], fd, status;
	char path[64], byte;
	pid_t child;

	if (argc < 4)
		return 2;
	check("socketpair", socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0,
				       sockets));
	child = fork();
	check("fork", child);
	if (!child) {
		close(sockets[0]);
		in_namespace(sockets[1], argv);
	}
	close(sockets[1]);
	check("read", read(sockets[0], &byte, 1) - 1);
	/* Root of the initial namespace has no id here. */
	snprintf(path, sizeof(path), "/proc/%d/uid_map", child);
	put(path, "0 65534 1\n");
	snprintf(path, sizeof(path), "/proc/%d/gid_map", child);
	put(path, "0 65534 1\n");
	check("write", write(sockets[0], "", 1));
	fd = receive_fd(sockets[0]);
	if (!strcmp(argv[1], "delegate"))
		delegate(fd);
	check("FSCONFIG_CMD_CREATE", syscall(SYS_fsconfig, fd, FSCONFIG_CMD_CREATE,
					     NULL, NULL, 0));
	check("write", write(sockets[0], "", 1));
	waitpid(child, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
