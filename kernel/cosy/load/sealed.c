// SPDX-License-Identifier: GPL-2.0
/*
 * sealed.c - memory that is written once, when a compound is loaded, and can
 * only be read afterwards.
 *
 * Decoded code contains addresses of the executor's handlers: a write to it could make
 * the kernel jump anywhere. So it is mapped read-only, at an address of its own, and a stray
 * write through a pointer to it faults. In the kernel's direct map the pages stay writable,
 * like all memory that modules can allocate: a set_memory_ro() for modules would split the
 * direct map's large pages at every load.
 */
#include <linux/mm.h>
#include <linux/vmalloc.h>

#include "limit/limit.h"
#include "load/sealed.h"

/**
 * cosy_sealed_alloc() - allocate zeroed memory that can be sealed
 * @sealed: out: the memory, which is writable at its address
 * @size:   bytes, not 0
 *
 * May sleep.
 *
 * Return: 0 or -ENOMEM. After 0 the caller owns it and calls cosy_sealed_free().
 */
int cosy_sealed_alloc(struct cosy_sealed *sealed, u64 size)
{
	unsigned int n = DIV_ROUND_UP_ULL(size, PAGE_SIZE);

	sealed->npages = n;
	sealed->readonly = false;
	sealed->pages = cosy_pages_alloc(n);
	if (!sealed->pages)
		return -ENOMEM;
	/* A single page is written through the direct map. */
	if (n == 1)
		sealed->address = page_address(sealed->pages[0]);
	else
		sealed->address = vmap(sealed->pages, n, VM_MAP, PAGE_KERNEL);
	if (sealed->address)
		return 0;
	cosy_pages_free(sealed->pages, n);
	return -ENOMEM;
}

/**
 * cosy_sealed_seal() - make memory read-only
 * @sealed: the memory; its address changes, and the old one must not be used
 *
 * May sleep.
 *
 * Return: 0 or -ENOMEM. In both cases the caller still owns it.
 */
int cosy_sealed_seal(struct cosy_sealed *sealed)
{
	void *address = vmap(sealed->pages, sealed->npages, VM_MAP,
			     PAGE_KERNEL_RO);

	if (!address)
		return -ENOMEM;
	if (sealed->npages > 1)
		vunmap(sealed->address);
	sealed->address = address;
	sealed->readonly = true;
	return 0;
}

/**
 * cosy_sealed_free() - the reverse of cosy_sealed_alloc()
 * @sealed: the memory, which is not read any more
 *
 * May sleep.
 */
void cosy_sealed_free(struct cosy_sealed *sealed)
{
	if (sealed->readonly || sealed->npages > 1)
		vunmap(sealed->address);
	cosy_pages_free(sealed->pages, sealed->npages);
}
