/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 WITH LLVM-exception */
/*
 * costs.h - what a compound costs and saves, in guest instructions.
 *
 * The plugin and cosy-profile predict with these figures, and libcosy decides with
 * them whether a region runs as a compound. Each figure is the difference to native code that
 * ./cosy bench --instructions NAME measures (Linux 6.12, mitigations=off);
 * docs/porting.md has the table.
 */
#ifndef COSY_COSTS_H
#define COSY_COSTS_H

/* Entering and leaving: bench fit, 585 - 18. */
#define COSY_COST_ENTRY		567
/* Leaving for an up-call and entering again: bench upcall, 755 - 6. */
#define COSY_COST_UPCALL	749

/* Bench op: an operation, a load or store, a jump back. */
#define COSY_COST_OPERATION	7
#define COSY_COST_MEMORY	15
#define COSY_COST_LOOP		16

/* The crossing that a call saves: bench fit, 306.2 - 109.1. */
#define COSY_CALL_SAVES		197

/*
 * The most that a call saves for which there may be a fast path: per name among its
 * arguments, bench newfstatat, 3389 - 1374; of COSY_FILE_CALLS, a third of bench
 * smallfile, 10586 - 6493, without openclose, 5548 - 3948.
 */
#define COSY_NAME_CALL_SAVES	2000
#define COSY_FILE_CALL_SAVES	831

/*
 * What a call with a fast path usually saves in a compound, its crossing included, where
 * all is cached: CALL(name, saved). Measured in the loops of ./cosy bench predictions, on
 * tmpfs; calls that are measured in pairs share what they save. Those that are not here
 * save COSY_CALL_SAVES.
 */
#define COSY_USUAL_SAVINGS(CALL) \
	CALL(stat, 1990) CALL(lstat, 1965) CALL(newfstatat, 1990) CALL(statx, 2036) \
	CALL(open, 1790) CALL(openat, 1790) CALL(close, 303) \
	CALL(access, 1536) CALL(faccessat, 1600) CALL(faccessat2, 1600) \
	CALL(readlink, 1575) CALL(readlinkat, 1560) \
	CALL(unlink, 1320) CALL(unlinkat, 1320) \
	CALL(mkdir, 1270) CALL(mkdirat, 1270) CALL(rmdir, 1270) \
	CALL(rename, 2480) CALL(renameat, 2480) CALL(renameat2, 2480) \
	CALL(link, 2450) CALL(linkat, 2450) CALL(symlink, 2390) CALL(symlinkat, 2390) \
	CALL(chmod, 1606) CALL(fchmodat, 1606) \
	CALL(chown, 1560) CALL(lchown, 1560) CALL(fchownat, 1560) \
	CALL(truncate, 1590) CALL(utimensat, 1930) \
	CALL(getxattr, 1640) CALL(lgetxattr, 1640) \
	CALL(listxattr, 1590) CALL(llistxattr, 1590) \
	CALL(read, 500) CALL(pread64, 540) CALL(write, 550) CALL(pwrite64, 535) \
	CALL(fstat, 400)
/* An lseek() that is made as one with the read or write after it: bench lseekread. */
#define COSY_JOINED_SEEK_SAVES	450

/*
 * What such a call saves on average where its loop opens and closes the file: 690 for
 * files of 8 KiB (bench smallfile), 350 for files of 12 bytes (those of bench batch).
 */
#define COSY_FILE_CALL_USUALLY_SAVES	500

/*
 * The operations of a batch function for an item, without its calls: its loop, and the
 * path and the result in arrays.
 */
#define COSY_COST_BATCH_ITEM \
	(COSY_COST_LOOP + 4 * COSY_COST_MEMORY + 6 * COSY_COST_OPERATION)
/*
 * What cosy_read_many() spends on a file besides: an fstat(), and reads that are not
 * joined. Bench batch, read-calls, compared with the same calls between markers.
 */
#define COSY_COST_READ_MANY		1000

/* Calls with a fast path that have no name among their arguments. */
#define COSY_FILE_CALLS(CALL) \
	CALL(close) CALL(fstat) CALL(getdents64) CALL(pread64) CALL(pwrite64) \
	CALL(read) CALL(write)

/*
 * What a call saves below libcosy-preload.so, the entry included: CALL(name, saved,
 * near). @near is for a path of one component: the module finds it in the directory at
 * hand. Measured by build/bench/unmodified-calls, native less cosy run, as
 * docs/unmodified.md has it; calls that it measures in pairs share what they save.
 */
#define COSY_PRELOAD_SAVINGS(CALL) \
	CALL(newfstatat, 1577, 1828) CALL(statx, 1577, 1616) \
	CALL(openat, 1329, 1554) CALL(access, 1183, 1427) CALL(faccessat2, 1183, 1427) \
	CALL(readlink, 1160, 1160) CALL(readlinkat, 1160, 1160) \
	CALL(unlink, 900, 900) CALL(unlinkat, 900, 900) \
	CALL(mkdir, 847, 847) CALL(mkdirat, 847, 847) CALL(rmdir, 847, 847) \
	CALL(rename, 2022, 2022) CALL(renameat, 2022, 2022) CALL(renameat2, 2022, 2022) \
	CALL(link, 2027, 2027) CALL(linkat, 2027, 2027) \
	CALL(symlink, 1909, 1909) CALL(symlinkat, 1909, 1909) \
	CALL(chmod, 1173, 1173) CALL(fchmodat, 1173, 1173) \
	CALL(chown, 1204, 1204) CALL(lchown, 1204, 1204) CALL(fchownat, 1204, 1204) \
	CALL(truncate, 1200, 1200) CALL(utimensat, 1530, 1530) \
	CALL(getxattr, 1217, 1217) CALL(lgetxattr, 1221, 1221) \
	CALL(listxattr, 1174, 1174) CALL(llistxattr, 1174, 1174)
/* The same of a call that fails: stat of a name that does not exist. */
#define COSY_PRELOAD_FAILED_SAVES	690
/* What the start of a process costs more: bench unmodified, 155 (true) to 170 thousand. */
#define COSY_PRELOAD_START		160000
/* Calls that a process makes natively first: so many pay for opening the device. */
#define COSY_PRELOAD_NATIVE_CALLS	16
/* An fstatat() of a name in a directory in memory, natively: the same benchmark. */
#define COSY_STATUS_CALL		3387

#endif /* COSY_COSTS_H */
