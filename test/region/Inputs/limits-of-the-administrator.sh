#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# limits-of-the-administrator.sh PROGRAM - run it with limits that an administrator can set.
parameters=/sys/module/cosy/parameters
export COSY_EXECUTOR=kernel COSY_STATS=1

for limit in max_run_operations=10000 max_run_ms=30; do
	echo "${limit#*=}" >"$parameters/${limit%=*}"
	echo "$limit"
	"$1" plain 2>&1
	"$1" stop 2>&1
	echo Y >"$parameters/kill_over_limit"
	"$1" plain
	echo "status $?"
	echo N >"$parameters/kill_over_limit"
	echo 0 >"$parameters/${limit%=*}"
done
echo none
"$1" plain 2>&1
