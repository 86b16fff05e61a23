# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# shellcheck shell=bash
#
# Functions of the scripts in findings/. Sourced, never run.

set -euo pipefail
export LC_ALL=C

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

# unpack PACKAGE=VERSION... - fetch Debian packages, and unpack them into $folder/root.
unpack() {
	apt-get -qq -o Debug::NoLocking=1 -o APT::Sandbox::User=root download "$@"
	local package
	for package in ./*.deb; do
		dpkg -x "$package" root
		rm "$package"
	done
	PATH=$folder/root/usr/bin:$folder/root/bin:$folder/root/usr/sbin:$PATH
	export LD_LIBRARY_PATH=$folder/root/usr/lib/x86_64-linux-gnu:$folder/root/lib/x86_64-linux-gnu
}

# traced FILTER COMMAND... - run the command, and write its system calls to the file "trace".
traced() {
	local filter=$1
	shift
	strace -f -qq -e "trace=$filter" -o trace "$@" >/dev/null 2>&1
}

# calls REGEX - print how many calls of the trace match.
calls() {
	grep -cE "$1" trace || true
}

# expect NAME WANTED SEEN - print what was seen; fail unless it is what was seen before.
expect() {
	printf '%s: %s\n' "$1" "$3"
	if [[ $2 != "$3" ]]; then
		printf 'changed: %s was %s\n' "$1" "$2" >&2
		exit 1
	fi
}
