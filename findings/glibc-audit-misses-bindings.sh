#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# glibc 2.36 and an auditing library (LD_AUDIT): rtld-audit(7) says that the dynamic linker calls la_symbind64() when a symbol
# binding occurs between two objects. It does that for calls through the procedure linkage table, and for dlsym(). A program
# that calls the same function by -fno-plt, or by a pointer, binds the same symbol by another relocation, and la_symbind64()
# is not called, so a tool that records or replaces functions in that way misses these. A preloaded library
# replaces all of them. It is the same with LD_BIND_NOW, where since glibc 2.35 bindings of the table are audited at the start.
# The manual does not restrict it to the table; pull request 100 of Spindle and issue 1091 of uftrace tell of
# such objects without it, and do not connect it with the manual.
#
# Besides what README.md says, this needs gcc and the headers of libc.

# shellcheck source=findings/common.sh
. "$(dirname -- "$(readlink -f -- "$0")")/common.sh"

expect "glibc" 2.36 "$(getconf GNU_LIBC_VERSION | sed 's/glibc //')"
cat >audit.c <<'END'
#define _GNU_SOURCE
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

unsigned int la_version(unsigned int version)
{
	return version;
}

unsigned int la_objopen(struct link_map *map, Lmid_t space, uintptr_t *cookie)
{
	(void)map, (void)space, (void)cookie;
	return LA_FLG_BINDTO | LA_FLG_BINDFROM;
}

uintptr_t la_symbind64(Elf64_Sym *symbol, unsigned int index, uintptr_t *from, uintptr_t *to, unsigned int *flags,
		       const char *name)
{
	(void)index, (void)from, (void)to, (void)flags;
	if (!strcmp(name, "getppid"))
		fputs("audited\n", stderr);
	return symbol->st_value;
}
END
cat >preload.c <<'END'
#include <unistd.h>

pid_t getppid(void)
{
	static const char message[] = "replaced\n";

	return write(STDERR_FILENO, message, sizeof message - 1);
}
END
cat >program.c <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sys/types.h>
#include <unistd.h>

#if defined POINTER
static pid_t (*volatile function)(void) = getppid;
#elif defined DLSYM
#define function ((pid_t (*)(void))dlsym(RTLD_DEFAULT, "getppid"))
#else
#define function getppid
#endif

int main(void)
{
	function();
	return 0;
}
END
gcc -O1 -fPIC -shared audit.c -o audit.so
gcc -O1 -fPIC -shared preload.c -o preload.so

# seen VARIABLE=VALUE... - run the program with these, and print what is said about the function.
seen() {
	local output
	output=$(env "$@" ./program 2>&1)
	echo "${output:-nothing}"
}

while read -r name wanted options; do
	# shellcheck disable=SC2086 # there may be several options, or none
	gcc -O1 -fPIE -pie $options program.c -o program
	relocation=$(readelf -rW program | awk '$5 ~ /^getppid@/ { print $3 }')
	expect "$name, relocation" "${wanted%,*}" "${relocation:-none}"
	expect "$name, audit" "${wanted#*,}" "$(seen LD_AUDIT="$folder/audit.so")"
	expect "$name, audit and bind now" "${wanted#*,}" "$(seen LD_BIND_NOW=1 LD_AUDIT="$folder/audit.so")"
	expect "$name, preload" replaced "$(seen LD_PRELOAD="$folder/preload.so")"
done <<'END'
call R_X86_64_JUMP_SLOT,audited
-fno-plt R_X86_64_GLOB_DAT,nothing -fno-plt
pointer R_X86_64_64,nothing -DPOINTER
dlsym none,audited -DDLSYM
END
