#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# clang 19.1.7 for BPF, and pointers into an arena (address space 1): before a load or a store by such a pointer,
# clang casts it to an address of the kernel. What becomes llvm.memcpy or llvm.memset is not cast: the loads and stores use
# the pointer as it is, and clang says nothing. So a structure of three members that is assigned as a whole is copied by
# uncast pointers, and one whose members are assigned is not. With -O2, members that are cleared one by one, and
# a loop that clears an array, become llvm.memset, so these are cast with -O0 only. A structure of one byte is the other way
# round: with -O2 its assignment becomes a load and a store before the casts are added.

# shellcheck source=findings/common.sh
. "$(dirname -- "$(readlink -f -- "$0")")/common.sh"

version=1:19.1.7-3~deb12u1
unpack clang-19=$version libclang-cpp19=$version libllvm19=$version libclang-common-19-dev=$version

cat >copies.c <<'END'
#define ARENA __attribute__((address_space(1)))

struct record {
	long a, b, c;
};

struct byte {
	char a;
};

void copy_members(struct record ARENA *to, struct record ARENA *from)
{
	to->a = from->a;
	to->b = from->b;
	to->c = from->c;
}

void copy_whole(struct record ARENA *to, struct record ARENA *from)
{
	*to = *from;
}

void copy_byte(struct byte ARENA *to, struct byte ARENA *from)
{
	*to = *from;
}

void clear_members(struct record ARENA *to)
{
	to->a = 0;
	to->b = 0;
	to->c = 0;
}

void clear_array(long ARENA *to)
{
	for (int i = 0; i < 3; i++)
		to[i] = 0;
}
END

# functions CASTS OPTION - compile with the option, and print which functions have casts of their pointers (CASTS is "cast")
# or have none ("uncast").
functions() {
	clang-19 --target=bpf -mcpu=v4 -Wall -Wextra -Werror "$2" -S copies.c -o copies.s
	awk -F: -v wanted="$1" '
		/^[a-z_]+:/ { name = $1; order[++n] = name }
		/addr_space_cast/ { has[name] = 1 }
		END { for (i = 1; i <= n; i++) if ((order[i] in has) == (wanted == "cast")) print order[i] }' copies.s |
		paste -sd " "
}

expect "-O0, cast" "copy_members clear_members clear_array" "$(functions cast -O0)"
expect "-O0, uncast" "copy_whole copy_byte" "$(functions uncast -O0)"
expect "-O2, cast" "copy_members copy_byte" "$(functions cast -O2)"
expect "-O2, uncast" "copy_whole clear_members clear_array" "$(functions uncast -O2)"
