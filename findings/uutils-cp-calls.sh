#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# uutils' cp 0.0.17: `cp -r` makes 14 or more calls with a path for each regular file, where GNU cp
# 9.1 makes 3: it gets the status of the same two names again and again, and opens the source twice.

# shellcheck source=findings/common.sh
. "$(dirname -- "$(readlink -f -- "$0")")/common.sh"

unpack rust-coreutils=0.0.17-2 coreutils=9.1-1
mkdir tree
for ((i = 0; i < 100; i++)); do
	echo "$i" >"tree/file$i"
done

# per_file COMMAND... - print how many calls with a path a command makes for each file.
per_file() {
	traced %file "$@"
	echo $(($(calls 'file[0-9]+"') / 100))
}

uutils=$(per_file root/usr/lib/cargo/bin/coreutils/cp -r tree copy1)
expect "uutils' cp, calls for each file" "at least 14" \
	"$( ((uutils >= 14)) && echo "at least 14" || echo "$uutils")"
expect "GNU cp, calls for each file" 3 "$(per_file root/bin/cp -r tree copy2)"
diff -r copy1 copy2
