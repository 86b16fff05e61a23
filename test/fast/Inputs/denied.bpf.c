// SPDX-License-Identifier: GPL-2.0
/*
 * denied.bpf.c - a security module that denies one process all operations on attributes of files,
 * and counts its calls.
 */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#define EACCES	13

char terms[] SEC("license") = "GPL";

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 5);
	__type(key, unsigned int);
	__type(value, unsigned long);
} state SEC(".maps");	/* the process, then the calls of each hook */

static __attribute__((always_inline)) int deny(unsigned int hook)
{
	unsigned int first = 0;
	unsigned long *process = bpf_map_lookup_elem(&state, &first);
	unsigned long *asked = bpf_map_lookup_elem(&state, &hook);

	if (!process || !asked || *process != bpf_get_current_pid_tgid() >> 32)
		return 0;
	++*asked;
	return -EACCES;
}

SEC("lsm/inode_getxattr")
int deny_getxattr(void *context)
{
	return deny(1);
}

SEC("lsm/inode_get_acl")
int deny_get_acl(void *context)
{
	return deny(2);
}

SEC("lsm/inode_listxattr")
int deny_listxattr(void *context)
{
	return deny(3);
}

SEC("lsm/inode_setattr")
int deny_setattr(void *context)
{
	return deny(4);
}
