#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# gcc 12.2.0 with -gbtf, a program of two files, and binutils 2.40: the linker puts the BTF of the two files one after the
# other in one section. BTF has one header, which says where its types and strings end, so bpftool 7.1.0 and pahole
# 1.24 find the types of the first file only, and none of them says that a part of the section is unread. The order of
# the files decides which types a program has. With -gctf instead, the linker merges, and objdump shows
# the types of both. The manual of gcc does not say that -gbtf is for programs of a single file.
#
# Besides what README.md says, this needs the headers of libc.

# shellcheck source=findings/common.sh
. "$(dirname -- "$(readlink -f -- "$0")")/common.sh"

version=12.2.0-14+deb12u1
unpack gcc-12=$version cpp-12=$version libgcc-12-dev=$version libisl23 libmpc3 libmpfr6 bpftool=7.1.0+6.1.192-3 \
	pahole=1.24-4.1 binutils-x86-64-linux-gnu=2.40-2 libbinutils=2.40-2 libctf0=2.40-2
for tool in as ld objdump; do
	ln -s x86_64-linux-gnu-$tool root/usr/bin/$tool
done
cat >first.c <<'END'
struct first {
	int number;
} first;

int main(void)
{
	return first.number;
}
END
cat >second.c <<'END'
struct second {
	long number;
} second;
END

# structures TOOL FILE... - compile, and print which of the two structures the tool finds in the program.
structures() {
	local tool=$1 option=-gbtf
	shift
	[[ $tool != objdump ]] || option=-gctf
	gcc-12 $option "$@" -o program
	case $tool in
	bpftool) bpftool btf dump file program format c ;;
	pahole) pahole -F btf program ;;
	objdump) objdump --ctf=.ctf program ;;
	esac >types 2>messages
	[[ ! -s messages ]] || echo "messages: $(head -1 messages)"
	grep -oE 'struct (first|second)\b' types | sed 's/struct //' | sort -u | paste -sd " "
}

# size FILE - print the size of a file's BTF.
size() {
	readelf -SW "$1" | sed 's/\[ */[/' | awk '$2 == ".BTF" { print $6 }'
}

expect "bpftool, first.c second.c" first "$(structures bpftool first.c second.c)"
expect "bpftool, second.c first.c" second "$(structures bpftool second.c first.c)"
expect "pahole, first.c second.c" first "$(structures pahole first.c second.c)"
gcc-12 -gbtf -c first.c second.c
expect "the program's BTF has both" yes \
	"$([[ $((16#$(size program))) == $((16#$(size first.o) + 16#$(size second.o))) ]] && echo yes || echo no)"
expect "objdump, CTF, first.c second.c" "first second" "$(structures objdump first.c second.c)"
