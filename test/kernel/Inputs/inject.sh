#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# inject.sh INJECTOR MODULE PROGRAM FUNCTIONS - make every request of the module fail once, when it
# is loaded and when it is used. It can be unloaded after each failure.
set -u
injector=$1 module=$2 program=$3 functions=$4

fail() {
	echo "FAILED: $*"
	cat /dev/cosy-inject
	exit 1
}

# told NAME - print the value of NAME in /dev/cosy-inject.
told() {
	sed -n "s/^$1 //p" /dev/cosy-inject
}

# nothing_held WHEN - wait until the module's memory is freed, some of it a grace period later.
nothing_held() {
	tries=0
	until [ "$(told held)" = 0 ]; do
		tries=$((tries + 1))
		[ $tries -lt 600 ] || fail "memory stays $1"
		sleep 0.1
	done
}

insmod "$injector" || { dmesg | tail -n 5; fail "insmod $injector"; }

n=0 loaded=0
while :; do
	n=$((n + 1))
	if sh -c 'echo "$$ $1" >/dev/cosy-inject && exec insmod "$2" 2>/dev/null' sh $n "$module"; then
		loaded=$((loaded + 1))
		[ -c /dev/cosy ] || fail "loaded without a device"
		failed=$(told failed)
		rmmod cosy || fail "not unloaded after $failed"
	else
		failed=$(told failed)
		[ "$failed" != nothing ] || fail "insmod"
	fi
	[ ! -e /dev/cosy ] || fail "the device stays after $failed"
	nothing_held "after $failed"
	[ "$failed" != nothing ] || break
done
[ $n -gt 3 ] || fail "the module asks for nothing when it is loaded"
echo "ok: load the module: $((n - 1)) points, without $((loaded - 1)) of them it works"

insmod "$module" || fail "insmod $module"
"$program" "$functions" || exit 1
rmmod cosy || fail "not unloaded"
nothing_held "when the module is unloaded"
rmmod cosy_inject || fail "the injector is not unloaded"
echo "passed"
