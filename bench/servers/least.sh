# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# shellcheck shell=bash disable=SC2034,SC2154 # variables of bench/servers/measure
#
# How the server with the least calls is started.

port_variants=(least)
port_protocols=(http:/f1k http-close:/f1k)

port_start() {
	"$COSY_BUILD/bench/server-least" "$2" &
	servers=($!)
}

port_stop() {
	kill "${servers[@]}"
	wait "${servers[@]}" 2>/dev/null || true
}
