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

# boot RELEASE - run the static program tree/init in a VM with the unpacked kernel of this release, and the files of the
# folder tree. Its output is in the file "vm". It prints "release" and the kernel's release.
boot() {
	(cd tree && find . -mindepth 1 | cpio --quiet -o -H newc) >initramfs
	qemu-system-x86_64 -nodefaults -no-reboot -display none -serial stdio -m 512M -cpu max -kernel "root/boot/vmlinuz-$1" \
		-initrd initramfs -append 'console=ttyS0 quiet panic=-1' | tr -d '\r' >vm
	expect "kernel" "$1" "$(sed -n 's/^release //p' vm)"
}

# compile_twice SOURCE - compile a C program for the unpacked musl, as with-musl, and for glibc, as with-glibc.
compile_twice() {
	local musl=root/usr/lib/x86_64-linux-musl
	gcc -O1 -Wall -nostdinc -isystem root/usr/include/x86_64-linux-musl -static -nostdlib "$1" \
		$musl/crt1.o $musl/libc.a -o with-musl
	gcc -O1 -Wall "$1" -o with-glibc
}
