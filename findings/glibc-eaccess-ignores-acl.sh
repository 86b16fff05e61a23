#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# glibc 2.36, in a process whose effective user is not its real one: eaccess() and euidaccess() get the status of the file
# and compare the bits of its mode themselves, so they do not know access control lists. They err in both
# directions: a file that the list lets the user read is said to be unreadable, and one that the list forbids, readable.
# faccessat() with AT_EACCESS, which has the same purpose, asks the kernel by faccessat2() and is right.
# So two programs disagree about one file: test of coreutils 9.1 uses euidaccess(), that of dash 0.5.12 faccessat(). If both
# users are the same, eaccess() asks the kernel, too.
#
# Besides what README.md says, this needs root, setfacl, and a temporary folder on a file system with access control lists.

# shellcheck source=findings/common.sh
. "$(dirname -- "$(readlink -f -- "$0")")/common.sh"

unpack libc6=2.36-9+deb12u14 coreutils=9.1-1 dash=0.5.12-2
chmod 755 .
cat >asks.c <<'END'
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* asks REAL-USER EFFECTIVE-USER FILE - print which functions say that the file can be read. */
int main(int argc, char **argv)
{
	if (argc != 4 || setresgid(atoi(argv[1]), atoi(argv[2]), -1) || setresuid(atoi(argv[1]), atoi(argv[2]), -1))
		return 2;
	printf("eaccess %s, ", eaccess(argv[3], R_OK) ? "no" : "yes");
	printf("euidaccess %s, ", euidaccess(argv[3], R_OK) ? "no" : "yes");
	printf("faccessat %s, ", faccessat(AT_FDCWD, argv[3], R_OK, AT_EACCESS) ? "no" : "yes");
	printf("open %s\n", open(argv[3], O_RDONLY) < 0 ? "no" : "yes");
	return 0;
}
END
cc -Wall -o asks asks.c
touch allowed forbidden
chmod 600 allowed
setfacl -m u:12345:r allowed
chmod 644 forbidden
setfacl -m u:12345:- forbidden

# as_other COMMAND... - run a command as effective user 12345 with real user 0, and print whether it succeeds. It uses
# Debian 12's libc, because LD_LIBRARY_PATH is ignored where the two users differ.
as_other() {
	setpriv --euid 12345 --egid 12345 --clear-groups "$@" && echo yes || echo no
}

expect "allowed, other users" "eaccess no, euidaccess no, faccessat yes, open yes" \
	"$(setpriv --clear-groups ./asks 0 12345 allowed)"
expect "forbidden, other users" "eaccess yes, euidaccess yes, faccessat no, open no" \
	"$(setpriv --clear-groups ./asks 0 12345 forbidden)"
expect "allowed, same user" "eaccess yes, euidaccess yes, faccessat yes, open yes" \
	"$(setpriv --clear-groups ./asks 12345 12345 allowed)"
expect "forbidden, same user" "eaccess no, euidaccess no, faccessat no, open no" \
	"$(setpriv --clear-groups ./asks 12345 12345 forbidden)"
expect "allowed, test of coreutils" no "$(as_other root/usr/bin/test -r allowed)"
expect "allowed, test of dash" yes "$(as_other root/bin/dash -p -c 'test -r allowed')"
expect "forbidden, test of coreutils" yes "$(as_other root/usr/bin/test -r forbidden)"
expect "forbidden, test of dash" no "$(as_other root/bin/dash -p -c 'test -r forbidden')"
