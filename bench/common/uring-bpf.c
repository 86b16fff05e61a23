// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * uring-bpf.c - makes a ring, loads uring-bpf.bpf.o, and attaches a loop to the ring.
 */

#define _GNU_SOURCE
#include "uring-bpf.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <linux/io_uring.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bench.h"

/* From linux/io_uring.h, which is older in Debian 12. */
#ifndef IORING_SETUP_NO_SQARRAY
#define IORING_SETUP_NO_SQARRAY (1U << 16)
#endif
#ifndef IORING_SETUP_SQ_REWIND
#define IORING_SETUP_SQ_REWIND (1U << 20)
#endif

#define REGISTER_MEM_REGION 34
#define REGION_TYPE_USER    1

struct region_desc {
	uint64_t user_addr, size;
	uint32_t flags, id;
	uint64_t mmap_offset, reserved[4];
};

struct mem_region_reg {
	uint64_t region, flags, reserved[2];
};

/* As in uring-bpf.bpf.c. */
struct loop {
	void *loop_step;
	uint32_t ring_fd;
};

static int ring_fd;
static struct uring_bpf_state *state;

static void register_to_ring(unsigned int opcode, const void *what, unsigned int n,
			     const char *name)
{
	if (syscall(SYS_io_uring_register, ring_fd, opcode, what, n) < 0)
		bench_die(name);
}

static struct uring_bpf_offsets make_ring(void)
{
	struct io_uring_params p = {
		.flags = IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN |
			 IORING_SETUP_NO_SQARRAY | IORING_SETUP_SQ_REWIND | IORING_SETUP_CQSIZE,
		.cq_entries = RING_COMPLETIONS,
	};

	ring_fd = (int)syscall(SYS_io_uring_setup, RING_ENTRIES, &p);
	if (ring_fd < 0)
		bench_die("io_uring_setup");
	return (struct uring_bpf_offsets){ p.cq_off.head, p.cq_off.cqes };
}

static void share(void *memory, size_t size)
{
	struct region_desc desc = {
		.user_addr = (uintptr_t)memory,
		.size = size,
		.flags = REGION_TYPE_USER,
	};
	struct mem_region_reg reg = { .region = (uintptr_t)&desc };

	register_to_ring(REGISTER_MEM_REGION, &reg, 1, "the memory of the ring");
}

/* Return the initial contents of a map of the program, before it is loaded. */
static void *contents(const struct bpf_object *object, const char *name, size_t size)
{
	struct bpf_map *map = bpf_object__find_map_by_name(object, name);
	size_t has = 0;
	/* Older versions of libbpf return a pointer to const. */
	void *at = map ? (void *)bpf_map__initial_value(map, &has) : NULL;

	if (!at || has < size) {
		errno = EPROTO;
		bench_die(name);
	}
	return at;
}

static struct bpf_object *open_object(void)
{
	char self[PATH_MAX] = "", name[PATH_MAX + 32];
	struct bpf_object *object;

	if (readlink("/proc/self/exe", self, sizeof(self) - 1) < 0)
		bench_die("/proc/self/exe");
	snprintf(name, sizeof(name), "%s/uring-bpf.bpf.o", dirname(self));
	object = bpf_object__open(name);
	if (!object)
		bench_die(name);
	return object;
}

/* Leave out the other loops, which the kernel would check, too. */
static void load_only(const struct bpf_object *object, const char *loop, const char *loop_map)
{
	struct bpf_program *program;
	struct bpf_map *map;

	bpf_object__for_each_program(program, object)
		bpf_program__set_autoload(program, !strcmp(bpf_program__name(program), loop));
	bpf_object__for_each_map(map, object)
		if (bpf_map__type(map) == BPF_MAP_TYPE_STRUCT_OPS)
			bpf_map__set_autocreate(map, !strcmp(bpf_map__name(map), loop_map));
}

struct uring_bpf_state *uring_bpf_open(const char *loop, void *memory, size_t size,
				       unsigned int slots)
{
	struct io_uring_rsrc_register files = { .nr = slots, .flags = IORING_RSRC_REGISTER_SPARSE };
	const struct uring_bpf_offsets offsets = make_ring();
	struct bpf_object *object = open_object();
	char map[32];

	share(memory, size);
	if (slots)
		register_to_ring(IORING_REGISTER_FILES2, &files, sizeof(files),
				 "the ring's direct descriptors");
	snprintf(map, sizeof(map), "%s_loop", loop);
	((struct loop *)contents(object, map, sizeof(struct loop)))->ring_fd = (uint32_t)ring_fd;
	*(struct uring_bpf_offsets *)contents(object, ".rodata", sizeof(offsets)) = offsets;
	load_only(object, loop, map);
	if (bpf_object__load(object))
		bench_die("the loops in BPF");
	if (!bpf_map__attach_struct_ops(bpf_object__find_map_by_name(object, map)))
		bench_die(map);
	state = mmap(NULL, sizeof(*state), PROT_READ | PROT_WRITE, MAP_SHARED,
		     bpf_map__fd(bpf_object__find_map_by_name(object, ".bss")), 0);
	if (state == MAP_FAILED)
		bench_die("the variables of the loops");
	state->memory = (uintptr_t)memory;
	return state;
}

void uring_bpf_file(unsigned int slot, int fd)
{
	struct io_uring_files_update update = { .offset = slot, .fds = (uintptr_t)&fd };

	register_to_ring(IORING_REGISTER_FILES_UPDATE, &update, 1, "the ring's direct descriptors");
}

void uring_bpf_run(void)
{
	if (syscall(SYS_io_uring_enter, ring_fd, 0, 0, 0, NULL, 0))
		bench_die("io_uring_enter");
	if (state->error) {
		errno = -state->error;
		bench_die("the loop in BPF");
	}
}
