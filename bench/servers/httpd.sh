# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# shellcheck shell=bash disable=SC2034,SC2154 # variables of bench/servers/measure
#
# How examples/httpd is started, with and without the module.

port_variants=(module user)
port_protocols=(http:/f1k http-close:/f1k http:/f1m)

port_start() {
	local dir listen=127.0.0.1:$2 executor=auto
	dir=$(mktemp -d "$directory/XXXX")
	chmod 755 "$dir"
	make_files "$dir/www"
	[[ $2 != */* ]] || listen=$2
	: >"$dir/out"
	[[ $1 != user ]] || executor=native
	COSY_EXECUTOR=$executor "$COSY_BUILD/examples/httpd" --user nobody --workers=1 --requests=1000000 \
		--listen="$listen" --access-log="$dir/access.log" "$dir/www" >"$dir/out" &
	master=$!
	until [[ $(<"$dir/out") == listening* ]]; do
		kill -0 "$master"
		sleep 0.1
	done
	# shellcheck disable=SC2207
	servers=($(<"/proc/$master/task/$master/children"))
}

port_stop() {
	kill "$master"
	wait "$master"
}
