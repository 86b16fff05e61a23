/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 WITH LLVM-exception */
/*
 * cosy_bound.h - the interface of /dev/cosy-bound.
 *
 * Each ioctl runs one benchmark's loop as compiled C inside the kernel.
 */
#ifndef COSY_BOUND_H
#define COSY_BOUND_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define COSY_BOUND_DEVICE "/dev/cosy-bound"

/**
 * struct cosy_bound - argument of every ioctl
 * @count:  iterations
 * @fd:	    LS: the directory; COPY: the source; else the file
 * @to:	    COPY: the target
 * @path:   STAT, OPENCLOSE, SMALLFILE: address of the path
 * @position: SEEKREAD: position of the read
 * @buffer: address of the buffer
 * @size:   its size in bytes
 * @blocks: WRITE: blocks of a pass; DBSIM: records
 * @stat:   STAT, LS: address of a struct stat
 * @sum:    out: GETPID, PREAD: the last result; LS: the sum of the sizes; COPY to
 *	    SEEKREAD: bytes moved; else 0
 *
 * Errors: EFAULT, or the error of the first call that fails.
 */
struct cosy_bound {
	__u64 count;
	__s64 fd;
	__s64 to;
	__u64 path;
	__u64 position;
	__u64 buffer;
	__u64 size;
	__u64 blocks;
	__u64 stat;
	__u64 sum;
};

/** getpid() */
#define COSY_BOUND_GETPID	_IOWR('Q', 0x60, struct cosy_bound)
/** pread(fd, buffer, size, 0) */
#define COSY_BOUND_PREAD	_IOWR('Q', 0x61, struct cosy_bound)
/** newfstatat(AT_FDCWD, path, stat, 0) */
#define COSY_BOUND_STAT		_IOWR('Q', 0x62, struct cosy_bound)
/** close(openat(AT_FDCWD, path, O_RDONLY)) */
#define COSY_BOUND_OPENCLOSE	_IOWR('Q', 0x63, struct cosy_bound)
/** passes over fd: lseek, getdents64, newfstatat and st_size of each entry */
#define COSY_BOUND_LS		_IOWR('Q', 0x64, struct cosy_bound)
/** passes over fd from its beginning: read and write to the target */
#define COSY_BOUND_COPY		_IOWR('Q', 0x65, struct cosy_bound)
/** passes over fd from its beginning: read */
#define COSY_BOUND_READ		_IOWR('Q', 0x66, struct cosy_bound)
/** passes over fd from its beginning: read, seek back, write */
#define COSY_BOUND_REWRITE	_IOWR('Q', 0x67, struct cosy_bound)
/** passes over fd from its beginning: write @blocks blocks */
#define COSY_BOUND_WRITE	_IOWR('Q', 0x68, struct cosy_bound)
/** seek to a random record, read it, and write it in every second iteration */
#define COSY_BOUND_DBSIM	_IOWR('Q', 0x69, struct cosy_bound)
/** openat(AT_FDCWD, path, O_RDONLY), read up to the end, close */
#define COSY_BOUND_SMALLFILE	_IOWR('Q', 0x6a, struct cosy_bound)
/** lseek(fd, position, SEEK_SET), read(fd, buffer, size) */
#define COSY_BOUND_SEEKREAD	_IOWR('Q', 0x6b, struct cosy_bound)

/** The next state of the random numbers for DBSIM, which are the upper halves of the states. */
#define COSY_BOUND_NEXT(state)	((state) * 6364136223846793005ull + 1442695040888963407ull)

#endif /* COSY_BOUND_H */
