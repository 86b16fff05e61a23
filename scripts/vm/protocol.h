/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What vm-exec on the host and the agent in the VM say to each other.
 *
 * The two are connected by VM_PORTS virtio-serial ports.  A port carries one command at a
 * time; which one is free is settled by file locks on the host.  Everything is a frame: a
 * header and `length` bytes.  A port survives a client that dies in the middle of a frame,
 * hence the magic number, by which the reader finds the next frame, and the session
 * number, by which the next client tells its own answers from its predecessor's.
 *
 * The host sends input only when it is wanted, so that a port is never full towards the
 * guest: when a client leaves a full port, QEMU 7.2 accepts no other on it.
 */
#ifndef COSY_VM_PROTOCOL_H
#define COSY_VM_PROTOCOL_H

#include <stdint.h>

#define VM_PORTS	8
#define VM_MAGIC	0x79736f432f6d7601ull	/* not to be met in text */
#define VM_CHUNK	(32 * 1024)		/* most bytes of a stream frame */
#define VM_RUN_MAX	(4 * 1024 * 1024)	/* most bytes of a VM_RUN frame */

struct vm_frame {
	uint64_t magic;
	uint64_t session;
	uint32_t type;		/* enum vm_frame_type */
	uint32_t length;
};

enum vm_frame_type {
	/* Host to guest. */
	VM_RUN = 1,	/* struct vm_run and its strings: run a command */
	VM_STDIN,	/* bytes for its standard input, none: end of file; only when wanted */
	VM_WINSIZE,	/* struct vm_winsize: the terminal was resized */
	VM_POWEROFF,	/* write everything back and switch the VM off */

	/* Guest to host. */
	VM_STARTED,	/* the command has been received */
	VM_WANT_STDIN,	/* the command has taken what was sent; one VM_STDIN may follow */
	VM_STDOUT,	/* bytes */
	VM_STDERR,	/* bytes */
	VM_EXIT,	/* uint32_t: the status as wait(2) has it; the last frame */
};

struct vm_winsize {
	uint16_t rows;
	uint16_t columns;
};

/*
 * Followed by NUL-terminated strings: the working directory, `argc` arguments, `envc`
 * assignments NAME=VALUE.
 */
struct vm_run {
	uint32_t flags;
	uint32_t argc;
	uint32_t envc;
	struct vm_winsize winsize;
};

#define VM_RUN_TTY	1u	/* run it on a terminal of its own */

/* Statuses that are not the command's own; 126 and 127 are as in the shell. */
#define VM_STATUS_KERNEL	97	/* the VM's kernel complained or died */
#define VM_STATUS_NO_VM		98	/* no VM, or it does not answer */
#define VM_STATUS_TIMEOUT	124

#endif
