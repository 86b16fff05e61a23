/* SPDX-License-Identifier: GPL-2.0 */
/*
 * sealed.h - memory that is written once and can only be read afterwards.
 */
#ifndef COSY_LOAD_SEALED_H
#define COSY_LOAD_SEALED_H

#include <linux/mm_types.h>
#include <linux/types.h>

/**
 * struct cosy_sealed - memory that can be made read-only
 * @address:  its address
 * @readonly: true after it was made read-only
 * @npages:   number of its pages
 * @pages:    its pages
 */
struct cosy_sealed {
	void *address;
	bool readonly;
	unsigned int npages;
	struct page **pages;
};

int cosy_sealed_alloc(struct cosy_sealed *sealed, u64 size);
int cosy_sealed_seal(struct cosy_sealed *sealed);
void cosy_sealed_free(struct cosy_sealed *sealed);

#endif /* COSY_LOAD_SEALED_H */
