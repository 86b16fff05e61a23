# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# shellcheck shell=bash
#
# What every script here shares: where things are, and how to speak to people.
# Sourced, never run.

COSY_ROOT=$(cd -P -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)
COSY_BUILD=${COSY_BUILD:-$COSY_ROOT/build}
# The kernel series the VM boots unless told otherwise.
COSY_KERNEL=${COSY_KERNEL:-6.12}
export COSY_ROOT COSY_BUILD COSY_KERNEL

# die MESSAGE... - say why and leave; HINT=... in the environment of the call adds the remedy.
die() {
	printf '%s: %s\n' "${PROG:-cosy}" "$*" >&2
	if [[ -n ${HINT:-} ]]; then
		printf '  HINT: %s\n' "$HINT" >&2
	fi
	exit 1
}

warn() {
	printf '%s: %s\n' "${PROG:-cosy}" "$*" >&2
}

# stage NAME COMMAND... - run a stage of work.  Its output goes to a log that is shown only
# when it fails, so that what remains on the screen is one line per stage.
stage() {
	local name=$1 log start rc=0
	shift
	mkdir -p "$COSY_BUILD/log"
	log=$COSY_BUILD/log/${name//[^a-zA-Z0-9.]/-}.log
	start=$EPOCHREALTIME
	if [[ -t 2 ]]; then
		printf '%-46s ...' "$name" >&2
	fi
	(set -e; "$@") >"$log" 2>&1 </dev/null &
	# In the background and waited for, so that `set -e` inside works whoever calls us.
	wait $! || rc=$?
	if [[ -t 2 ]]; then
		printf '\r' >&2
	fi
	if ((rc)); then
		printf '%-46s failed (status %d)\n' "$name" "$rc" >&2
		tail -n 60 "$log" >&2
		printf 'The whole log: %s\n' "$log" >&2
		exit "$rc"
	fi
	printf '%-46s %s s\n' "$name" "$(seconds_since "$start")" >&2
}

# take_lock FILE WHAT - take FILE's lock, and say so if that has to wait for WHAT.  Sets `lock`
# to its descriptor: what holds the lock is whoever has that open.
take_lock() {
	mkdir -p "$(dirname "$1")"
	exec {lock}>"$1"
	if ! flock -n "$lock"; then
		warn "waiting for $2"
		flock "$lock"
	fi
}

# locked FILE WHAT COMMAND... - run COMMAND while holding FILE's lock.
locked() {
	local lock
	take_lock "$1" "$2"
	shift 2
	# What it leaves running must not hold the lock.
	"$@" {lock}>&-
	exec {lock}>&-
}

# download PACKAGE... - fetch Debian packages into the working directory; apt's own unprivileged
# user may not be able to write there.
download() {
	apt-get -q -o APT::Sandbox::User=root download "$@"
}

# depends NAME - print what its candidate version depends on, one name per line; nothing
# when apt does not know it, as before the lists of a new source have been fetched.
depends() {
	{ apt-cache show --no-all-versions "$1" 2>/dev/null || true; } |
		sed -n 's/^Depends: //p' | tr ',' '\n' | tr '|' '\n' | awk '{ print $1 }'
}

# apt_lists DIRECTORY SOURCE... - fetch package lists into a directory of their own, as whoever we
# are, from lines of a sources.list without the key.  Whoever uses them sets APT_CONFIG to
# DIRECTORY/apt.conf.  The system's own lists are left as they are.
apt_lists() {
	local dir=$1 source
	shift
	mkdir -p "$dir/lists/partial" "$dir/cache/archives/partial"
	for source; do
		echo "${source/ / [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] }"
	done >"$dir/sources.list"
	cat >"$dir/apt.conf" <<-EOF
		Dir::Etc::SourceList "$dir/sources.list";
		Dir::Etc::SourceParts "-";
		Dir::State::Lists "$dir/lists";
		Dir::Cache "$dir/cache";
	EOF
	APT_CONFIG=$dir/apt.conf apt-get -q -o APT::Sandbox::User=root update
}

# seconds_since EPOCHREALTIME - with one decimal, without starting a process.
seconds_since() {
	local now=${EPOCHREALTIME/[.,]/} start=${1/[.,]/} tenths
	tenths=$(((now - start + 50000) / 100000))
	printf '%d.%d' $((tenths / 10)) $((tenths % 10))
}

# as_root COMMAND... - through sudo unless we are root.
as_root() {
	if ((EUID == 0)); then
		"$@"
	elif command -v sudo >/dev/null; then
		sudo -- "$@"
	else
		HINT="run as root, or install sudo" die "this needs root: $*"
	fi
}
