# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# shellcheck shell=bash disable=SC2034,SC2154 # variables of bench/servers/measure
#
# How Debian's lighttpd is started, with its configuration's settings; variants with -log have an access log, too,
# and those with -run are under `cosy run`.

port_variants=(debian debian-run debian-log debian-run-log)
port_protocols=(http:/f1k http-close:/f1k http:/f1m)

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
	"${run[@]}" /usr/sbin/lighttpd -D -f "$dir/conf" &
	servers=($!)
}

port_stop() {
	kill "${servers[@]}"
	wait "${servers[@]}" 2>/dev/null || true
}
