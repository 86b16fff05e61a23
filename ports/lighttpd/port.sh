# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# shellcheck shell=bash disable=SC2034,SC2154 # variables of scripts/port and bench/servers/measure
#
# How lighttpd is built, tested and started, with the settings of Debian's configuration; variants with -log have
# an access log, too, and those with -run are under `cosy run`. Nothing of it is changed. Sourced by scripts/port and
# bench/servers/measure.

port_package=lighttpd
port_builds=(stock auto)
port_variants=(debian debian-run debian-log debian-run-log "${port_builds[@]}" stock-log auto-log)
port_protocols=(http:/f1k http-close:/f1k http:/f1m)
lighttpd_build=$COSY_BUILD/port/lighttpd

port_build() {
	local compiler=clang-$COSY_LLVM
	[[ $1 != auto ]] || compiler="cosy-cc -fcosy-auto"
	./configure --quiet CC="$compiler" --prefix="$PWD/installed" --without-pcre2 --with-zlib
	make -s -j2
	make -s install
}

# lighttpd_program VARIANT
lighttpd_program() {
	case $1 in
	debian*) echo /usr/sbin/lighttpd ;;
	*) echo "$lighttpd_build/${1%-log}/installed/sbin/lighttpd" ;;
	esac
}

# Its own tests.
port_test() {
	local variant
	for variant in "${port_builds[@]}"; do
		test_variant "$variant" make -s check
		echo "$variant: $(sed -n 's/.*Tests=\([0-9]*\),.*/\1/p' "$lighttpd_build/$variant.log") tests pass"
	done
}

port_start() {
	local dir listen="server.port = $2
server.bind = \"127.0.0.1\"" log='' run=()
	dir=$(mktemp -d "$directory/XXXX")
	chmod 777 "$dir"
	make_files "$dir/www"
	[[ $2 != */* ]] || listen="server.bind = \"$2\""
	[[ $1 != *-run* ]] || run=("$COSY_BUILD/bin/cosy" run)
	[[ $1 != *-log ]] || log="server.modules += ( \"mod_accesslog\" )
accesslog.filename = \"$dir/access.log\""
	cat >"$dir/conf" <<-EOF
		server.modules = ( "mod_indexfile", "mod_access", "mod_alias", "mod_redirect" )
		server.document-root = "$dir/www"
		server.errorlog = "$dir/error.log"
		server.username = "nobody"
		server.max-keep-alive-requests = 1000000
		server.max-fds = 4096
		$listen
		$log
		mimetype.assign = ( ".html" => "text/html", "" => "application/octet-stream" )
	EOF
	"${run[@]}" "$(lighttpd_program "$1")" -D -f "$dir/conf" &
	servers=($!)
}

port_stop() {
	kill "${servers[@]}"
	wait "${servers[@]}" 2>/dev/null || true
}
