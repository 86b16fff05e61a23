# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# shellcheck shell=bash
#
# Variables and functions of all scripts. Sourced, never run.

COSY_ROOT=$(cd -P -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)
COSY_BUILD=${COSY_BUILD:-$COSY_ROOT/build}
# The kernel series that the VM boots by default.
COSY_KERNEL=${COSY_KERNEL:-6.12}
# The versions of LLVM for which the plugin is, in the order in which they are preferred.
mapfile -t COSY_LLVM_VERSIONS < <(sed -n 's/^set(COSY_LLVM_VERSIONS \(.*\))$/\1/p' "$COSY_ROOT/CMakeLists.txt" | tr ' ' '\n')

# choose_llvm - set COSY_LLVM, unless the caller has, to the version of the build, or else to the preferred
# one that is installed, or else to nothing. CMakeLists.txt chooses in the same way.
choose_llvm() {
	local version prefix=${COSY_LLVM_PREFIX:-/usr/lib/llvm-}
	COSY_LLVM=${COSY_LLVM:-$(sed -n 's/^COSY_LLVM:STRING=//p' "$COSY_BUILD/CMakeCache.txt" 2>/dev/null || true)}
	for version in "${COSY_LLVM_VERSIONS[@]}"; do
		if [[ -z $COSY_LLVM && -f $prefix$version/lib/cmake/clang/ClangConfig.cmake &&
			-f $prefix$version/lib/cmake/llvm/LLVMConfig.cmake && -x $prefix$version/bin/clang ]]; then
			COSY_LLVM=$version
		fi
	done
}
COSY_LLVM=${COSY_LLVM:-}
choose_llvm
export COSY_ROOT COSY_BUILD COSY_KERNEL COSY_LLVM

# die MESSAGE... - print the message and exit; HINT=... in the environment adds a remedy, STATUS=...
# sets the exit status.
die() {
	printf '%s: %s\n' "${PROG:-cosy}" "$*" >&2
	if [[ -n ${HINT:-} ]]; then
		printf '  HINT: %s\n' "$HINT" >&2
	fi
	exit "${STATUS:-1}"
}

warn() {
	printf '%s: %s\n' "${PROG:-cosy}" "$*" >&2
}

# stage NAME COMMAND... - run a stage of work. Its output goes to a log, which is shown only if it
# fails. So the screen has one line per stage.
stage() {
	local name=$1 log start rc=0
	shift
	mkdir -p "$COSY_BUILD/log"
	log=$COSY_BUILD/log/${name//[^a-zA-Z0-9.]/-}.log
	start=$EPOCHREALTIME
	if [[ -t 2 ]]; then
		printf '%-46s ...' "$name" >&2
	fi
	# Ctrl-C ends it, too: a shell lets its commands in the background ignore that.
	(trap - INT QUIT; set -e; "$@") >"$log" 2>&1 </dev/null &
	# It runs in the background, so that `set -e` in it works for any caller.
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

# take_lock FILE WHAT - take FILE's lock, and print a message if that has to wait for WHAT. Sets
# `lock` to its descriptor. Processes that have the descriptor open hold the lock.
take_lock() {
	mkdir -p "$(dirname "$1")"
	while :; do
		exec {lock}>"$1"
		if ! flock -n "$lock"; then
			warn "waiting for $2"
			flock "$lock"
		fi
		# The file may have been removed by `./cosy clean` meanwhile.
		[[ ! $1 -ef /proc/self/fd/$lock ]] || break
		exec {lock}>&-
		mkdir -p "$(dirname "$1")"
	done
}

# locked FILE WHAT COMMAND... - run COMMAND while holding FILE's lock.
locked() {
	local lock
	take_lock "$1" "$2"
	shift 2
	# Processes that the command leaves running must not hold the lock.
	"$@" {lock}>&-
	exec {lock}>&-
}

# download PACKAGE... - fetch Debian packages into the working directory, as root, because apt's
# unprivileged user may not be able to write there.
download() {
	apt-get -q -o APT::Sandbox::User=root download "$@"
}

# depends NAME - print the dependencies of its candidate version, one name per line. Prints
# nothing if apt does not know the package, for example before the lists of a new source were
# fetched.
depends() {
	{ apt-cache show --no-all-versions "$1" 2>/dev/null || true; } |
		sed -n 's/^Depends: //p' | tr ',' '\n' | tr '|' '\n' | awk '{ print $1 }'
}

# apt_lists DIRECTORY SOURCE... - fetch package lists into a directory, as any user, from lines of
# a sources.list without the key. To use them, set APT_CONFIG to DIRECTORY/apt.conf. The lists of
# the system are not changed.
apt_options=()	# more options for that, which the caller may set
apt_lists() {
	local dir=$1 source
	shift
	mkdir -p "$dir/lists/partial" "$dir/cache/archives/partial"
	for source; do
		echo "${source/ / [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] }"
	done >"$dir/sources.list"
	# Which packages are installed here must not affect which versions are chosen.
	: >"$dir/status"
	cat >"$dir/apt.conf" <<-EOF
		Dir::State::Status "$dir/status";
		Dir::Etc::SourceList "$dir/sources.list";
		Dir::Etc::SourceParts "-";
		Dir::State::Lists "$dir/lists";
		Dir::Cache "$dir/cache";
	EOF
	APT_CONFIG=$dir/apt.conf apt-get -q -o APT::Sandbox::User=root "${apt_options[@]}" update
}

# seconds_since EPOCHREALTIME - print the seconds with one decimal, without starting a process.
seconds_since() {
	local now=${EPOCHREALTIME/[.,]/} start=${1/[.,]/} tenths
	tenths=$(((now - start + 50000) / 100000))
	printf '%d.%d' $((tenths / 10)) $((tenths % 10))
}

# as_root COMMAND... - run it as root, through sudo if necessary.
as_root() {
	if ((EUID == 0)); then
		"$@"
	elif command -v sudo >/dev/null; then
		sudo -- "$@"
	else
		HINT="run as root, or install sudo" die "this needs root: $*"
	fi
}
