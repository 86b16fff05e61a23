#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# unload-function.sh MODULE HOLDER FILE - try to unload the module while HOLDER has a user
# function of FILE loaded, and while it runs one.
set -u
module=$1 holder=$2 file=$3

fail() {
	echo "FAILED: $*"
	exit 1
}

# Freeing all resources of a process takes a moment.
unload() {
	tries=0
	until rmmod cosy 2>/dev/null; do
		tries=$((tries + 1))
		[ $tries -lt 50 ] || return 1
		sleep 0.1
	done
}

insmod "$module" || fail "insmod"
echo 100000 >/sys/module/cosy/parameters/function_time
for what in loaded running; do
	"$holder" "$file" $what /tmp/ready-$what &
	until [ -e /tmp/ready-$what ]; do
		kill -0 $! || fail "not $what"
		sleep 0.1
	done
	rmmod cosy 2>/dev/null && fail "unloaded while a function was $what"
	modprobe -r cosy 2>/dev/null
	kill -0 $! || fail "the function has not stayed"
	[ -e /sys/module/cosy ] || fail "unloaded by modprobe while a function was $what"
	echo "ok: refused while a function is $what"
	kill $! && wait
done
unload || fail "not unloaded after the last function"
echo "ok: unloaded after the last function"
insmod "$module" || fail "insmod again"
unload || fail "not unloaded again"
echo passed
