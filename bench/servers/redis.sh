# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# shellcheck shell=bash disable=SC2034,SC2154 # variables of bench/servers/measure
#
# How Debian's redis-server is started, with its defaults but without snapshots; debian-run is the same under
# `cosy run`.

port_debian=redis-server
port_variants=(debian debian-run)
port_protocols=(redis)

port_start() {
	local run=() listen=(--port "$2" --bind 127.0.0.1)
	[[ $1 != *-run ]] || run=("$COSY_BUILD/bin/cosy" run)
	[[ $2 != */* ]] || listen=(--port 0 --unixsocket "$2")
	"${run[@]}" /usr/bin/redis-server "${listen[@]}" --save '' --dir "$directory" >/dev/null &
	servers=($!)
}

port_stop() {
	kill "${servers[@]}"
	wait "${servers[@]}" 2>/dev/null || true
}
