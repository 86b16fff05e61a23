#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# bpftool 7.1.0 of Debian 12 and pahole 1.24 both print the types of BTF as C that is meant to be compiled: by `bpftool btf
# dump file FILE format c`, which makes vmlinux.h, and by `pahole -F btf --compile FILE`. Some types have another size in that C,
# and members another offset, than in the program that the BTF was made of. Neither tool says so, and they err about
# different types:
# - An enum of one byte has four bytes in bpftool's C. BTF has the size.
# - A structure that is packed and aligned to 4 bytes becomes aligned to 8 in pahole's C.
# - A packed union has its members' alignment in both.
# So what shares such a structure with the kernel by its bytes, as a value of a map does, must not get it from there. Reports
# were found of other libraries that ignored an enum's size, and none of these.
#
# Besides what README.md says, this needs gcc.

# shellcheck source=findings/common.sh
. "$(dirname -- "$(readlink -f -- "$0")")/common.sh"

unpack bpftool=7.1.0+6.1.192-3 pahole=1.24-4.1
mkdir source bpftool pahole
cat >source/types.h <<'END'
enum tiny { ZERO, ONE } __attribute__((packed));

struct with_enum {
	char a;
	enum tiny b;
	char c;
};

struct aligned {
	char a;
	long b;
} __attribute__((packed, aligned(4)));

struct with_aligned {
	char a;
	struct aligned b;
	char c;
};

union tight {
	char text[5];
	int number;
} __attribute__((packed));

struct with_union {
	char a;
	union tight b;
	char c;
};

/* Those that both tools get right. */
struct packed {
	char a;
	int b;
} __attribute__((packed));

struct with_packed {
	char a;
	struct packed b;
	char c;
};

struct with_bits {
	char a : 3;
	long b : 40;
	char c;
};
END
cat >types.c <<'END'
#include "types.h"

struct with_enum with_enum;
struct with_aligned with_aligned;
struct with_union with_union;
struct with_packed with_packed;
struct with_bits with_bits;
END
cat >print.c <<'END'
#include "types.h"
#include <stdio.h>

#define PRINT(TYPE) printf(#TYPE " %zu %zu\n", sizeof(struct TYPE), __builtin_offsetof(struct TYPE, c))

int main(void)
{
	PRINT(with_enum);
	PRINT(with_aligned);
	PRINT(with_union);
	PRINT(with_packed);
	PRINT(with_bits);
	return 0;
}
END
gcc -g -Isource -c types.c -o types.o
pahole -J types.o
bpftool btf dump file types.o format c >bpftool/types.h
pahole -F btf --compile types.o >pahole/types.h

# layout FOLDER TYPE - print the size of the type, and the offset of its last member, with the header in this folder.
layout() {
	gcc -w "-I$1" print.c -o print
	./print | sed -n "s/^$2 //p"
}

expect "enum, source" "3 2" "$(layout source with_enum)"
expect "enum, bpftool" "12 8" "$(layout bpftool with_enum)"
expect "enum, pahole" "3 2" "$(layout pahole with_enum)"
expect "packed and aligned structure, source" "20 16" "$(layout source with_aligned)"
expect "packed and aligned structure, bpftool" "20 16" "$(layout bpftool with_aligned)"
expect "packed and aligned structure, pahole" "32 24" "$(layout pahole with_aligned)"
expect "packed union, source" "7 6" "$(layout source with_union)"
expect "packed union, bpftool" "16 12" "$(layout bpftool with_union)"
expect "packed union, pahole" "10 9" "$(layout pahole with_union)"
for type in with_packed with_bits; do
	for tool in bpftool pahole; do
		expect "$type, $tool" "$(layout source $type)" "$(layout $tool $type)"
	done
done
