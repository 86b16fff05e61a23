#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# gcc 12.2.0, linking: for each object file the driver resolves the name of the object and, again,
# the name of the output by realpath(), which makes one readlink for each component of a path. ld
# resolves each object once more. With objects in a folder of depth 5, linking takes more than 15 readlink
# calls for each object, all made inside libc, and all but a few fail with EINVAL.

# shellcheck source=findings/common.sh
. "$(dirname -- "$(readlink -f -- "$0")")/common.sh"

version=12.2.0-14+deb12u1
unpack gcc-12=$version cpp-12=$version libgcc-12-dev=$version libisl23 libmpc3 libmpfr6
mkdir -p "$folder/a/b/c"
cd "$folder/a/b/c"
echo 'int main(void) { return 0; }' >main.c
gcc-12 -c main.c
objects=()
for ((i = 0; i < 50; i++)); do
	echo "int function$i;" >"file$i.c"
	objects+=("$PWD/file$i.o")
done
gcc-12 -c file*.c

link=(gcc-12 "$PWD/main.o" "${objects[@]}" -o "$PWD/program")
"${link[@]}" # so that the output exists
traced readlink,execve "${link[@]}"
driver=$(awk 'NR == 1 { print $1 }' trace)
depth=$(tr -cd / <<<"$PWD/file0.o" | wc -c)
count=$(grep -cE "^$driver +readlink\\(.*EINVAL" trace)
# An object's path and the output's path have the same number of components.
expect "the driver resolves so many paths for each object" 2 "$((count / depth / 50))"
count=$(grep -vE "^$driver " trace | grep -cE 'readlink\(.*EINVAL')
expect "the linker resolves so many paths for each object" 1 "$((count / depth / 50))"
