#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# inject.sh INJECTOR MODULE PROGRAM FUNCTIONS COSY - make every request of the module fail once, when it
# is loaded and when it is used. It can be unloaded after each failure. Without the kernel's type
# information there are no fast paths, so `cosy run` leaves programs alone.
set -u
injector=$1 module=$2 program=$3 functions=$4 cosy=$5

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

# without_fast_paths - single calls and `cosy run` do not use the module, and regions may.
without_fast_paths() {
	# shellcheck disable=SC2016 # the inner shell expands it
	said=$(COSY_DEBUG=1 "$cosy" run sh -c 'echo "preloads ${LD_PRELOAD:-nothing}"' 2>&1)
	[ "$said" = "cosy: the module has no fast paths on this kernel (dmesg tells why): all calls are native
preloads nothing" ] || fail "without fast paths: $said"
	# A program that already has the library does not open the device, even where it would at once.
	said=$(LD_PRELOAD=$("$cosy" run --print) COSY_EXECUTOR=kernel \
		sh -c 'test -e / && test -e / && ls -l /proc/self/fd && ls -l /proc/$$/fd')
	case $said in
	*/dev/cosy*) fail "without fast paths: $said" ;;
	esac
	(exec 9<>/dev/cosy) || fail "regions cannot open the device"
}

insmod "$injector" || { dmesg | tail -n 5; fail "insmod $injector"; }

n=0 loaded=0 without=
while :; do
	n=$((n + 1))
	if sh -c 'echo "$$ $1" >/dev/cosy-inject && exec insmod "$2" 2>/dev/null' sh $n "$module"; then
		loaded=$((loaded + 1))
		[ -c /dev/cosy ] || fail "loaded without a device"
		failed=$(told failed)
		case $failed in
		*" in cosy_internals_init"*) without_fast_paths && without=tried ;;
		esac
		rmmod cosy || fail "not unloaded after $failed"
	else
		failed=$(told failed)
		[ "$failed" != nothing ] || fail "insmod"
	fi
	[ ! -e /dev/cosy ] || fail "the device stays after $failed"
	nothing_held "after $failed"
	[ "$failed" != nothing ] || break
done
[ "$without" = tried ] || fail "the type information was never missing"
[ $n -gt 3 ] || fail "the module asks for nothing when it is loaded"
echo "ok: load the module: $((n - 1)) points, without $((loaded - 1)) of them it works"

insmod "$module" || fail "insmod $module"
"$program" "$functions" || exit 1
rmmod cosy || fail "not unloaded"
nothing_held "when the module is unloaded"
rmmod cosy_inject || fail "the injector is not unloaded"
echo "passed"
