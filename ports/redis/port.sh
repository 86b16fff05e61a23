# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# shellcheck shell=bash disable=SC2034,SC2154 # variables of scripts/port and bench/servers/measure
#
# How redis is built, tested and started, with its defaults but without snapshots. Nothing of it is changed: there
# are its build with -fcosy-auto, and Debian's package under `cosy run`. Sourced by scripts/port and
# bench/servers/measure.

port_package=redis
port_debian=redis-server
port_builds=(stock auto)
port_variants=(debian debian-run "${port_builds[@]}")
port_protocols=(redis)
redis_build=$COSY_BUILD/port/redis

port_build() {
	local compiler=clang-$COSY_LLVM
	[[ $1 != auto ]] || compiler="cosy-cc -fcosy-auto"
	make -s -j2 CC="$compiler" MALLOC=libc
}

# redis_program VARIANT
redis_program() {
	case $1 in
	debian*) echo /usr/bin/redis-server ;;
	*) echo "$redis_build/$1/src/redis-server" ;;
	esac
}

# Those of its own tests that write files, serve many clients, or use most commands.
port_test() {
	local variant
	command -v tclsh >/dev/null || HINT="apt-get install tcl" die "the tests of redis need Tcl"
	for variant in "${port_builds[@]}"; do
		test_variant "$variant" ./runtest --single unit/type/string --single unit/protocol --single unit/auth \
			--single unit/quit --single unit/limits --single integration/aof --single integration/rdb
		echo "$variant: $(grep -c '^\[.*ok.*\]' "$redis_build/$variant.log") tests pass"
	done
}

port_start() {
	local run=() listen=(--port "$2" --bind 127.0.0.1)
	[[ $1 != *-run ]] || run=("$COSY_BUILD/bin/cosy" run)
	[[ $2 != */* ]] || listen=(--port 0 --unixsocket "$2")
	"${run[@]}" "$(redis_program "$1")" "${listen[@]}" --save '' --dir "$directory" >/dev/null &
	servers=($!)
}

port_stop() {
	kill "${servers[@]}"
	wait "${servers[@]}" 2>/dev/null || true
}
