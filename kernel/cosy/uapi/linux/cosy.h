/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 WITH LLVM-exception */
/*
 * linux/cosy.h - the interface of /dev/cosy.
 *
 * A file on /dev/cosy holds loaded compounds. COSY_IOC_LOAD verifies and
 * decodes an image and returns a handle; COSY_IOC_UNLOAD unloads the compound;
 * closing the last descriptor of the file unloads all. A handle is never used
 * twice, not for another file either. A handle from a file that was closed
 * fails with ENOENT on the next file, and never names another compound.
 *
 * A loaded compound is run by
 *
 *	lseek(fd, COSY_RUN_TAG | (address of a struct cosy_run), COSY_RUN_WHENCE)
 *
 * because that is the shortest path into a driver. The program may have closed the
 * descriptor and opened another file with its number. On such a file, the tag makes
 * lseek fail without an effect.
 *
 * What the entry returns:
 *	COSY_RUN_DONE | exit	  done by that exit; the outputs are in the frame
 *	COSY_RUN_LEFT		  left early; status, value and pc say why and where,
 *				  the registers are in the frame
 *	COSY_RUN_SECCOMP_BLOCKED  done or left, as status says (if done, value is
 *				  the exit), and a seccomp filter that was set
 *				  meanwhile returns anything but ALLOW for the next
 *				  entry. The native program makes no entries, so
 *				  continue without entering
 *	-errno, status COSY_RESULT  a system call inside returned a restart code
 *				  and the entry was not restarted: what the entry
 *				  returned (of any sign) is the call's result
 *	-errno, another status	  nothing was executed; pc is as it was, and so is status if it was
 *				  COSY_DONE, else it is COSY_AGAIN:
 *		EFAULT	the descriptor or the frame cannot be read
 *		ENOENT	no such handle in this file
 *		EINVAL	bad pc, status or reserved field
 *		ENOMEM	no memory for the registers
 *		ELOOP	entered from inside a compound too deeply
 *		EBUSY	the thread is traced (ptrace), and the compound would begin:
 *			run the native code, which contains the breakpoints
 *		EOPNOTSUPP  by a 32-bit system call
 *		others	the descriptor is not /dev/cosy any more
 *	anything else, status not COSY_RESULT: the descriptor is not /dev/cosy
 *				  any more (lseek on /dev/null returns 0)
 *
 * If the frame or the run cannot be written although operations have been
 * executed, the process has lost its own state and gets SIGSEGV.
 *
 * DONE, LEFT and SECCOMP_BLOCKED are above 32 bits. So neither the result of another file nor
 * that of a call that is restarted, which is an int, is taken for one of them.
 *
 * The caller sets status to COSY_DONE before its first entry, and to COSY_AGAIN
 * when it enters again. When a nested call is interrupted, the module saves the
 * state with status COSY_RESULT and returns the kernel's own restart code. If
 * the kernel restarts the entry, it resumes at pc by itself; if a handler
 * without SA_RESTART ran, the entry returns -EINTR, which is then the call's
 * result; if the call has its own restart function (nanosleep, poll), its result
 * is returned. So whenever status is COSY_RESULT afterwards, the
 * returned value belongs to the call at pc.
 */
/*
 * Versions of the interface
 *
 * COSY_IOC_INFO returns the oldest and the newest ABI that the module supports.
 * A library uses the module if its own ABI is in this range. Additions to the
 * interface do not change the ABI:
 *
 * - The argument of a command begins with its size, which the caller sets. New
 *   fields are appended, and 0 means the behaviour before the field existed. A
 *   shorter structure is taken as if zeros followed, and only its own bytes are
 *   written. A longer one fails with E2BIG, unless all bytes that the module does
 *   not know are 0.
 * - struct cosy_run, which every entry reads, has no size. A field that is added
 *   to it, or to struct cosy_suspended, is read and written only if a flag in
 *   @flags is set that was added with the field.
 * - The flags that the module knows are in struct cosy_info. A library sets no
 *   other flags. Unknown flags, and reserved fields that are not 0, fail with
 *   EINVAL, and unknown commands with ENOTTY.
 */
#ifndef _UAPI_LINUX_COSY_H
#define _UAPI_LINUX_COSY_H

#include <linux/ioctl.h>
#include <linux/types.h>

/*
 * It is opened for reading and writing. An open for reading only has no effect, and
 * answers a question: EINVAL if the process may use the device, EPERM if a seccomp
 * filter returns anything but ALLOW for one of the calls that this takes, EOPNOTSUPP if
 * there are no fast paths on this kernel, so that single calls would lose. So a library
 * can ask by a call that the dynamic linker makes, too, and without getting a
 * descriptor.
 */
#define COSY_DEVICE	"/dev/cosy"

#define COSY_RUN_WHENCE	4		/* SEEK_HOLE */
#define COSY_RUN_TAG	(1ull << 62)
#define COSY_RUN_DONE	(1ull << 32)	/* | number of the exit */
#define COSY_RUN_LEFT	(2ull << 32)
#define COSY_RUN_SECCOMP_BLOCKED	(3ull << 32)

/**
 * struct cosy_function_failure - where a user function has failed
 * @address:  the address of the access that has failed, if it was one
 * @line:     source line, 0 if it is not known
 * @function: the function's number in the compound
 * @wrote:    1 if it may have written to memory before
 * @reserved: 0
 */
struct cosy_function_failure {
	__u64 address;
	__u32 line;
	__u32 function;
	__u32 wrote;
	__u32 reserved;
};

/* The maximum number of words of a user function's state: COSY_FUNCTION_SAVED. */
#define COSY_SUSPENDED_WORDS	64

/**
 * struct cosy_suspended - a user function that was suspended
 * @resume:   where it resumes
 * @wrote:    1 if it may have written to memory
 * @stack:    number of its stack, which stays reserved for it, from 1; 0: it has none
 * @reserved: 0
 * @saved:    its state
 */
struct cosy_suspended {
	__u32 resume;
	__u32 wrote;
	__u32 stack;
	__u32 reserved;
	__u64 saved[COSY_SUSPENDED_WORDS];
};

/**
 * struct cosy_run - one run of a compound
 * @handle:	from COSY_IOC_LOAD
 * @frame:	address of nregs 64-bit registers. An entry with pc 0 and status
 *		COSY_DONE uses only the inputs, others use all registers; only
 *		the outputs are written when done, all when left early. For an
 *		up-call, and after it, "all" is the range that it names
 * @errno_addr: address of the calling thread's errno
 * @pc:		slot to begin at; out: where to resume
 * @status:	enum cosy_status of cosy/status.h; COSY_DONE, COSY_AGAIN or COSY_RESULT on
 *		entry, written when left early, and with COSY_RUN_SECCOMP_BLOCKED; when done it
 *		may or may not be written
 * @value:	out, with status
 * @limit:	with COSY_RUN_LIMIT: operations that this entry may execute, in place
 *		of the compound's own limit; when left early the remaining limit is
 *		written: below 0 if the limit was the reason
 * @calls:	in/out: system calls made are added, if COSY_RUN_COUNT is set
 * @flags:	COSY_RUN_COUNT, COSY_RUN_LIMIT; out: COSY_RUN_CAPPED; in/out:
 *		COSY_RUN_SUSPENDED, which stays when it is entered again
 * @slice:	milliseconds of CPU time after which this entry leaves, if that is
 *		less than the module's time_slice; 0: the module's
 * @operations:	in/out: operations executed by the entries of this run that left
 *		early. Updated while the administrator limits runs; not read if
 *		pc is 0 and status COSY_DONE on entry
 * @cpu_time:	in/out: the CPU time of these entries in nanoseconds, without those
 *		of a few microseconds
 * @functions:	out, if COSY_RUN_COUNT is set: user functions called in this entry
 * @failure:	out, with status COSY_FAILED
 * @suspended:	address of a struct cosy_suspended for the state of a function that is
 *		suspended with COSY_RUN_SUSPENDED. Not accessed unless one is
 */
struct cosy_run {
	__u64 handle;
	__u64 frame;
	__u64 errno_addr;
	__u32 pc;
	__u32 status;
	__u64 value;
	__u64 limit;
	__u64 calls;
	__u32 flags;
	__u32 slice;
	__u64 operations;
	__u64 cpu_time;
	__u64 functions;
	struct cosy_function_failure failure;
	__u64 suspended;
};

#define COSY_RUN_COUNT	(1u << 0)
#define COSY_RUN_LIMIT	(1u << 1)
/* The run has exceeded the administrator's limits for runs: end or finish it. */
#define COSY_RUN_CAPPED	(1u << 2)
/* The function that the CALL at pc calls was suspended; the run resumes it. */
#define COSY_RUN_SUSPENDED (1u << 3)
#define COSY_RUN_FLAGS	(COSY_RUN_COUNT | COSY_RUN_LIMIT | COSY_RUN_CAPPED | \
			 COSY_RUN_SUSPENDED)

/**
 * struct cosy_call - one system call, made without a compound
 * @nr:     its number
 * @status: out: COSY_CALL_INTERRUPTED if the error that the entry returned is the
 *	    call's result; otherwise unchanged
 * @args:   its arguments; additional ones are not used
 *
 * Made by
 *
 *	lseek(fd, COSY_RUN_TAG | (address of a struct cosy_call), COSY_CALL_WHENCE)
 *
 * Nothing has to be loaded. It returns
 *	COSY_CALL_DONE | result   the call was made; the result is in 32 bits, as
 *				  the kernel returns it
 *	COSY_CALL_LEFT | reason   it was not made, make it natively: calls of this
 *				  number are never made (COSY_CALL_UNKNOWN), the
 *				  thread or its calls are traced
 *				  (COSY_CALL_TRACED), or a seccomp filter returns
 *				  anything but ALLOW (COSY_CALL_FILTERED)
 *	-errno, status COSY_CALL_INTERRUPTED  it was interrupted, and that is its
 *				  result. If the kernel restarts the entry, the
 *				  call is made again
 *	anything else		  it was not made: the descriptor is not /dev/cosy
 *				  any more, or EFAULT, ELOOP, EOPNOTSUPP as above
 *
 * The calls are those of compound-ir/preload.def that have a fast path in the
 * running kernel, and COSY_CALL_REALPATH.
 */
struct cosy_call {
	__u32 nr;
	__u32 status;
	__u64 args[6];
};

/*
 * In place of the readlink() calls that realpath() makes, one for each component: the
 * result is 0 if the file of the absolute name args[0] exists, and neither it nor a
 * directory on its path is a symbolic link. Then the name is the result of realpath(),
 * unless it contains ".", ".." or repeated slashes. Otherwise the result is EAGAIN,
 * above all for names that are not cached. args[1] and args[2] must be 0. A seccomp
 * filter evaluates readlink() with these arguments.
 */
#define COSY_CALL_REALPATH	4096u

#define COSY_CALL_WHENCE	3		/* SEEK_DATA */
#define COSY_CALL_DONE		(4ull << 32)	/* | result */
#define COSY_CALL_LEFT		(5ull << 32)	/* | reason */

#define COSY_CALL_UNKNOWN	0u
#define COSY_CALL_TRACED	1u
#define COSY_CALL_FILTERED	2u

#define COSY_CALL_INTERRUPTED	1u

/**
 * struct cosy_load - argument of COSY_IOC_LOAD
 * @size:   of this structure
 * @flags:  COSY_LOAD_*
 * @image:  address of the compound image
 * @image_size: its size in bytes
 * @offset: out, with EINVAL: byte offset of the error in the image
 * @handle: out: the handle
 * @reason: out, with EINVAL: why the image was rejected, NUL-terminated
 *
 * Errors: EFAULT, EINVAL (see reason), E2BIG (size, image_size), ENOMEM, ENOSPC
 * (the file holds as many compounds as max_loads allows), EDQUOT (the user's
 * compounds take as much memory as user_memory allows).
 */
struct cosy_load {
	__u32 size;
	__u32 flags;
	__u64 image;
	__u32 image_size;
	__u32 offset;
	__u64 handle;
	char reason[64];
};

/* Make each call as a plain nested call, without fast paths. */
#define COSY_LOAD_PLAIN	(1u << 0)
/* For entries of loops only: see COSY_ENTRY_COMPOUND in linux/cosy_async.h. */
#define COSY_LOAD_PARKS	(1u << 1)
#define COSY_LOAD_FLAGS	(COSY_LOAD_PLAIN | COSY_LOAD_PARKS)

/**
 * struct cosy_bind - argument of COSY_IOC_BIND: the program of a user function
 * @size:     of this structure
 * @flags:    0
 * @handle:   the compound
 * @function: number of the function in it
 * @fd:	      a BPF program of type SYSCALL, as cosy/function.h says; -1: remove
 *	      the function's program for this segment
 * @base:     upper half of all addresses in the segment; the lower half is 0
 * @pointers: bit i is set if argument i is a pointer; 6 bits
 * @trial:    the number of calls after which the program is removed; 0: no trial. At
 *	      most COSY_BIND_MAX_TRIAL; or COSY_BIND_NO_CALLS: new calls do not use
 *	      the program, but suspended functions can resume
 * @stacks:   address of the first of the stacks in the segment
 * @stack_size: bytes of a stack; 0: the function needs none
 * @stack_stride: bytes from one stack to the next
 * @nstacks:  number of stacks, at most 64: the maximum of calls at the same time
 * @reserved: 0
 * @data:     address of the copy of the function's constants
 * @calls:    out: calls of the previous trial, if there was one
 * @cycles:   out: the cycles of these calls, by the time-stamp counter
 *
 * The program is called for the process that has bound it, not for its children.
 * A binding replaces the previous one for its segment. If the stacks are the same,
 * suspended calls keep theirs.
 * A function can have one program for each segment. A CALL uses the program whose
 * segment contains the pointer arguments, or any program if all of them are null;
 * if there is none, CALL leaves as an up-call.
 *
 * Errors: EFAULT, E2BIG, EINVAL (invalid arguments, or not a program that can be called),
 * EBADF, ENOENT (no such compound; no binding to remove), ENOSPC, EDQUOT,
 * ENOMEM, EOPNOTSUPP (this kernel has no BPF arenas), EPERM (the process's seccomp filters
 * do not allow bpf(BPF_PROG_TEST_RUN); removing a binding is allowed), and what security modules
 * return for that call.
 */
struct cosy_bind {
	__u32 size;
	__u32 flags;
	__u64 handle;
	__u32 function;
	__s32 fd;
	__u64 base;
	__u32 pointers;
	__u32 trial;
	__u64 stacks;
	__u32 stack_size;
	__u32 stack_stride;
	__u32 nstacks;
	__u32 reserved;
	__u64 data;
	__u64 calls;
	__u64 cycles;
};

#define COSY_BIND_MAX_TRIAL	(1u << 20)
#define COSY_BIND_NO_CALLS	(~0u)

/**
 * struct cosy_yield - result of COSY_IOC_YIELD: the operands of a program's call of
 * cosy_function_yield()
 * @size: in: of this structure
 * @flags: in: 0
 * @fd: a descriptor of the module's BTF, close-on-exec; for the fd_array
 * @id: the kfunc's ID in it; for the call instruction
 *
 * Errors: EFAULT, EINVAL, E2BIG, EMFILE, ENFILE, ENOMEM, EOPNOTSUPP; EPERM: the
 * process has neither CAP_BPF nor CAP_SYS_ADMIN.
 */
struct cosy_yield {
	__u32 size;
	__u32 flags;
	__s32 fd;
	__u32 id;
};

/**
 * struct cosy_info - result of COSY_IOC_INFO
 * @size:       in: of this structure; out: the size that the module knows
 * @flags:      COSY_INFO_TRACED: runs would end with EBUSY or COSY_STEP_TRACED;
 *		COSY_INFO_UNFILTERED: the thread has no seccomp filter;
 *		COSY_INFO_INHERITED: another process has opened the file
 * @abi:        the newest ABI that the module supports, its own COSY_ABI
 * @oldest_abi: the oldest one
 * @format:     the newest version of compounds it loads, its own COSY_VERSION
 * @oldest_format: the oldest one
 * @load_flags: flags that struct cosy_load may have
 * @run_flags:  flags that struct cosy_run may have on entry
 * @features:   COSY_FEATURE_FUNCTIONS: user functions can be bound on this kernel;
 *		COSY_FEATURE_ASYNC: loops can be made;
 *		COSY_FEATURE_SHARES: shares can be made
 * @max_loads:  compounds one file may hold
 * @thread:     the calling thread, as gettid() returns it; 0 from a module that does not tell it
 * @version:    release of the module, NUL-terminated
 *
 * Errors: EFAULT, EINVAL (size), E2BIG.
 */
struct cosy_info {
	__u32 size;
	__u32 flags;
	__u32 abi;
	__u32 oldest_abi;
	__u32 format;
	__u32 oldest_format;
	__u32 load_flags;
	__u32 run_flags;
	__u64 features;
	__u32 max_loads;
	__u32 thread;
	char version[16];
};

#define COSY_INFO_TRACED (1u << 0)
#define COSY_INFO_UNFILTERED (1u << 1)
#define COSY_INFO_INHERITED (1u << 2)

#define COSY_FEATURE_FUNCTIONS (1ull << 0)
#define COSY_FEATURE_ASYNC (1ull << 1)
#define COSY_FEATURE_SHARES (1ull << 2)

#define COSY_ABI		4
#define COSY_OLDEST_ABI		4

/* The numbers contain no sizes, because the structures contain them. */
#define COSY_IOC_INFO	_IO('Q', 0x40)
#define COSY_IOC_LOAD	_IO('Q', 0x41)
#define COSY_IOC_UNLOAD	_IO('Q', 0x42)	/* argument: address of a __u64, the handle */
#define COSY_IOC_BIND	_IO('Q', 0x43)
#define COSY_IOC_YIELD	_IO('Q', 0x44)
/*
 * Returns another descriptor of the same file, close-on-exec, with a number that
 * no call returns to the process: the soft RLIMIT_NOFILE plus COSY_HIDE_FIRST, or the
 * next free one. Programs use the limit itself as a number that is never open.
 * Errors: EMFILE (all of these are used), ERANGE (the limit is above COSY_HIDE_MAX:
 * each fork would copy a table of descriptors of this length), ENOMEM, EOPNOTSUPP
 * (the module cannot choose the number on this kernel).
 */
#define COSY_IOC_HIDE	_IO('Q', 0x45)	/* no argument */

#define COSY_HIDE_FIRST	32
#define COSY_HIDE_MAX	4096

#define COSY_IOC_ASYNC	_IO('Q', 0x46)	/* argument: linux/cosy_async.h */
#define COSY_IOC_SHARE	_IO('Q', 0x47)	/* argument: linux/cosy_share.h */

#endif /* _UAPI_LINUX_COSY_H */
