#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The kernel headers of Debian 12, 6.1.192, and a module that is built with LLVM=-19, by which the kernel's Makefile takes clang
# and LLVM's other tools: gcc 12 compiles the module, and ld.lld links it. The headers have a file .kernelvariables,
# which is included after the tools have been chosen. It sets CC to gcc-12 again, and no other tool. make succeeds, and prints
# no warning.
#
# Besides what README.md says, this needs make and gcc-12.

# shellcheck source=findings/common.sh
. "$(dirname -- "$(readlink -f -- "$0")")/common.sh"

version=6.1.192-3
unpack linux-headers-6.1.0-57-amd64=$version linux-headers-6.1.0-57-common=$version linux-kbuild-6.1=$version \
	lld-19=1:19.1.7-3~deb12u1 llvm-19=1:19.1.7-3~deb12u1 libllvm19=1:19.1.7-3~deb12u1
headers=$folder/root/usr/src/linux-headers-6.1.0-57-amd64
sed -i "s|/usr/src|$folder/root&|" "$headers/Makefile"
mkdir module
echo 'obj-m := example.o' >module/Makefile
cat >module/example.c <<'END'
#include <linux/module.h>
MODULE_LICENSE("GPL");
END

make -C "$headers" M="$folder/module" LLVM=-19 V=1 modules >log 2>&1

# uses PROGRAM - print how many commands of make are the program with the module's files.
uses() {
	grep -cE "(^|[; ])$1 .*module/example" log || true
}

expect "compilations by gcc-12" 2 "$(uses 'gcc-12 .* -c')"
expect "compilations by clang-19" 0 "$(uses clang-19)"
expect "links by ld.lld-19" 1 "$(uses 'ld\.lld-19')"
expect "the compiler in the module" gcc \
	"$(readelf -p .comment module/example.ko | grep -qE 'GCC: .* 12\.' && echo gcc || echo another)"
expect "warnings" 0 "$(grep -ci warning: log || true)"
