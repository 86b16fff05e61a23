/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * bpf.c - bpf(2), with a token where there is one.
 *
 * In a user namespace, CAP_BPF and CAP_PERFMON suffice only with a token. A BPF file system that was
 * mounted to delegate these rights provides it.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "device/sys.h"
#include "function/bpf.h"

#define TOKEN_PATH	"LIBBPF_BPF_TOKEN_PATH"
#define BPFFS		"/sys/fs/bpf"

int cosy_bpf_token(void)
{
	const char *path = secure_getenv(TOKEN_PATH);
	struct {
		__u32 flags;
		__u32 bpffs_fd;
	} attr = { 0 };
	long directory, token;

	if (!path)
		path = BPFFS;
	/* By libbpf's convention, an empty path means that no token is wanted. */
	if (!*path)
		return -1;
	directory = cosy_sys6(SYS_openat, AT_FDCWD, (long)path,
			      O_DIRECTORY | O_CLOEXEC, 0, 0, 0);
	if (directory < 0)
		return -1;
	attr.bpffs_fd = (__u32)directory;
	token = cosy_sys(SYS_bpf, COSY_BPF_TOKEN_CREATE, (long)&attr,
			 sizeof(attr));
	close((int)directory);
	return token < 0 ? -1 : (int)token;
}

int cosy_bpf(int command, void *attr, unsigned int size, __u32 *flags,
	     __s32 *token_place, int token)
{
	if (token >= 0) {
		*flags |= COSY_BPF_F_TOKEN_FD;
		*token_place = token;
	}
	return (int)cosy_sys(SYS_bpf, command, (long)attr, size);
}
