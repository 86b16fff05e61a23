#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# glibc 2.36, musl 1.2.3 and a filter, a shared library that ld makes with -F (--filter): ld(1) says that it selects a subset of
# the symbols of another library, and that definitions are taken from that one. Neither libc does that.
# - glibc takes all symbols of the other library, also those that the filter does not have, so nothing is left out. A
#   definition that only the filter has is used, too. -f (--auxiliary), which ld(1) describes as another thing,
#   gives the same results; the two differ only if the other library is missing.
# - musl ignores both entries: it uses the filter's own definitions and never loads the other library. A filter whose
#   functions are stubs therefore runs its stubs.
# The linker accepts both, and neither dynamic linker says anything. ld.so(8) says nothing about filters; Oracle's manual of
# linkers describes what ld(1) describes. libglvnd (pull request 11) no longer uses filters, because of another fault of glibc.
#
# Besides what README.md says, this needs gcc and the headers of libc.

# shellcheck source=findings/common.sh
. "$(dirname -- "$(readlink -f -- "$0")")/common.sh"

unpack musl=1.2.3-1 musl-dev=1.2.3-1
unset LD_LIBRARY_PATH
cat >full.c <<'END'
int shared(void)
{
	return 1;
}

int left_out(void)
{
	return 1;
}
END
cat >filter.c <<'END'
int shared(void)
{
	return 2;
}

int own(void)
{
	return 2;
}
END
cat >program.c <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>

int shared(void);
int own(void);

static const char *owner(int number)
{
	return number == 1 ? "full" : "filter";
}

int main(void)
{
	int (*left_out)(void) = (int (*)(void))dlsym(RTLD_DEFAULT, "left_out");

	printf("shared %s, own %s, left_out %s\n", owner(shared()), owner(own()), left_out ? owner(left_out()) : "absent");
	return 0;
}
END
musl=root/usr/lib/x86_64-linux-musl
loader=$folder/root/lib/x86_64-linux-musl/libc.so
gcc -O1 -fPIC -shared -nostdlib -Wl,-soname,libfull.so full.c -o libfull.so
for option in F f; do
	mkdir $option
	gcc -O1 -fPIC -shared -nostdlib -Wl,-soname,libpart.so,-$option,libfull.so filter.c -o $option/libpart.so
done
gcc -O1 -fPIE -pie program.c -Lf -lpart -o with-glibc
gcc -O1 -fPIE -pie -nostdinc -isystem root/usr/include/x86_64-linux-musl -nostdlib program.c $musl/Scrt1.o -Lf -lpart \
	"$loader" "-Wl,--dynamic-linker=$loader" -o with-musl

expect "entry of -F" "(FILTER) [libfull.so]" "$(readelf -d F/libpart.so | sed -nE 's/.*(\(FILTER\)).*(\[.*)/\1 \2/p')"
for option in F f; do
	expect "glibc, -$option" "shared full, own filter, left_out full" "$(LD_LIBRARY_PATH=$option:. ./with-glibc)"
	expect "musl, -$option" "shared filter, own filter, left_out absent" "$(LD_LIBRARY_PATH=$option:. ./with-musl)"
done
mv libfull.so elsewhere.so
for option in F f; do
	if output=$(LD_LIBRARY_PATH=$option:. ./with-glibc 2>&1); then
		output="starts"
	else
		output=$(grep -o "cannot open shared object file" <<<"$output")
	fi
	if [[ $option == F ]]; then
		expect "glibc, -F, the other library is missing" "cannot open shared object file" "$output"
	else
		expect "glibc, -f, the other library is missing" "starts" "$output"
	fi
done
