/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * sites.h - the places of sites.def: calls that glibc makes itself.
 */
#ifndef COSY_PRELOAD_SITES_H
#define COSY_PRELOAD_SITES_H

/* What the stubs (site-stubs.S) and sites.c agree on. */
#define COSY_SITE_CALL_NR	0
#define COSY_SITE_CALL_STATUS	4
#define COSY_SITE_CALL_ARGS	8
#define COSY_SITE_CALL_SIZE	56
#define COSY_SITE_ENTRY		0x4000000000000000	/* COSY_RUN_TAG */
#define COSY_SITE_WHENCE	3			/* COSY_CALL_WHENCE */
#define COSY_SITE_DONE		4			/* the upper half of COSY_CALL_DONE */
#define COSY_SITE_ROUTE		1			/* COSY_ROUTE_MODULE */

#ifndef __ASSEMBLER__
#include "state.h"

enum cosy_site {
#define COSY_SITE(site, ...) COSY_SITE_##site,
#include "sites.def"
	COSY_SITES
};

/* For each place, the address of its system call instruction. The stubs continue there, or after it. */
extern void *cosy_sites[COSY_SITES] COSY_HIDDEN;

/* The stubs of the places: their addresses, relative to this table. */
extern const int32_t cosy_site_stubs[COSY_SITES] COSY_HIDDEN;

#endif

#endif /* COSY_PRELOAD_SITES_H */
