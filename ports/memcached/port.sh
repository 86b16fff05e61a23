# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# shellcheck shell=bash
#
# How memcached is built, tested and started. Sourced by scripts/port and bench/servers/measure.

# shellcheck disable=SC2034 # for scripts/port
port_package=memcached
# shellcheck disable=SC2034
port_builds=(stock fair cosy)

# The first make would call the autotools if their files had other times.
port_make() {
	make -s AUTOCONF=: AUTOMAKE=: ACLOCAL=: AUTOHEADER=: "$@"
}

port_build() {
	local compiler=clang-$COSY_LLVM objects=
	dpkg-query -W libevent-dev >/dev/null || HINT="apt-get install libevent-dev" die "memcached needs libevent-dev"
	if [[ $1 == cosy ]]; then
		compiler=cosy-cc
	fi
	./configure -q --disable-docs --disable-extstore CC="$compiler" CFLAGS="-O2 -g"
	if [[ $1 == cosy ]]; then
		objects=cosy-io.o
		"$compiler" -O2 -g -DHAVE_CONFIG_H -I. -c cosy-io.c -o "$objects"
	fi
	port_make memcached memcached-debug LIBS="$objects $(sed -n 's/^LIBS = //p' Makefile)"
	port_make timedrun testapp sizes
}

# memcached's own tests, as it is and with Cosy in user mode. Some wait for a fixed time, so those that fail
# run once more, alone.
port_test() {
	local variant log status=0
	for variant in stock cosy; do
		log=$COSY_BUILD/port/memcached/$variant.log
		(
			cd "$COSY_BUILD/port/memcached/$variant"
			export COSY_EXECUTOR=user
			prove -j2 --state=save t/*.t || prove --state=failed
		) >"$log" 2>&1 || status=1
		tail -n 3 "$log" | sed "s/^/$variant: /"
	done
	return "$status"
}

# port_start VARIANT ADDRESS - start it in the background, and set $servers to its processes.
port_start() {
	local options=(-p "$2" -l 127.0.0.1 -U 0) program=$COSY_BUILD/port/memcached/$1/memcached
	if [[ $2 == */* ]]; then
		options=(-s "$2")
	fi
	if [[ $1 == debian ]]; then
		program=/usr/bin/memcached
	fi
	"$program" --user nobody -t 1 -m 64 -c 2048 "${options[@]}" &
	# shellcheck disable=SC2034 # for bench/servers/measure
	servers=($!)
}
port_stop() {
	kill "${servers[@]}"
	wait "${servers[@]}" 2>/dev/null || true
}
# shellcheck disable=SC2034
port_protocols=(memcached)
