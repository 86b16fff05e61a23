/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * numbers.h - for assembler: .Lfn_NAME, the numbers of enum cosy_function, of the functions of
 * watched.def and libc.def, and the places of sites.def.
 */
	.set	.Lfunction, 0
#define COSY_PRELOAD_IF(function, name, ...)	.set .Lfunction, .Lfunction + 1;
#include <preload.def>
#define COSY_WATCHED(function, notice) \
	.set .Lfn_##function, .Lfunction; .set .Lfunction, .Lfunction + 1;
#include "watched.def"
#define COSY_REALPATH(function)			.set .Lfunction, .Lfunction + 1;
#include "realpath.def"
#define COSY_LIBC(function) \
	.set .Lfn_##function, .Lfunction; .set .Lfunction, .Lfunction + 1;
#include "libc.def"
#define COSY_SITE(site, function, name, occurrence, prepare) \
	.set .Lfn_site_##site, .Lfunction; .set .Lfunction, .Lfunction + 1;
#include "sites.def"
