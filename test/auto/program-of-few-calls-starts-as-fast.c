// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * The cost of -fcosy-auto for a program that makes few calls, from exec to exit: at most 15,000,
 * on one CPU that counts instructions.
 */

// RUN: rm -rf %t && mkdir -p %t/native %t/auto
// RUN: %cc -O2 -Wall %s -o %t/native/few && %cosy-cc -O2 -Wall -fcosy-auto %s -o %t/auto/few

// Starting looks up no further symbol, except the environment, and since glibc 2.41 whether there are
// threads. A hidden reference would need no look-up, but programs that use the variable would not link.
// RUN: for way in native auto; do readelf -rW %t/$way/few | grep -Ecv 'JUMP_SLO|RELATIVE| __environ| __libc_single_threaded@|^Relocation|^$' >%t/$way.count; done; cmp %t/native.count %t/auto.count

// The programs are in a file system of the VM. With fixed addresses they always use the same
// number of pages.
// RUN: %root/scripts/vm/run --icount -- sh -c 'cp -r %t /tmp/start && cd /tmp/start && setarch -R %build/bench/unmodified-measure -n 21 -a PATH=native -b PATH=auto few' >%t/figures
// RUN: awk '{ print "clang:", $1, "-fcosy-auto:", $2; exit !($1 && $2 - $1 <= 15000) }' %t/figures

#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	const char *name = argv[0];
	struct stat st;
	char text[16];
	int failed = 0;

	if (argc > 1) {
		failed = chmod(name, 0) || chown(name, 0, 0) || link(name, name) ||
			 mkdir(name, 0) || rename(name, name) || rmdir(name) ||
			 symlink(name, name) || truncate(name, 0) ||
			 unlink(name) || lstat(name, &st) ||
			 readlink(name, text, sizeof(text)) < 0 ||
			 getxattr(name, name, text, sizeof(text)) < 0;
		_exit(failed);
	}
	failed |= stat("/", &st) || access("/", R_OK) || close(open("/", O_RDONLY));
	puts(failed ? "failed" : "done");
	return failed;
}
