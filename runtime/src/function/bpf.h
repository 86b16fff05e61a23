/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * bpf.h - bpf(2), with definitions that the headers of Debian 12 do not have.
 */
#ifndef COSY_BPF_H
#define COSY_BPF_H

#include <linux/bpf.h>

#define COSY_BPF_TOKEN_CREATE	36		/* since Linux 6.9 */
#define COSY_BPF_F_TOKEN_FD	(1u << 16)
#define COSY_BPF_MAP_TYPE_ARENA	33		/* since Linux 6.9 */

/* Parts of the kernel's union bpf_attr. The first is for BPF_MAP_CREATE. */
struct cosy_bpf_map {
	__u32 map_type;
	__u32 key_size;
	__u32 value_size;
	__u32 max_entries;
	__u32 map_flags;
	__u32 inner_map_fd;
	__u32 numa_node;
	char map_name[BPF_OBJ_NAME_LEN];
	__u32 map_ifindex;
	__u32 btf_fd;
	__u32 btf_key_type_id;
	__u32 btf_value_type_id;
	__u32 btf_vmlinux_value_type_id;
	__u64 map_extra;
	__s32 value_type_btf_obj_fd;
	__s32 token_fd;
};

/* For BPF_BTF_LOAD. */
struct cosy_bpf_btf {
	__u64 btf;
	__u64 log_buf;
	__u32 size;
	__u32 log_size;
	__u32 log_level;
	__u32 log_true_size;
	__u32 flags;
	__s32 token_fd;
};

/* For BPF_PROG_LOAD. */
struct cosy_bpf_program {
	__u32 prog_type;
	__u32 insn_cnt;
	__u64 insns;
	__u64 license;
	__u32 log_level;
	__u32 log_size;
	__u64 log_buf;
	__u32 kern_version;
	__u32 prog_flags;
	char prog_name[BPF_OBJ_NAME_LEN];
	__u32 prog_ifindex;
	__u32 expected_attach_type;
	__u32 prog_btf_fd;
	__u32 func_info_rec_size;
	__u64 func_info;
	__u32 func_info_cnt;
	__u32 line_info_rec_size;
	__u64 line_info;
	__u32 line_info_cnt;
	__u32 attach_btf_id;
	__u32 attach_prog_fd;
	__u32 core_relo_cnt;
	__u64 fd_array;
	__u64 core_relos;
	__u32 core_relo_rec_size;
	__u32 log_true_size;
	__s32 token_fd;
	__u32 : 32;
};

/**
 * cosy_bpf_token() - make a token, which allows bpf(2) to a process in its user namespace
 *
 * The BPF file system at LIBBPF_BPF_TOKEN_PATH makes it, or that at /sys/fs/bpf, as for libbpf.
 *
 * Return: a descriptor, which the caller closes; -1 if there is no token, or the process needs
 * none.
 */
int cosy_bpf_token(void);

/**
 * cosy_bpf() - call bpf(2) with a token
 * @command:	 its command
 * @attr:	 its argument
 * @size:	 size of @attr in bytes
 * @flags:	 address of the flags in @attr
 * @token_place: address of the token in @attr
 * @token:	 the token, -1 without
 *
 * Return: the result of bpf(2), or -errno.
 */
int cosy_bpf(int command, void *attr, unsigned int size, __u32 *flags,
	     __s32 *token_place, int token);

#endif /* COSY_BPF_H */
