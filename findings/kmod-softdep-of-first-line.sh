#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# kmod 30 and soft dependencies, which tell modprobe what to load before or after a module: only the first softdep line that
# matches the module counts. The later ones, of the same file or of other packages, are ignored without a message, where
# option lines of the same module are added up. The module's own soft dependencies are such a line, too, and come last. So
# a line in modprobe.d that asks for one more module replaces those that the kernel's developers gave, and a line
# that has only "post:" removes those before. modprobe.d(5) does not say so. Commits of the kernel mention that
# only the first MODULE_SOFTDEP() of a module counts.
#
# The modules are object files that contain a description only. modprobe prints what it would load.

# shellcheck source=findings/common.sh
. "$(dirname -- "$(readlink -f -- "$0")")/common.sh"

unpack kmod=30+20221128-1 libkmod2=30+20221128-1
PATH=$folder/root/sbin:$PATH
mkdir -p tree/lib/modules/1.0/kernel config
touch tree/lib/modules/1.0/modules.{order,builtin,builtin.modinfo}

# module NAME [SOFTDEP] - make a module with or without a soft dependency of its own.
module() {
	printf '.section .modinfo, "a"\n.asciz "license=GPL"\n.asciz "name=%s"\n' "$1" >module.s
	[[ $# == 1 ]] || printf '.asciz "softdep=%s"\n' "$2" >>module.s
	as -o "tree/lib/modules/1.0/kernel/$1.ko" module.s
}
module driver "pre: firmware"
module firmware
module bus
module cipher
depmod -b tree 1.0

# loaded - print the modules that modprobe would load for "driver", and their options, with the files in "config".
loaded() {
	modprobe -d tree -S 1.0 -C config --show-depends driver | sed 's|.*/||; s/\.ko//; s/ *$//' | paste -sd " "
}

expect "the module's own line" "firmware driver" "$(loaded)"
echo "softdep driver pre: bus" >config/b.conf
expect "and one of modprobe.d" "bus driver" "$(loaded)"
echo "softdep driver pre: cipher" >config/a.conf
expect "and another" "cipher driver" "$(loaded)"
printf 'softdep driver post: bus\nsoftdep driver pre: cipher\n' >config/a.conf
rm config/b.conf
expect "post: in one line, pre: in the next" "driver bus" "$(loaded)"
echo "softdep driver pre: firmware cipher post: bus" >config/a.conf
expect "all in one line" "firmware cipher driver bus" "$(loaded)"
printf 'options driver first=1\noptions driver second=2\n' >config/a.conf
expect "two lines of options" "firmware driver first=1 second=2" "$(loaded)"
