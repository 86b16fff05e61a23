#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# kmod 30 and a module that is installed as a file, in updates/ as DKMS does, while the kernel has a driver of the same name
# built in: depmod.d(5) says that updates/ has the highest priority, and depmod lists the file. Then
# - modprobe loads nothing, says nothing, and returns success. With --show-depends, by which initial RAM disks are made, it says
#   that it loads the file.
# - modinfo NAME prints a mixture: the filename is the file, and the version and the parameters are those of the driver in
#   the kernel. With the path of the same file it prints the file's own.
# So modprobe's success, its list and the filename of modinfo say that the new driver is used. It is the same for a file in kernel/, as it
# remains when a kernel is built anew with the driver built in. The kernel's documentation says that modules.builtin is
# there for modprobe not to fail; modprobe(8) and modinfo(8) do not mention it. Nothing was found about the mixture.
#
# The modules are object files that contain a description only. modprobe prints what it would load.

# shellcheck source=findings/common.sh
. "$(dirname -- "$(readlink -f -- "$0")")/common.sh"

unpack kmod=30+20221128-1 libkmod2=30+20221128-1
PATH=$folder/root/sbin:$PATH
modules=tree/lib/modules/1.0
mkdir -p $modules/updates $modules/kernel config
touch $modules/modules.order

# module FILE NAME FIELD... - make a module with these fields.
module() {
	{
		printf '.section .modinfo, "a"\n.asciz "license=GPL"\n.asciz "name=%s"\n' "$2"
		printf '.asciz "%s"\n' "${@:3}"
	} >module.s
	as -o "$modules/$1" module.s
}
module updates/driver.ko driver version=2 "parm=new:a parameter"
module kernel/other.ko other version=2
module kernel/plain.ko plain version=2
printf 'kernel/%s.ko\n' driver other >$modules/modules.builtin
printf '%s\0' driver.license=GPL driver.version=1 "driver.parm=old:a parameter" other.license=GPL other.version=1 \
	>$modules/modules.builtin.modinfo
depmod -b tree 1.0

# loaded MODULE [OPTION] - print what modprobe would do, and its code.
loaded() {
	local code=0 output
	output=$(modprobe -d tree -S 1.0 -C config -n -v "${@:2}" "$1" 2>&1 | sed "s|$folder/||; s|$modules/||; s/ *$//") || code=$?
	echo "${output:-nothing}, code $code"
}

# field NAME MODULE - print a field that modinfo shows.
field() {
	modinfo -b tree -k 1.0 -F "$1" "$2" | sed "s|$folder/||; s|$modules/||"
}

expect "depmod, driver" updates/driver.ko: "$(grep driver $modules/modules.dep)"
expect "modprobe plain" "insmod kernel/plain.ko, code 0" "$(loaded plain)"
expect "modprobe driver" "nothing, code 0" "$(loaded driver)"
expect "modprobe --show-depends driver" "insmod updates/driver.ko, code 0" "$(loaded driver --show-depends)"
expect "modprobe other" "nothing, code 0" "$(loaded other)"
expect "modinfo driver, filename" updates/driver.ko "$(field filename driver)"
expect "modinfo driver, version" 1 "$(field version driver)"
expect "modinfo driver, parm" "old:a parameter" "$(field parm driver)"
expect "modinfo updates/driver.ko, version" 2 "$(field version $modules/updates/driver.ko)"
expect "modinfo updates/driver.ko, parm" "new:a parameter" "$(field parm $modules/updates/driver.ko)"
expect "modinfo other, filename" kernel/other.ko "$(field filename other)"
expect "modinfo other, version" 1 "$(field version other)"
