#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# lsd 0.23.1: even without -l, it looks up the owner and the group of each entry by libc, which opens
# and reads /etc/passwd and /etc/group again for every file of a listing, although no name of an
# owner is printed. It also asks for three extended attributes of each regular file.

# shellcheck source=findings/common.sh
. "$(dirname -- "$(readlink -f -- "$0")")/common.sh"

unpack lsd=0.23.1-3
mkdir tree
for ((i = 0; i < 100; i++)); do
	echo "$i" >"tree/file$i"
done
export HOME=$folder

traced %file lsd -R tree
expect "opens of /etc/passwd for each file" 1 "$(($(calls 'open.*"/etc/passwd"') / 100))"
expect "opens of /etc/group for each file" 1 "$(($(calls 'open.*"/etc/group"') / 100))"
expect "lgetxattr for each file" 3 "$(($(calls 'lgetxattr\(.*tree/file') / 100))"
