#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# unload.sh MODULE HOLDER - load and unload the module while HOLDER has it open or uses it without
# a descriptor, after that, and repeatedly while HOLDER runs.
set -u
module=$1 holder=$2

fail() {
	echo "FAILED: $*"
	exit 1
}

# until_holder PID TEST... - wait until `TEST PID` succeeds.
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

# A process that has not noticed the unloading must not run another compound by a handle.
insmod "$module" && first=$("$holder" handle) && rmmod cosy || fail "handle"
insmod "$module" && again=$("$holder" handle) && rmmod cosy || fail "handle again"
[ "$again" -gt "$first" ] || fail "handle $again after $first"
echo "ok: handles do not repeat"

has_loop_open() {
	readlink "/proc/$1"/fd/* | grep -q cosy-loop && ! has_it_open "$1"
}

runs_without_loop() {
	runs_without_it "$1" && ! has_loop_open "$1"
}

# keeps KIND TEST WHAT - `HOLDER KIND` keeps the module without having the device open, from the
# success of `TEST PID` until it ends.
keeps() {
	insmod "$module" || fail "insmod"
	"$holder" "$1" &
	until_holder $! "$2"
	rmmod cosy 2>/dev/null && fail "unloaded while there was $3 ($1)"
	echo "ok: refused while there is $3 ($1)"
	kill $! && wait
	rmmod cosy || fail "not unloaded after $3 ($1)"
	echo "ok: unloaded after $3 ($1)"
}

keeps loop has_loop_open "a loop"
keeps closed-by-uring runs_without_it "a run"
keeps closed-loop-by-uring runs_without_loop "a loop"
case $(uname -r) in
6.[1-5].*)
	echo "not checked: close(2), before 6.6 it puts the file when the thread leaves"
	;;
*)
	keeps closed runs_without_it "a run"
	keeps closed-loop runs_without_loop "a loop"
	;;
esac

rounds=4
[ -z "${COSY_CHECK_LONG-}" ] || rounds=20
for _ in $(seq $rounds); do
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
