#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# arc4random(), of which one expects a generator in the process that the kernel seeds now and then, makes a system call for
# each number with both libraries of Debian 12 that have it:
# - glibc 2.36 makes a getrandom call for 4 bytes. Announcements of it described a pool for each thread, which was removed
#   before the release.
# - libbsd 0.11.7 has a pool, but calls getpid() for each number, to notice that the process was forked. glibc has
#   not cached the number of the process since version 2.25, so that is a system call, too. arc4random_buf()
#   makes one for any size.
# Both define the same symbol, so the order in which a program is linked decides which call it makes. arc4random(3) says
# nothing about the cost, and arc4random(3bsd) says that numbers are made quickly. A pull request of shadow (623) calls
# glibc's function a wrapper of getrandom(); nothing was found about libbsd's getpid().
#
# Besides what README.md says, this needs gcc and the headers of libc.

# shellcheck source=findings/common.sh
. "$(dirname -- "$(readlink -f -- "$0")")/common.sh"

expect "glibc" 2.36 "$(getconf GNU_LIBC_VERSION | sed 's/glibc //')"
unpack libbsd0=0.11.7-2 libmd0=1.0.4-2
cat >numbers.c <<'END'
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

uint32_t arc4random(void);
void arc4random_buf(void *buffer, size_t size);

int main(int argc, char **argv)
{
	static uint32_t numbers[1000];
	int each = argc == 2 && atoi(argv[1]);

	if (!each)
		arc4random_buf(numbers, sizeof numbers);
	for (int i = 0; each && i < 1000; i++)
		numbers[i] = arc4random();
	return 0;
}
END
bsd="root/usr/lib/x86_64-linux-gnu/libbsd.so.0 -Wl,-rpath-link,root/usr/lib/x86_64-linux-gnu"
gcc -O1 numbers.c -o glibc
# shellcheck disable=SC2086 # these are two arguments
gcc -O1 numbers.c -o libbsd $bsd
# shellcheck disable=SC2086
gcc -O1 numbers.c -o second -Wl,--no-as-needed -lc $bsd

# made PROGRAM EACH - print which calls the program makes for 1,000 numbers. libc makes a few more when it starts.
made() {
	local total
	traced getrandom,getpid "./$1" "$2"
	for call in getrandom getpid; do
		total=$(calls "$call\\(")
		if ((total >= 1000)); then
			echo "$call for each"
			return
		fi
	done
	((total < 10)) && echo "a few"
}

expect "glibc, arc4random" "getrandom for each" "$(made glibc 1)"
expect "glibc, arc4random_buf" "a few" "$(made glibc 0)"
expect "libbsd, arc4random" "getpid for each" "$(made libbsd 1)"
expect "libbsd, arc4random_buf" "a few" "$(made libbsd 0)"
expect "libbsd linked after glibc, arc4random" "getrandom for each" "$(made second 1)"
