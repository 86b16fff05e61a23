/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * compound.c - compounds by hand: cosy_init(), cosy_run().
 *
 * A struct cosy is a region without a place in a program, hence without native
 * code and up-calls.
 */
#include <cosy.h>

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cosy/verify.h>

#include "device/export.h"
#include "function/counters.h"
#include "function/hooks.h"
#include "region/region.h"
#include "region/reserved.h"
#include "region/stats.h"

/**
 * struct cosy - a compound
 * @next:   in its list of live compounds
 * @memory: what the region has besides the image; from calloc()
 * @region: the region
 * @image:  its image
 */
struct cosy {
	struct cosy *next;
	void *memory;
	struct cosy_region region;
	uint64_t image[];
};

static _Thread_local char error_text[160];

/*
 * The live compounds, so that cosy_free() recognises a pointer without reading the memory.
 */
#define NLISTS 256
static pthread_mutex_t live_lock = PTHREAD_MUTEX_INITIALIZER;
static struct cosy *live[NLISTS];

static struct cosy **list_of(const struct cosy *compound)
{
	return &live[(uintptr_t)compound / 64 % NLISTS];
}

static void lock_live(void)
{
	pthread_mutex_lock(&live_lock);
}

static void unlock_live(void)
{
	pthread_mutex_unlock(&live_lock);
}

/* At _exit(): another thread may be changing the lists. */
static void print_live(const void *lists)
{
	struct cosy *const *list = lists;

	if (pthread_mutex_trylock(&live_lock))
		return;
	for (size_t i = 0; i < NLISTS; i++)
		for (struct cosy *c = list[i]; c; c = c->next)
			cosy_stats_print(&c->region);
	unlock_live();
}

static bool remove_live(const struct cosy *compound)
{
	struct cosy **at = list_of(compound);

	lock_live();
	while (*at && *at != compound)
		at = &(*at)->next;
	if (*at)
		*at = compound->next;
	else
		compound = NULL;
	unlock_live();
	return compound;
}

/* For cosy_free(): see cosy_compound_free in hooks.h. */
static bool free_compound(struct cosy *compound)
{
	if (!remove_live(compound))
		return false;
	cosy_stats_print(&compound->region);
	cosy_reserved_unload(&compound->region);
	free(compound->memory);
	free(compound);
	return true;
}

static void init_live(void)
{
	static struct cosy_counted counted = { .print = print_live,
					       .data = live };

	pthread_atfork(lock_live, unlock_live, unlock_live);
	cosy_stats_add(&counted);
	__atomic_store_n(&cosy_compound_free, free_compound, __ATOMIC_RELEASE);
}

static void add_live(struct cosy *compound)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct cosy **list = list_of(compound);

	pthread_once(&once, init_live);
	lock_live();
	compound->next = *list;
	*list = compound;
	unlock_live();
}

static const struct cosy_header *header_of(const struct cosy *compound)
{
	return (const void *)compound->image;
}

static uint64_t data_address(const struct cosy *compound)
{
	const struct cosy_header *header = header_of(compound);

	return (uintptr_t)compound->image + header->size - header->data_size;
}

static const char *name_of(const struct cosy *compound)
{
	const struct cosy_header *header = header_of(compound);
	const char *name = (const char *)compound->image + header->size -
			   header->data_size - header->strings_size +
			   header->name;

	return *name ? name : "compound";
}

static struct cosy *invalid(const struct cosy_diag *diag)
{
	snprintf(error_text, sizeof(error_text), "offset %u: %s", diag->offset,
		 diag->reason);
	errno = EINVAL;
	return NULL;
}

COSY_EXPORT struct cosy *cosy_init(const void *image, size_t size)
{
	const struct cosy_header *header;
	struct cosy *compound;
	struct cosy_diag diag;

	error_text[0] = '\0';
	if (size > COSY_MAX_SIZE)
		return invalid(&(struct cosy_diag){
			.reason = "image too large",
			.offset = offsetof(struct cosy_header, size),
		});
	compound = calloc(1, sizeof(*compound) + size);
	if (!compound)
		goto no_memory;
	memcpy(compound->image, image, size);
	if (cosy_verify(compound->image, size, &diag)) {
		free(compound);
		return invalid(&diag);
	}
	header = header_of(compound);
	compound->region = (struct cosy_region){
		.abi = COSY_REGION_ABI,
		.mode = COSY_MODE_DECIDE,
		.image = compound->image,
		.size = (uint32_t)size,
		.nregs = header->nregs,
		.nthunks = header->nupcalls,
		.file = name_of(compound),
	};
	compound->memory = calloc(1, cosy_reserved_size(&compound->region));
	cosy_stats_init();
	cosy_reserved_use(&compound->region, compound->memory);
	/* Decode here, so that the first run cannot fail. */
	if (cosy_reserved_get(&compound->region,
			      cosy_region_executor(&compound->region), &diag)) {
		add_live(compound);
		return compound;
	}
	free(compound->memory);
	free(compound);
no_memory:
	snprintf(error_text, sizeof(error_text), "out of memory");
	errno = ENOMEM;
	return NULL;
}

COSY_EXPORT int64_t cosy_run(struct cosy *compound, uint64_t *frame)
{
	const struct cosy_header *header = header_of(compound);
	uint64_t regs[header->nregs + 1];
	int64_t exit;

	if (header->nupcalls) {
		errno = ENOTSUP;
		return -1;
	}
	memcpy(regs, frame, header->ninputs * sizeof(*regs));
	if (header->data_size)
		regs[header->ninputs - 1] = data_address(compound);
	exit = cosy_region_run(&compound->region, regs);
	memcpy(frame + header->out_first, regs + header->out_first,
	       header->nout * sizeof(*regs));
	return exit;
}

COSY_EXPORT const char *cosy_error(void)
{
	return error_text;
}
