# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# shellcheck shell=bash
#
# The test suites.  For each SUITE of `suites`
#
#   ways_SUITE         says how its tests are run in the VM: native, auto (built with -fcosy-auto),
#                      run (the native program below `cosy run`)
#   source_SUITE       is the package of scripts/sources.list that contains it
#   build_SUITE        builds the tree in the working directory with $CC, $AR and $RANLIB
#   tests_SUITE        prints the names of the tests
#   test_SUITE TEST    runs a test; its status is 0 if it has passed, and 77 if it was skipped
#
# The last three are called at the top of the tree.  If the way "native" is the last one, the guest
# does without it where a test passes with Cosy and skips nothing.
# shellcheck disable=SC2034 # used by those that source this file

suites=(coreutils coreutils-root findutils tar patch rsync bash git sqlite toybox perl python)
# Without a VM a program has no module, so only what the compiler has made of it is tested.
ways_without_vm=(native auto lto)

ways_coreutils=(auto run native)
source_coreutils=coreutils

build_coreutils() {
	# Its configure refuses to be run by root, without need.
	FORCE_UNSAFE_CONFIGURE=1 ./configure -q CC="$CC" CFLAGS=-O2 --disable-nls \
		--without-selinux --without-openssl
	make -s -j"$(nproc)"
}

tests_coreutils() {
	sed -n 's/^ *\(tests\/[^ ]*\.\(sh\|pl\|xpl\)\).*/\1/p' tests/local.mk | sort -u
}

# As TESTS_ENVIRONMENT of tests/local.mk, and automake's rules for the three kinds of tests.
test_coreutils() {
	local test=$1
	local -a programs perl=(-w -Itests -MCuSkip -MCoreutils "-MCuTmpdir qw($test)")
	# shellcheck source=/dev/null
	. tests/lang-default
	# shellcheck source=/dev/null
	. tests/envvar-check
	programs=(src/*)
	export built_programs=${programs[*]#src/}
	export VERSION=9.1 PACKAGE_VERSION=9.1 LOCALE_FR=none LOCALE_FR_UTF8=none
	export abs_top_builddir=$PWD abs_top_srcdir=$PWD abs_srcdir=$PWD srcdir=. top_srcdir=.
	export fail=0 host_os=linux-gnu host_triplet=x86_64-pc-linux-gnu
	export CONFIG_HEADER=$PWD/lib/config.h CU_TEST_NAME=coreutils,${test//\//-}
	export CC=gcc AWK=awk EGREP='grep -E' EXEEXT='' MAKE=make PERL=perl SHELL=/bin/sh
	PATH=$PWD/src:$PATH
	exec 9>&2
	case $test in
	*.sh) sh "$test" ;;
	*.pl) perl "${perl[@]}" "$test" ;;
	*.xpl) perl -T "${perl[@]}" "$test" ;;
	esac
}

ways_findutils=(auto run native)
source_findutils=findutils

build_findutils() {
	[[ -x /usr/bin/runtest ]] || HINT="apt-get install dejagnu" die "findutils' tests need DejaGnu"
	./configure -q CC="$CC" CFLAGS=-O2 --disable-nls --without-selinux
	make -s -j"$(nproc)"
}

tests_findutils() {
	sed -n 's/^ *\(tests\/[^ ]*\.sh\).*/\1/p' tests/local.mk | sort -u
	printf '%s\n' {find,xargs}/testsuite/*/*.exp
}

# DejaGnu looks for the programs, and for an object file of each, above its working directory.
test_findutils() {
	local test=$1 tree=$PWD tool
	case $test in
	tests/*)
		# shellcheck source=/dev/null
		. tests/lang-default
		# shellcheck source=/dev/null
		. tests/envvar-check
		export VERSION=4.9.0 PACKAGE_VERSION=4.9.0 LOCALE_FR=none LOCALE_FR_UTF8=none
		export abs_top_builddir=$PWD abs_top_srcdir=$PWD abs_srcdir=$PWD srcdir=. top_srcdir=.
		export fail=0 host_os=linux-gnu host_triplet=x86_64-pc-linux-gnu
		export CONFIG_HEADER=$PWD/config.h built_programs="find xargs frcode locate updatedb"
		export CC=gcc AWK=awk EGREP='grep -E' EXEEXT='' MAKE=make PERL=perl SHELL=/bin/sh
		PATH=$PWD/find:$PWD/locate:$PWD/xargs:$PATH
		exec 9>&2
		sh "$test"
		;;
	*.exp)
		tool=${test%%/*}
		mkdir -p "$TMPDIR/$tool/testsuite"
		ln -s "$tree/$tool/$tool" "$TMPDIR/$tool/$tool"
		touch "$TMPDIR/$tool/"{ftsfind,xargs}.o
		cd "$TMPDIR/$tool/testsuite" || return
		runtest --tool "$tool" --srcdir "$tree/$tool/testsuite" "${test#"$tool"/testsuite/}"
		;;
	esac
}

ways_tar=(auto run native)
source_tar=tar

build_tar() {
	FORCE_UNSAFE_CONFIGURE=1 ./configure -q CC="$CC" CFLAGS=-O2 --disable-nls --without-selinux
	make -s -j"$(nproc)"
	make -s -C tests genfile checkseekhole ckmtime atconfig atlocal
}

# The tests have numbers; their names are the words before them in Autotest's list.
tests_tar() {
	sh tests/testsuite --list | sed -n 's/^ *\([0-9]*\): \([a-z0-9_+-]*\)\.at:.*/\1-\2/pI'
}

test_tar() {
	cd tests || return
	# It reads them in the directory of -C.
	cp atconfig atlocal "$TMPDIR"
	sh ./testsuite -v -C "$TMPDIR" "${1%%-*}"
}

ways_patch=(auto run native)
source_patch="patch"

build_patch() {
	./configure -q CC="$CC" CFLAGS=-O2
	make -s -j"$(nproc)"
}

tests_patch() {
	sed -n '/^TESTS = /,/[^\\]$/s/^\t\([a-z-]*\).*/\1/p' tests/Makefile.am
}

# Its tests make their directories in that of the build.
test_patch() {
	export srcdir=$PWD/tests PATCH=$PWD/src/patch abs_top_builddir=$TMPDIR
	mkdir "$TMPDIR/tests"
	bash "tests/$1"
}

ways_rsync=(auto run native)
source_rsync=rsync

build_rsync() {
	./configure -q CC="$CC" CFLAGS=-O2 \
		--disable-{openssl,xxhash,zstd,lz4,md2man}
	make -s -j"$(nproc)" all testrun getgroups getfsdev tls trimslash t_unsafe wildtest \
		testsuite/{chown-fake,devices-fake,xattrs-hlink}.test
}

tests_rsync() {
	local -a files=(testsuite/*.test)
	printf '%s\n' "${files[@]#testsuite/}"
}

test_rsync() {
	whichtests=$1 scratchbase=$TMPDIR rsync_bin=$PWD/rsync sh ./runtests.sh
}

ways_bash=(native auto run)
source_bash=bash

build_bash() {
	./configure -q CC="$CC" CFLAGS=-O2 --disable-nls
	# Its makefiles do not always build in the right order at once.
	make -s -j"$(nproc)" || make -s
	make -s recho zecho printenv xcase
	cp recho zecho printenv xcase tests/
}

tests_bash() {
	local -a scripts=(tests/run-*)
	printf '%s\n' "${scripts[@]#tests/run-}" | grep -vx -e all -e minimal -e gprof
}

# Some tests fail natively, because there is no terminal or locale, and no status tells it.  So all
# run natively, too.  What they print has to be the same: it is compared as a part of the test, whose
# number is the sum of the output.
test_bash() {
	local status=0
	cd tests || return
	export THIS_SH=../bash BUILD_DIR=.. BASH_TSTOUT=$TMPDIR/output PATH=.:$PATH
	sh "./run-$1" >"$TMPDIR/printed" 2>&1 || status=$?
	sed -i "s:$TMPDIR:TMPDIR:g" "$TMPDIR/printed"
	cat "$TMPDIR/printed"
	echo "ok $(cksum <"$TMPDIR/printed" | cut -d ' ' -f 1)"
	return "$status"
}

ways_git=(auto run native)
source_git=git

build_git() {
	make -s -j"$(nproc)" CC="$CC" AR="$AR" CFLAGS=-O2 NO_{OPENSSL,CURL,EXPAT,GETTEXT,TCLTK,PYTHON}=1 all
}

tests_git() {
	local -a scripts=(t/t[0-9]*.sh)
	printf '%s\n' "${scripts[@]#t/}"
}

test_git() {
	cd t || return
	# The scripts' style is not what is tested.
	GIT_TEST_CHAIN_LINT=0 "./$1" --root="$TMPDIR"
}

ways_sqlite=(auto run native)
source_sqlite=sqlite3

build_sqlite() {
	[[ -e /usr/include/tcl/tcl.h ]] || HINT="apt-get install tcl-dev" die "SQLite's tests need Tcl's headers"
	./configure -q CC="$CC" CFLAGS=-O2 --disable-shared
	make -s testfixture
}

# Those of its test suite "veryquick", see permutations.test.
# shellcheck disable=SC2016 # the $ is permutations.test's
tests_sqlite() {
	local -a files=(test/*.test)
	printf '%s\n' "${files[@]#test/}" | grep -vE 'malloc|ioerr|fault|bigfile|_err' | grep -vxFf <(
		sed -n '/^set all\(quick\)\?tests \[test_set \$alltests -exclude {/,/^}/s/^  //p' \
			test/permutations.test | xargs -n 1
	)
}

test_sqlite() {
	local tree=$PWD
	cd "$TMPDIR" || return
	"$tree/testfixture" "$tree/test/$1"
}

ways_toybox=(auto run native)
source_toybox=toybox

# It takes no options in CC.
build_toybox() {
	local command=${CC%% *}
	local -a options=(-s CC="$command" HOSTCC="clang-$COSY_LLVM" CFLAGS="-O2${CC#"$command"}")
	make "${options[@]}" defconfig
	# The test of a command finds it beside the others.
	make "${options[@]}" -j"$(nproc)" PREFIX="$PWD/all" install_flat
}

# The tests that its authors run by default.
tests_toybox() {
	find tests -maxdepth 1 -name '*.test' -perm -100 -printf '%f\n' | sort | sed 's/\.test$//'
}

# As scripts/test.sh, which would have one directory for all tests.
# shellcheck disable=SC2034,SC1091,SC1090 # the test uses and defines them
test_toybox() {
	local CMDNAME=$1 C=$PWD/all/$1 TOPDIR=$PWD
	export FILES=$PWD/tests/files LC_COLLATE=C VERBOSE=all PATH=$PWD/all:$PATH
	OPTIONFLAGS=:$(sed -nr 's/^#define CFG_(.*) 1$/\1/p' generated/config.h | tr '\n' :)
	export OPTIONFLAGS
	[[ -e $C ]] || return 77
	. scripts/runtest.sh
	cd "$TMPDIR" || return
	. "$TOPDIR/tests/$CMDNAME.test"
	return $((FAILCOUNT != 0))
}

# Debian's own perl, with the tests of its sources.
ways_perl=(run native)
source_perl=perl

build_perl() {
	local directory
	[[ $(perl -e 'print $]') == 5.036* ]] || die "perl is not Debian 12's"
	rm -rf lib
	mkdir lib
	# The tests look for all modules in one directory.
	for directory in /usr/lib/x86_64-linux-gnu/perl-base /usr/share/perl/5.36 \
		/usr/lib/x86_64-linux-gnu/perl/5.36; do
		cp -rs --remove-destination "$(readlink -f "$directory")/." lib/
	done
	find . -mindepth 1 -maxdepth 1 ! -name lib ! -name t -exec rm -r {} +
}

tests_perl() {
	local -a files=(t/io/*.t t/op/*.t)
	printf '%s\n' "${files[@]#t/}"
}

# Each in a copy of the directory: two tests at a time would have the same names for temporary files,
# which contain the process's number in its namespace.
test_perl() {
	local -a options
	ln -s "$PWD/lib" "$TMPDIR/lib"
	cp -r t "$TMPDIR/t"
	cd "$TMPDIR/t" || return
	# Some, as -T, have to be on the command line, too.
	read -ra options < <(sed -n '1s/^#!.*perl *//p' "$1")
	PERL_CORE=1 perl "${options[@]}" "$1"
}

# Debian's own Python, with the tests of its sources.
ways_python=(run native)
source_python=python3.11

build_python() {
	[[ -x /usr/bin/python3.11 ]] || HINT="apt-get install python3.11" die "there is no python3.11"
	mkdir lib
	mv Lib/test lib/
	find . -mindepth 1 -maxdepth 1 ! -name lib -exec rm -r {} +
}

# The modules that use files and processes.
tests_python() {
	printf 'test_%s\n' asyncio compileall dbm_dumb fcntl file file_eintr filecmp fileinput fileio \
		fnmatch genericpath glob grp gzip import io largefile linecache logging mailbox mmap \
		multiprocessing_fork os pathlib pipes posix posixpath pty py_compile pwd selectors \
		shelve shutil signal site socket sqlite3 stat subprocess support tarfile tempfile \
		threading trace unicode_file uuid venv zipfile zipimport
}

test_python() {
	local lib=$PWD/lib
	cd "$TMPDIR" || return
	PYTHONPATH=$lib PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3.11 -m test -v "$1"
}
