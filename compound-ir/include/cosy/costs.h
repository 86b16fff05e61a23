/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 WITH LLVM-exception */
/*
 * costs.h - the costs and savings of a compound, in guest instructions.
 *
 * The plugin and cosy-profile predict with these figures, and libcosy decides with
 * them whether a region runs as a compound. Each figure is the difference to native code that
 * ./cosy bench --instructions NAME measures (Linux 6.12, mitigations=off);
 * docs/porting.md has the table.
 */
#ifndef COSY_COSTS_H
#define COSY_COSTS_H

/* Entering and leaving the kernel: bench fit, 585 - 18. */
#define COSY_COST_ENTRY		567
/* Leaving for an up-call and resuming: bench upcall, 755 - 6. */
#define COSY_COST_UPCALL	749
/*
 * The same for a compound of a COSY_ASYNC function: a request of bench cache-unix-64, with one
 * up-call, takes 10,120 as a compound and 5,177 natively (docs/async.md). The clients are answered
 * one by one.
 */
#define COSY_COST_ASYNC_UPCALL	5000
/*
 * The most that such a compound may cost for a request, beyond native code, to run at all: where
 * one request at a time is served, it saves more than this over an operation for each call.
 */
#define COSY_MAX_ASYNC_COST	1000
/*
 * Putting an open private file into the process's table, because the compound leaves, and the
 * slower calls for it from then on: the loops read_files and hash_files of
 * bench/programs/typical.c, 2,726 - 1,285, less the up-call.
 */
#define COSY_COST_PUBLISH	690

/* Bench op: an operation, a load or store, a back-edge. */
#define COSY_COST_OPERATION	7
#define COSY_COST_MEMORY	15
#define COSY_COST_LOOP		16

/*
 * The usual cost of an operation on many bytes: OPERATION(NAME, cost). Bench predictions: with
 * 64 bytes, and with 24 for those on strings. The native code of most takes less than 30.
 */
#define COSY_BULK_COSTS(OPERATION) \
	OPERATION(COPY, 185) OPERATION(FILL, 110) OPERATION(COMPARE, 175) OPERATION(FIND, 310) \
	OPERATION(STRLEN, 240) OPERATION(STRNLEN, 240) OPERATION(STRCMP, 245) \
	OPERATION(STRCHR, 215) OPERATION(STRRCHR, 290) OPERATION(STPCPY, 420)

/* The crossing that a call saves: bench fit, 306.2 - 109.1. */
#define COSY_CALL_SAVES		197

/*
 * The maximum that a call with a fast path saves. For each name among its arguments: fstatat() in
 * bench predictions, 3415 - 1171. For calls of COSY_FILE_CALLS: a third of the saving of bench
 * smallfile (10586 - 6493) less that of openclose (5548 - 3948).
 */
#define COSY_NAME_CALL_SAVES	2250
#define COSY_FILE_CALL_SAVES	831

/*
 * The usual saving of a call with a fast path in a compound, including the crossing, if
 * everything is cached: CALL(name, saved). Measured in the loops of ./cosy bench
 * predictions, on tmpfs. Calls that are measured in pairs share their saving. A write() saves
 * this if it overwrites, and COSY_CALL_SAVES if it extends the file. Other calls save
 * COSY_CALL_SAVES; what fcntl() saves more is the code of the C library's function.
 */
#define COSY_USUAL_SAVINGS(CALL) \
	CALL(stat, 2170) CALL(lstat, 2070) CALL(newfstatat, 2170) CALL(statx, 2066) \
	CALL(open, 2080) CALL(openat, 2080) CALL(close, 303) \
	CALL(access, 1763) CALL(faccessat, 1887) CALL(faccessat2, 1887) \
	CALL(readlink, 1636) CALL(readlinkat, 1643) \
	CALL(unlink, 1320) CALL(unlinkat, 1320) \
	CALL(mkdir, 1312) CALL(mkdirat, 1312) CALL(rmdir, 1312) \
	CALL(rename, 2418) CALL(renameat, 2418) CALL(renameat2, 2418) \
	CALL(link, 2425) CALL(linkat, 2425) CALL(symlink, 2429) CALL(symlinkat, 2429) \
	CALL(chmod, 1667) CALL(fchmodat, 1667) \
	CALL(chown, 1677) CALL(lchown, 1677) CALL(fchownat, 1677) \
	CALL(truncate, 1673) CALL(utimensat, 2105) \
	CALL(getxattr, 1763) CALL(lgetxattr, 1720) \
	CALL(listxattr, 1798) CALL(llistxattr, 1798) \
	CALL(read, 500) CALL(pread64, 535) CALL(write, 510) CALL(pwrite64, 522) \
	CALL(fstat, 400) CALL(fcntl, 235)
/*
 * Opening with flags that are COSY_PRELOAD_WALKS(), to create or truncate a file, for example: the
 * loops touch_unlink, replace_files and copy_files of bench/programs/typical.c, less their other
 * calls, 1,254, 1,435 and 1,006.
 */
#define COSY_WALKED_OPEN_SAVES		1230
/* A read() or write() of a pipe: the loop pipe_through of bench/programs/typical.c. */
#define COSY_STREAM_CALL_SAVES		260
/* An lseek() that is joined with the read or write after it: bench lseekread. */
#define COSY_JOINED_SEEK_SAVES	450

/*
 * The average saving of such a call if its loop opens and closes the file: 690 for files of
 * 8 KiB (bench smallfile), 350 for files of 12 bytes (bench batch).
 */
#define COSY_FILE_CALL_USUALLY_SAVES	500

/*
 * The operations of a batch function for one item, without its calls: its loop, and the
 * accesses to the path and the result in arrays.
 */
#define COSY_COST_BATCH_ITEM \
	(COSY_COST_LOOP + 4 * COSY_COST_MEMORY + 6 * COSY_COST_OPERATION)
/*
 * The further cost of cosy_read_many() for one file: an fstat(), and reads that are not
 * joined. Bench batch, read-calls, compared with the same calls between markers.
 */
#define COSY_COST_READ_MANY		1000

/* Calls with a fast path and without a name among their arguments. */
#define COSY_FILE_CALLS(CALL) \
	CALL(close) CALL(fstat) CALL(getdents64) CALL(pread64) CALL(pwrite64) \
	CALL(read) CALL(write)

/*
 * The saving of a call with libcosy-preload.so, including the entry: CALL(name, path, here,
 * in_directory). @path is the saving for a path of three components, @here for one in the working
 * directory, and @in_directory for one in a directory that is open, which functions without such an
 * argument do not have. Measured by build/bench/unmodified-calls as native minus cosy run;
 * docs/unmodified.md has figures. Calls that are measured in pairs share their saving, and have
 * one for all forms.
 */
#define COSY_PRELOAD_SAVINGS(CALL) \
	CALL(newfstatat, 1785, 1670, 1870) CALL(statx, 1533, 1410, 1626) \
	CALL(stat, 1785, 1670, 1670) CALL(lstat, 1785, 1670, 1670) \
	CALL(openat, 1666, 1540, 1739) \
	CALL(access, 1375, 1257, 1257) CALL(faccessat2, 1375, 1257, 1466) \
	CALL(readlink, 1240, 1216, 1216) CALL(readlinkat, 1240, 1216, 1440) \
	CALL(unlink, 1050, 1050, 1050) CALL(unlinkat, 1050, 1050, 1050) \
	CALL(mkdir, 870, 870, 870) CALL(mkdirat, 870, 870, 870) CALL(rmdir, 870, 870, 870) \
	CALL(rename, 2025, 2025, 2025) CALL(renameat, 2025, 2025, 2025) \
	CALL(renameat2, 2025, 2025, 2025) \
	CALL(link, 1895, 1895, 1895) CALL(linkat, 1895, 1895, 1895) \
	CALL(symlink, 2020, 2020, 2020) CALL(symlinkat, 2020, 2020, 2020) \
	CALL(chmod, 1392, 1297, 1297) CALL(fchmodat, 1392, 1297, 1488) \
	CALL(chown, 1386, 1268, 1268) CALL(lchown, 1386, 1268, 1268) \
	CALL(fchownat, 1386, 1268, 1485) \
	CALL(truncate, 1382, 1290, 1290) CALL(utimensat, 1495, 1385, 1590) \
	CALL(getxattr, 1433, 1312, 1312) CALL(lgetxattr, 1423, 1310, 1310) \
	CALL(listxattr, 1382, 1265, 1265) CALL(llistxattr, 1382, 1265, 1265)
/*
 * Whether opening a file with these flags takes the kernel's path walk: to create it, to write
 * to it, with O_PATH, and other flags than COSY_SIMPLE_OPEN_FLAGS of kernel/cosy/fast/calls.h.
 * O_LARGEFILE is a number, because it is 0 for programs.
 */
#define COSY_PRELOAD_WALKS(flags) \
	(((flags) & ~(O_NOCTTY | O_NONBLOCK | 0100000 | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)) != 0)
/*
 * The saving of a call whose name takes the kernel's path walk: opening with O_PATH, or for
 * writing. That of localtime()'s stat of /etc/localtime, a symbolic link, which is looked up in
 * vain first: bench profile busybox-ls genisoimage, by their differences, 513 and 498. A stat of
 * a link in the working directory by the program saves 823.
 */
#define COSY_PRELOAD_WALK_SAVES		933
#define COSY_PRELOAD_LINK_SAVES		505
/*
 * The saving of a look-up that asks the file system, because the dentry cache does not have the
 * name or its file system checks each: it is looked up in vain first, too. 978 for stat() of a
 * name in /proc or on 9p, and 691 for open().
 */
#define COSY_PRELOAD_SLOW_SAVES		850
/*
 * The saving of a call that finds no file, which the module knows from the dentry cache: stat of
 * a name that does not exist, on tmpfs; on ext4 1136. Opening such a name makes the kernel's
 * call, too; on ext4 it saves 1198.
 */
#define COSY_PRELOAD_MISSING_SAVES	2740
#define COSY_PRELOAD_MISSING_OPEN_SAVES	2220
/*
 * The cost of realpath() for a name that is its own result, and for each of its components, in
 * place of a readlink() for each: 1,914 with two components and 3,225 with six, on tmpfs.
 * build/bench/unmodified-calls measures one name.
 */
#define COSY_PRELOAD_REALPATH		1200
#define COSY_PRELOAD_REALPATH_COMPONENT	340
/*
 * Redirecting the calls that glibc makes itself, and the number of them that a process makes
 * before that, after COSY_PRELOAD_NATIVE_CALLS: preload/sites.c.
 */
#define COSY_PRELOAD_LIBRARY_START	55000
#define COSY_PRELOAD_LIBRARY_CALLS	48
/* The further cost of starting a process: bench unmodified, 65 to 75 thousand (true). */
#define COSY_PRELOAD_START		70000
/*
 * The number of calls that a process makes natively before it opens the device; this number
 * pays for opening it.
 */
#define COSY_PRELOAD_NATIVE_CALLS	16
/* The native cost of fstatat() for a name in a cached directory: the same benchmark. */
#define COSY_STATUS_CALL		3387

#endif /* COSY_COSTS_H */
