#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# mold 1.10.1: `mold -run COMMAND` puts its wrapper library in place of what LD_PRELOAD contains,
# where other such tools add theirs to it. Libraries that the user preloads are lost for the command
# and all that it starts.

# shellcheck source=findings/common.sh
. "$(dirname -- "$(readlink -f -- "$0")")/common.sh"

unpack mold=1.10.1+dfsg-1 libtbb12 libmimalloc2.0 libtbbmalloc2 libtbbbind-2-5
# mold looks for its library beside itself.
ln -s ../lib/x86_64-linux-gnu/mold/mold-wrapper.so root/usr/bin/
echo 'int user_library;' >library.c
cc -shared -fPIC -o library.so library.c
seen=$(LD_PRELOAD=$folder/library.so mold -run /bin/sh -c 'echo "$LD_PRELOAD"')
expect "the command has mold's library" yes "$([[ $seen == *mold-wrapper.so* ]] && echo yes || echo no)"
expect "the command has the user's library" no "$([[ $seen == *library.so* ]] && echo yes || echo no)"
