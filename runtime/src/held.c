/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * held.c - what libcosy holds for a region that has run.
 *
 * Made on the run path, perhaps in a signal handler: memory comes from mmap,
 * and what two threads make at the same time is published by compare-and-swap;
 * the loser gives his back.
 */
#include <errno.h>
#include <linux/cosy.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "device.h"
#include "held.h"
#include "message.h"
#include "options.h"
#include "sys.h"

static struct cosy_held *retired;

static void *map(size_t size)
{
	long ret = cosy_sys6(SYS_mmap, 0, (long)size, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return ret < 0 && ret > -4096 ? NULL : (void *)ret;
}

static void unmap(void *address, size_t size)
{
	cosy_sys(SYS_munmap, (long)address, (long)size, 0);
}

static void unload(uint64_t handle)
{
	int fd = __atomic_load_n(&cosy_device_fd, __ATOMIC_RELAXED);

	if (fd >= 0)
		cosy_sys(SYS_ioctl, fd, COSY_IOC_UNLOAD, (long)&handle);
}

static void free_held(struct cosy_held *held)
{
	/* What the parent process loaded is still the parent's. */
	if (held->handle && held->pid == cosy_sys(SYS_getpid, 0, 0, 0))
		unload(held->handle - 1);
	if (held->counts)
		unmap(held->counts, sizeof(*held->counts));
	unmap(held, held->size);
}

/* Is the region's image a compound, and the region the one it was made for? */
static bool verify(const struct cosy_region *region, struct cosy_diag *diag)
{
	const struct cosy_header *header = region->image;

	if ((uintptr_t)region->image % 8) {
		diag->reason = "the image is not 8-byte aligned";
		diag->offset = 0;
		return false;
	}
	if (cosy_verify(region->image, region->size, diag))
		return false;
	if (header->nregs > region->nregs) {
		diag->reason = "more registers than the region provides";
		diag->offset = offsetof(struct cosy_header, nregs);
		return false;
	}
	if (header->nupcalls > region->nthunks) {
		diag->reason = "more up-calls than the region provides";
		diag->offset = offsetof(struct cosy_header, nupcalls);
		return false;
	}
	return true;
}

static struct cosy_held *make(struct cosy_region *region, uint32_t executor)
{
	size_t size = sizeof(struct cosy_held) + cosy_code_size(region->image);
	struct cosy_held *held = map(size);

	if (!held)
		return NULL;
	held->size = size;
	held->executor = executor;
	held->code = (struct cosy_code *)(held + 1);
	if (cosy_options().stats) {
		held->counts = map(sizeof(*held->counts));
		if (!held->counts) {
			unmap(held, size);
			return NULL;
		}
		cosy_sys(SYS_madvise, (long)held->counts,
			 sizeof(*held->counts), MADV_WIPEONFORK);
	}
	cosy_decode(region->image, held->code, 0, NULL);
	return held;
}

struct cosy_held *cosy_held_get(struct cosy_region *region, uint32_t executor,
				struct cosy_diag *diag)
{
	void *present = __atomic_load_n(&region->state, __ATOMIC_ACQUIRE);
	struct cosy_held *held;

	if (present)
		return present;
	if (!verify(region, diag))
		return NULL;
	held = make(region, executor);
	if (!held) {
		diag->reason = NULL;
		return NULL;
	}
	if (__atomic_compare_exchange_n(&region->state, &present, (void *)held,
					false, __ATOMIC_ACQ_REL,
					__ATOMIC_ACQUIRE))
		return held;
	free_held(held);
	return present;
}

static const char *reason_not_loaded(long error, const struct cosy_load *load)
{
	switch (-error) {
	case EINVAL:
		return load->reason;
	case ENOSPC:
		return "too many compounds in one process (the module's parameter max_loads)";
	case EDQUOT:
		return "this user's compounds take too much memory (the module's parameter user_memory)";
	case ENOMEM:
		return "out of memory";
	default:
		return "unexpected answer";
	}
}

int cosy_held_load(struct cosy_region *region, struct cosy_held *held,
		   uint64_t stale)
{
	struct cosy_load load = {
		.size = sizeof(load),
		.image = (uintptr_t)region->image,
		.image_size = region->size,
		.flags = cosy_options().plain ? COSY_LOAD_PLAIN : 0,
	};
	struct cosy_number line;
	int fd = cosy_device_get_own();
	long ret;

	if (fd < 0)
		return fd;
	if (__atomic_load_n(&region->handle, __ATOMIC_ACQUIRE) != stale)
		return 0;

	ret = cosy_sys(SYS_ioctl, fd, COSY_IOC_LOAD, (long)&load);
	if (ret < 0) {
		if (cosy_options().debug)
			cosy_message(region->file, ":",
				     cosy_number(&line, region->line),
				     ": the module does not load the compound: ",
				     reason_not_loaded(ret, &load), NULL);
		return (int)ret;
	}
	if (!__atomic_compare_exchange_n(&region->handle, &stale,
					 load.handle + 1, false,
					 __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
		unload(load.handle);
	else
		__atomic_store_n(&held->pid,
				 (int)cosy_sys(SYS_getpid, 0, 0, 0),
				 __ATOMIC_RELAXED);
	return 0;
}

void cosy_held_free(struct cosy_region *region)
{
	struct cosy_held *held = region->state;

	held->handle = region->handle;
	free_held(held);
}

void cosy_held_retire(struct cosy_region *region)
{
	struct cosy_held *held = region->state;

	if (!held)
		return;
	held->handle = __atomic_load_n(&region->handle, __ATOMIC_RELAXED);
	held->next = __atomic_load_n(&retired, __ATOMIC_RELAXED);
	while (!__atomic_compare_exchange_n(&retired, &held->next, held, true,
					    __ATOMIC_RELEASE, __ATOMIC_RELAXED))
		;
}

bool cosy_held_any_retired(void)
{
	return __atomic_load_n(&retired, __ATOMIC_RELAXED);
}

void cosy_held_free_retired(void)
{
	struct cosy_held *held = __atomic_exchange_n(&retired, NULL,
						     __ATOMIC_ACQUIRE);

	while (held) {
		struct cosy_held *next = held->next;

		free_held(held);
		held = next;
	}
}
