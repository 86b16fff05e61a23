#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# unload.sh MODULE HOLDER - load and unload the module while HOLDER has it open, after,
# and again and again while HOLDER runs.
set -u
module=$1 holder=$2

fail() {
	echo "FAILED: $*"
	exit 1
}

# until_holder PID TEST... - wait until `TEST PID` says that it is where it is to be.
until_holder() {
	pid=$1
	shift
	until "$@" "$pid"; do
		kill -0 "$pid" || fail "the holder has ended"
		sleep 0.1
	done
}

has_it_open() {
	readlink "/proc/$1"/fd/* | grep -qx /dev/cosy
}

# In a compound, which is entered by lseek, number 8, it waits without the device.
runs_without_it() {
	grep -q '^8 ' "/proc/$1/syscall" && ! has_it_open "$1"
}

insmod "$module" || fail "insmod"
"$holder" open &
until_holder $! has_it_open
rmmod cosy 2>/dev/null && fail "unloaded while it was open"
echo "ok: refused while open"
kill $! && wait
rmmod cosy || fail "not unloaded after the last close"
echo "ok: unloaded after the last close"

# The file is closed, by the compound, which still runs.
insmod "$module" || fail "insmod"
"$holder" closed &
until_holder $! runs_without_it
rmmod cosy 2>/dev/null && fail "unloaded while a compound was running"
echo "ok: refused while a compound runs"
kill $! && wait
rmmod cosy || fail "not unloaded after the last run"
echo "ok: unloaded after the last run"

# A loop without the device, while an entry waits; then one that has closed itself, and runs.
has_loop_open() {
	readlink "/proc/$1"/fd/* | grep -q cosy-loop && ! has_it_open "$1"
}

runs_without_loop() {
	runs_without_it "$1" && ! has_loop_open "$1"
}

kinds="loop closed-loop"
case $(uname -r) in
6.[1-5].*)
	# There close(2) puts the file only on the way to user mode.
	echo "not checked: a loop that has closed itself, before 6.6 it cannot go on"
	kinds=loop
	;;
esac
for kind in $kinds; do
	insmod "$module" || fail "insmod"
	"$holder" $kind &
	case $kind in
	loop) until_holder $! has_loop_open ;;
	closed-loop) until_holder $! runs_without_loop ;;
	esac
	rmmod cosy 2>/dev/null && fail "unloaded while there was a loop ($kind)"
	echo "ok: refused while there is a loop ($kind)"
	kill $! && wait
	rmmod cosy || fail "not unloaded after the last loop ($kind)"
	echo "ok: unloaded after the last loop ($kind)"
done

for _ in 1 2 3 4 5 6 7 8 9 10; do
	insmod "$module" || fail "insmod"
	"$holder" hammer &
	"$holder" hammer &
	tries=0
	until rmmod cosy 2>/dev/null; do
		tries=$((tries + 1))
		[ $tries -lt 1000 ] || fail "never unloaded"
	done
	wait
done
echo "ok: unloaded while programs opened, ran and closed"
[ ! -e /dev/cosy ] || fail "the device is still there"
echo passed
