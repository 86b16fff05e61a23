# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# shellcheck shell=bash
#
# servers.sh - start and stop servers, and wait for events. Sourced by tests. In an emulated VM
# starting a process takes as long as all the rest, so there are few. The test sets `what`, which
# is part of messages about failures.

tmp=$(mktemp -d)
mkfifo "$tmp/never"
exec {never}<>"$tmp/never"
servers=()
trap '((${#servers[@]} == 0)) || kill -KILL "${servers[@]}"; rm -rf "$tmp"' EXIT

fail() {
	# shellcheck disable=SC2154 # the test sets it
	echo "${0##*/}: $what: $1" >&2
	for log in "$tmp"/*.log; do
		echo "$(<"$log")" >&2
	done
	exit 1
}

# until_true COMMAND... - wait until the command succeeds
until_true() {
	for ((tries = 0; tries < 6000; tries++)); do
		! "$@" || return 0
		read -rt 0.01 -u "$never" || :
	done
	fail "not within a minute: $*"
}

# says FILE TEXT
says() { [[ $(<"$1") == *"$2"* ]]; }

# has_sockets PID NUMBER
has_sockets() {
	local fd sockets=0
	for fd in "/proc/$1/fd"/*; do
		[[ ! -S $fd ]] || sockets=$((sockets + 1))
	done
	((sockets == $2))
}

# start NAME COMMAND... - start a server that prints "listening on ADDRESS": sets $pid, $address
start() {
	local log=$tmp/$1.log
	: >"$log"
	"${@:2}" >"$log" 2>&1 &
	pid=$!
	servers+=("$pid")
	until_true says "$log" "listening on"
	[[ $(<"$log") =~ listening\ on\ (127.0.0.1:)?([^$'\n']*) ]]
	# shellcheck disable=SC2034 # for the test
	address=${BASH_REMATCH[2]}
}

# stop PID SIGNAL
stop() {
	local status=0 i
	kill "-$2" "$1"
	wait "$1" || status=$?
	for i in "${!servers[@]}"; do
		[[ ${servers[i]} != "$1" ]] || unset "servers[i]"
	done
	((status == 0)) || fail "exit status $status"
}
