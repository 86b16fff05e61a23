# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# shellcheck shell=bash
#
# The common part of bench/{unmodified,rebuilt,batch,profile,reach}/programs: makes the files of the programs, in
# the current directory, and measures a program.  A program's output goes to BENCH_OUTPUTS, by default the
# parent directory, which is the same for every file system that is measured.
#
# Sourced with the arguments BUILD RUNS LABEL [NAME...] [-NAME:LABEL...]; the names select programs, and those
# after a - are left out.  Each measured program prints a line "NAME LABEL NATIVE COSY", in nanoseconds of CPU
# time, which under icount are instructions.  Fails at the end if a program failed or an output differs.

build=$1 runs=$2 label=$3
shift 3
wanted=" " unwanted=" "
for name; do
	if [[ $name == -* ]]; then
		unwanted+="${name#-} "
	else
		wanted+="$name "
	fi
done
# Absolute, because some programs run in other directories.
outputs=$(cd "${BENCH_OUTPUTS:-..}" && pwd)
failures=$outputs/failures
: >"$failures"
trap report_failures EXIT
files=3200 folders=32 sources=2000 objects=300 packages=200

unset LD_PRELOAD "${!COSY_@}"
export PATH=/usr/bin:/bin LC_ALL=C
export GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null
export GIT_AUTHOR_NAME=bench GIT_AUTHOR_EMAIL=bench@localhost
export GIT_COMMITTER_NAME=bench GIT_COMMITTER_EMAIL=bench@localhost

fail() {
	echo "cosy bench: $1" >&2
	exit 1
}

# attempt NAMES COMMAND... - run it in a subshell. If it fails, these programs are not measured any more.
attempt() {
	local names=$1 rc
	shift
	# In a condition the subshell would ignore errors.
	set +e
	(set -e && "$@")
	rc=$?
	set -e
	((!rc)) || tr ' ' '\n' <<<"$names" >>"$failures"
}

# At the end: name the programs that failed.
report_failures() {
	if [[ -s $failures ]]; then
		fail "these failed: $(sort -u "$failures" | paste -sd ' ')"
	fi
}

# wants NAME... - succeed if one of these has to be measured.
wants() {
	local name
	for name; do
		if [[ $wanted == " " || $wanted == *" $name "* ]] && [[ $unwanted != *" $name:$label "* ]] &&
			! grep -qxF -- "$name" "$failures"; then
			return
		fi
	done
	return 1
}

# measure NAME WITHOUT WITH ARGUMENT... - with each of two settings of the environment.
measure() {
	local name=$1 without=$2 with=$3
	local figures
	shift 3
	wants "$name" || return 0
	figures=$("$build/bench/unmodified-measure" -n "$runs" -o "$outputs" -a "$without" -b "$with" "$@") ||
		fail "$name"
	echo "$name $label $figures"
}

# Make a tree of small files in folders, and an older file.
make_tree() {
	local i j
	for ((i = 0; i < folders; i++)); do
		mkdir -p "tree/folder-$i"
		for ((j = 0; j < files / folders; j++)); do
			echo "file $i $j" >"tree/folder-$i/file-$j.txt"
		done
	done
	touch -d '1 hour ago' reference
}

# Make a repository of the tree.
make_repository() {
	cp -r tree repository
	git -C repository init -q
	git -C repository add .
	git -C repository commit -q -m all
}

# Make inputs and outputs for ninja and make, all up to date.  ninja does not execute a rule that is
# a generator because its log is missing.
make_build() {
	local i rules=
	mkdir -p build/in build/out
	for ((i = 0; i < sources; i++)); do
		: >"build/in/$i"
		: >"build/out/$i"
		rules+="build out/$i: copy in/$i"$'\n'
	done
	printf 'rule copy\n  command = cp $in $out\n  generator = 1\n%s' "$rules" >build/build.ninja
	{
		echo 'all: $(patsubst in/%,out/%,$(wildcard in/*))'
		echo 'out/%: in/%; cp $< $@'
	} >build/Makefile
	touch -d '1 hour ago' build/in/*
}

# Make objects of which none defines a symbol for the others, and one with main().
make_objects() {
	local i names=()
	mkdir objects
	echo 'int main(void) { return 0; }' >objects/main.c
	echo 'static int number; static int *self(void) { return &number; } int *(*const pointer)(void) __attribute__((weak)) = self;' >objects/0.c
	gcc -c -o objects/main.o objects/main.c
	gcc -c -o objects/0.o objects/0.c
	for ((i = 1; i < objects; i++)); do
		names+=("objects/$i.o")
	done
	tee "${names[@]}" <objects/0.o >/dev/null
}

# Make a project with installed packages.
make_packages() {
	local i dependencies=
	for ((i = 0; i < packages; i++)); do
		mkdir -p "packages/node_modules/package-$i"
		echo "{\"name\": \"package-$i\", \"version\": \"1.0.0\"}" \
			>"packages/node_modules/package-$i/package.json"
		dependencies+="${dependencies:+, }\"package-$i\": \"1.0.0\""
	done
	echo "{\"name\": \"project\", \"version\": \"1.0.0\", \"dependencies\": {$dependencies}}" \
		>packages/package.json
}

# Make headers, and a source file that includes them.
make_headers() {
	local i
	mkdir headers
	for ((i = 0; i < files; i++)); do
		echo "extern int number_$i;" >"headers/header-$i.h"
		echo "#include <header-$i.h>"
	done >headers/all.c
}

# Make signatures for clamscan: one file that is not there.
make_signatures() {
	echo "00000000000000000000000000000000:1:Bench.Nothing" >signatures.hdb
}

# Wait until the journal is written, so that it is not written during a measurement.
settle() {
	if [[ $(stat -f -c %T .) == ext* ]]; then
		sync
		sleep 15
	fi
}
