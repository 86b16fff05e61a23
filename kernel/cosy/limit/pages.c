// SPDX-License-Identifier: GPL-2.0
/*
 * pages.c - allocates pages that are charged to the cgroup, unlike those of vmalloc(), also for a
 * process to map.
 */
#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "compat/compat.h"
#include "limit/limit.h"

/**
 * cosy_pages_free() - free the pages of cosy_pages_alloc()
 * @pages: the pages
 * @n:     their number
 *
 * May sleep.
 */
void cosy_pages_free(struct page **pages, unsigned int n)
{
	while (n) {
		__free_page(pages[--n]);
		if (!(n % 256))
			cond_resched();
	}
	kvfree(pages);
}

/**
 * cosy_pages_alloc() - allocate zeroed pages
 * @n: their number, not 0
 *
 * May sleep.
 *
 * Return: the pages, for cosy_pages_free(); NULL if there is no memory.
 */
struct page **cosy_pages_alloc(unsigned int n)
{
	struct page **pages = kvmalloc_array(n, sizeof(*pages), COSY_GFP);
	unsigned int i;

	if (!pages)
		return NULL;
	for (i = 0; i < n; i++) {
		pages[i] = alloc_page(COSY_GFP | __GFP_ZERO);
		if (!pages[i]) {
			cosy_pages_free(pages, i);
			return NULL;
		}
		if (i % 256 == 255)
			cond_resched();
	}
	return pages;
}

/**
 * cosy_mappable_alloc() - allocate zeroed memory that a process can map
 * @memory: out: the memory
 * @size:   bytes: a number of whole pages, not 0
 *
 * May sleep.
 *
 * Return: its address, for the kernel; NULL if there is no memory. The caller owns it, and calls
 * cosy_mappable_free().
 */
void *cosy_mappable_alloc(struct cosy_mappable *memory, u64 size)
{
	memory->npages = size >> PAGE_SHIFT;
	memory->pages = cosy_pages_alloc(memory->npages);
	if (!memory->pages)
		return NULL;
	memory->address = vmap(memory->pages, memory->npages, VM_MAP | VM_USERMAP, PAGE_KERNEL);
	if (!memory->address)
		cosy_pages_free(memory->pages, memory->npages);
	return memory->address;
}

/**
 * cosy_mappable_free() - the reverse of cosy_mappable_alloc()
 * @memory: the memory, which no process maps
 *
 * May sleep.
 */
void cosy_mappable_free(const struct cosy_mappable *memory)
{
	vunmap(memory->address);
	cosy_pages_free(memory->pages, memory->npages);
}

/**
 * cosy_mappable_fits() - test whether a process may map memory as it asks for
 * @vma:  the mapping
 * @size: bytes of the memory
 *
 * Return: true for a shared mapping of all of it that is not executable.
 */
bool cosy_mappable_fits(const struct vm_area_struct *vma, u64 size)
{
	return vma->vm_end - vma->vm_start == size && vma->vm_flags & VM_SHARED &&
	       !(vma->vm_flags & VM_EXEC);
}

/**
 * cosy_mappable_map() - map memory
 * @memory: the memory
 * @vma:    the mapping, for which cosy_mappable_fits(). A child does not get it
 *
 * Return: 0 or -errno.
 */
int cosy_mappable_map(const struct cosy_mappable *memory, struct vm_area_struct *vma)
{
	cosy_vma_flags(vma, VM_DONTCOPY, VM_MAYEXEC);
	return remap_vmalloc_range(vma, memory->address, 0);
}
