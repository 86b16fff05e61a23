# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Let the VM die at the first time as if QEMU had executed a breakpoint that is not there any more.
#
# usage: die-once.sh FILE        (which does not exist the first time)

if [ -e "$1" ]; then
	echo the second VM
	exit
fi
: >"$1"
sync
echo 'Oops: int3: 0000 [#1] PREEMPT SMP' >/dev/kmsg
sleep 1
echo b >/proc/sysrq-trigger
sleep 60
