/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The protocol between vm-exec on the host and the agent in the VM.
 *
 * The two are connected by VM_PORTS virtio-serial ports. A port carries one command at a time.
 * File locks on the host determine which port is free. All data is sent in frames: a header and
 * `length` bytes. A port survives a client that dies in the middle of a frame. By the magic
 * number the reader finds the next frame. By the session number the next client ignores answers
 * for the previous one.
 *
 * The host sends input only when it is requested, so that a port is never full towards the guest.
 * When a client leaves a full port, QEMU 7.2 accepts no other client on it.
 */
#ifndef COSY_VM_PROTOCOL_H
#define COSY_VM_PROTOCOL_H

#include <stdint.h>

#define VM_PORTS	8
#define VM_MAGIC	0x79736f432f6d7601ull	/* does not occur in text */
#define VM_CHUNK	(32 * 1024)		/* maximum bytes of a stream frame */
#define VM_RUN_MAX	(4 * 1024 * 1024)	/* maximum bytes of a VM_RUN frame */

struct vm_frame {
	uint64_t magic;
	uint64_t session;
	uint32_t type;		/* enum vm_frame_type */
	uint32_t length;
};

enum vm_frame_type {
	/* Host to guest. */
	VM_RUN = 1,	/* struct vm_run and its strings: run a command */
	VM_STDIN,	/* bytes for its standard input, none: end of file; only on request */
	VM_WINSIZE,	/* struct vm_winsize: the terminal was resized */
	VM_POWEROFF,	/* write everything back and switch the VM off */

	/* Guest to host. */
	VM_STARTED,	/* the command has been received */
	VM_WANT_STDIN,	/* the command has read all input; one VM_STDIN may follow */
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

#define VM_RUN_TTY	1u	/* run it on its own terminal */

/* Statuses that do not come from the command; 126 and 127 are as in the shell. */
#define VM_STATUS_KERNEL	97	/* the VM's kernel has reported a fault or died */
#define VM_STATUS_NO_VM		98	/* no VM, or it does not answer */
#define VM_STATUS_TIMEOUT	124

#endif
