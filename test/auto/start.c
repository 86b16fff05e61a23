// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * What a program that makes few calls pays for -fcosy-auto, from exec to exit: on one CPU that
 * counts instructions, at most 15,000.
 */

// RUN: rm -rf %t && mkdir -p %t/native %t/auto
// RUN: %cc -O2 -Wall %s -o %t/native/few && %cosy-cc -O2 -Wall -fcosy-auto %s -o %t/auto/few

// Nothing more is looked up when it starts, except the environment.
// RUN: for way in native auto; do readelf -rW %t/$way/few | grep -Ecv 'JUMP_SLO|RELATIVE| __environ|^Relocation|^$' >%t/$way.count; done; cmp %t/native.count %t/auto.count

// The programs are in a file system of the VM. Always at the same addresses, they always have as many pages.
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
