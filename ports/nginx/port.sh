# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# shellcheck shell=bash
#
# How nginx is built, tested and started. Sourced by scripts/port and bench/servers/measure.

# shellcheck disable=SC2034 # for scripts/port
port_package=nginx
nginx_build=$COSY_BUILD/port/nginx

port_build() {
	local compiler=clang-$COSY_LLVM objects=() options=(-O2 -g)
	if [[ $1 == cosy ]]; then
		compiler=cosy-cc
		options+=(-DWITH_COSY)
	elif [[ $1 == auto ]]; then
		compiler="cosy-cc -fcosy-auto"
	fi
	if [[ $1 == fair || $1 == cosy ]]; then
		"$compiler" "${options[@]}" -D_GNU_SOURCE -c small.c -o small.o
		objects=("$PWD/small.o")
	fi
	./configure --with-cc="$compiler" --with-cc-opt="-O2 -g -I$PWD" --with-ld-opt="${objects[*]}" --prefix=/nowhere \
		--without-http_rewrite_module --without-http_gzip_module --without-pcre
	make -s -j2
}

# nginx_config DIRECTORY LISTEN SERVER-LINES - write a configuration of one worker to the directory, with the
# settings of Debian's configuration that change what a request costs. Without gzip: the client does not ask for it.
nginx_config() {
	local dir=$1 user=
	((EUID != 0)) || user="user nobody nogroup;"
	cat >"$dir/nginx.conf" <<-EOF
		$user
		worker_processes 1;
		pid $dir/nginx.pid;
		error_log $dir/error.log;
		events { worker_connections 1500; }
		http {
		    types { text/html html; text/plain txt; }
		    default_type application/octet-stream;
		    client_body_temp_path $dir; proxy_temp_path $dir; fastcgi_temp_path $dir;
		    uwsgi_temp_path $dir; scgi_temp_path $dir;
		    access_log $dir/access.log;
		    sendfile on;
		    tcp_nopush on;
		    keepalive_requests 1000000;
		    server { listen $2; root $dir/www; $3 }
		}
	EOF
}

# nginx_program VARIANT
nginx_program() {
	case $1 in
	debian*) echo /usr/sbin/nginx ;;
	*) echo "$nginx_build/$1/objs/nginx" ;;
	esac
}

port_test() {
	local variant
	for variant in "${port_builds[@]}"; do
		COSY_EXECUTOR=user "$COSY_ROOT/ports/nginx/test.py" "$(nginx_program "$variant")"
	done
}

# port_start VARIANT ADDRESS - start it in the background, and set $servers to its worker. The variant debian-run
# is Debian's program under `cosy run`; variants with -cache keep descriptors, and send without sendfile().
port_start() {
	local dir listen=127.0.0.1:$2 pid run=() lines="location / { try_files \$uri \$uri/ =404; }"
	[[ $1 != *-cache ]] || lines+=" open_file_cache max=1000; sendfile off;"
	[[ $1 != *-run ]] || run=("$COSY_BUILD/bin/cosy" run)
	# shellcheck disable=SC2154 # of bench/servers/measure
	dir=$(mktemp -d "$directory/XXXX")
	chmod 777 "$dir"
	mkdir "$dir/www"
	head -c 1024 /dev/zero | tr '\0' x >"$dir/www/f1k"
	truncate -s 1M "$dir/www/f1m"
	[[ $2 != */* ]] || listen=unix:$2
	nginx_config "$dir" "$listen" "$lines"
	"${run[@]}" "$(nginx_program "${1%-cache}")" -c "$dir/nginx.conf" -p "$dir" -e "$dir/error.log"
	until [[ -s $dir/nginx.pid ]] && pid=$(<"$dir/nginx.pid") && [[ $(<"/proc/$pid/task/$pid/children") ]]; do
		sleep 0.1
	done
	# shellcheck disable=SC2034,SC2207 # for bench/servers/measure
	servers=($(<"/proc/$pid/task/$pid/children"))
	master=$pid
}
port_stop() {
	kill "$master"
}
# `auto` is stock, compiled with -fcosy-auto.
port_builds=(stock fair cosy auto)
# shellcheck disable=SC2034
port_variants=(debian debian-run "${port_builds[@]}" stock-cache fair-cache cosy-cache)
# shellcheck disable=SC2034
port_protocols=(http:/f1k http-close:/f1k http:/f1m)
