#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# gold 2.40 and a function that is declared weak and hidden, because it is optional and may be in the same program only:
# - If nothing defines it, its address in a position-independent executable is not null, so a program that asks
#   "if (function)" believes that it has it. The entry of the global offset table gets a relocation relative to
#   where the program is loaded, so it contains that address. Without PIE it is null.
# - If only a shared library has that name, as libc.so here, gold refuses to link, in PIE or not.
# bfd 2.40 and lld 19.1.7 link both, and the address is null.

# shellcheck source=findings/common.sh
. "$(dirname -- "$(readlink -f -- "$0")")/common.sh"

unpack binutils-x86-64-linux-gnu=2.40-2 libbinutils=2.40-2 lld-19=1:19.1.7-3~deb12u1 libllvm19=1:19.1.7-3~deb12u1
cat >optional.c <<'END'
extern int NAME(void) __attribute__((weak, visibility("hidden")));

int main(void)
{
	return NAME ? 1 : 0;
}
END

# result LINKER NAME OPTION... - link a program that asks for the function, and print what becomes of it.
result() {
	local linker=$1 name=$2 log
	shift 2
	rm -rf linker program
	mkdir linker
	ln -s "$(type -P "$linker")" linker/ld
	cc -O1 -fPIE -c "-DNAME=$name" optional.c
	if log=$(cc -B"$folder/linker" optional.o -o program "$@" 2>&1); then
		./program && echo null || echo "not null"
	else
		grep -o 'hidden symbol.*' <<<"$log"
	fi
}

for linker in x86_64-linux-gnu-ld.bfd ld.lld-19; do
	expect "$linker, no definition" null "$(result $linker nowhere_defined -pie)"
	expect "$linker, libc.so" null "$(result $linker getpagesize -pie)"
done
gold=x86_64-linux-gnu-ld.gold
expect "gold, no definition" "not null" "$(result $gold nowhere_defined -pie)"
expect "gold, no definition, without PIE" null "$(result $gold nowhere_defined -no-pie)"
expect "gold, libc.so" "hidden symbol 'getpagesize' is not defined locally" "$(result $gold getpagesize -pie)"
expect "gold, libc.so, without PIE" "hidden symbol 'getpagesize' is not defined locally" \
	"$(result $gold getpagesize -no-pie)"
