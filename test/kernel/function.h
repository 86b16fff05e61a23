/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * function.h - user functions for the module's tests: a segment, the programs of
 * Inputs/functions.bpf.c in it, and compounds that call them.
 */
#ifndef FUNCTION_H
#define FUNCTION_H

#include "compound.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/bpf.h>

#include <cosy/function.h>

/* The headers of the C library and of libbpf 1.1 do not have these. */
#define MAP_TYPE_ARENA	33
#define SEGMENT_PAGES	(1u << 20)
#define SEGMENT_SIZE	((size_t)SEGMENT_PAGES * 4096)

#define CALL(d, f, u, n) OP(CALL, .dst = d, .imm = f, .c = u, .width = n)

/** struct segment - an arena and its address */
struct segment {
	int map;
	char *base;
};

/** segment_create() - create a segment; skips the test if there are no arenas */
static struct segment segment_create(void)
{
	LIBBPF_OPTS(bpf_map_create_opts, options, .map_flags = BPF_F_MMAPABLE);
	struct segment seg;
	char *any;

	/* Reserve address space for an aligned range of 4 GiB. */
	any = mmap(NULL, 2 * SEGMENT_SIZE, PROT_NONE,
		   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (any == MAP_FAILED)
		die("mmap of 8 GiB");
	seg.base = (char *)(((uintptr_t)any + SEGMENT_SIZE - 1) & -SEGMENT_SIZE);
	options.map_extra = (uintptr_t)seg.base;
	seg.map = bpf_map_create((enum bpf_map_type)MAP_TYPE_ARENA, "segment", 0,
				 0, SEGMENT_PAGES, &options);
	if (seg.map < 0) {
		printf("SKIP: no BPF arena: %s\n", strerror(errno));
		exit(77);
	}
	munmap(any, 2 * SEGMENT_SIZE);
	if (mmap(seg.base, SEGMENT_SIZE, PROT_READ | PROT_WRITE,
		 MAP_SHARED | MAP_FIXED, seg.map, 0) != seg.base)
		die("mmap of an arena");
	return seg;
}

/* The module's placeholder for a yield. */
static struct cosy_yield yield_call = { .size = sizeof(yield_call) };

/* Before a program is loaded: insert the module's kfunc for the yields. */
static int prepare(struct bpf_program *prog, struct bpf_prog_load_opts *options,
		   long cookie)
{
	static int fds[2];
	struct bpf_insn *insns = (struct bpf_insn *)bpf_program__insns(prog);

	(void)cookie;
	for (size_t i = 0; i < bpf_program__insn_cnt(prog); i++) {
		if (insns[i].code != (BPF_JMP | BPF_CALL) || insns[i].src_reg ||
		    insns[i].imm != COSY_FUNCTION_YIELD)
			continue;
		insns[i].src_reg = BPF_PSEUDO_KFUNC_CALL;
		insns[i].off = 1;
		insns[i].imm = (int)yield_call.id;
	}
	fds[1] = yield_call.fd;
	options->fd_array = fds;
	options->prog_flags |= BPF_F_SLEEPABLE;
	return 0;
}

/** functions_load() - load all programs of @file except "greedy" for @seg */
static struct bpf_object *functions_load(int dev, const char *file,
					 const struct segment *seg)
{
	LIBBPF_OPTS(libbpf_prog_handler_opts, handler,
		    .prog_prepare_load_fn = prepare);
	static bool registered;
	struct bpf_object *object;

	if (ioctl(dev, COSY_IOC_YIELD, &yield_call))
		die("COSY_IOC_YIELD");
	if (!registered && libbpf_register_prog_handler(COSY_FUNCTION_SECTION,
			BPF_PROG_TYPE_SYSCALL, 0, &handler) < 0)
		die("libbpf_register_prog_handler");
	registered = true;
	object = bpf_object__open_file(file, NULL);
	if (!object)
		die(file);
	if (bpf_map__reuse_fd(bpf_object__find_map_by_name(object,
				COSY_FUNCTION_SEGMENT), seg->map))
		die("bpf_map__reuse_fd");
	if (bpf_object__load(object))
		die("bpf_object__load");
	close(yield_call.fd);
	return object;
}

/** function() - return the descriptor of a program */
__attribute__((unused))
static int function(const struct bpf_object *object, const char *name)
{
	const struct bpf_program *prog =
		bpf_object__find_program_by_name(object, name);

	if (!prog)
		die(name);
	return bpf_program__fd(prog);
}

/**
 * bind_function() - bind function 0 of a compound
 * @bind: the other members besides handle and descriptor
 *
 * Return: 0 or -errno.
 */
__attribute__((unused))
static int bind_function(int dev, __u64 handle, int fd, struct cosy_bind *bind)
{
	bind->size = sizeof(*bind);
	bind->handle = handle;
	bind->fd = fd;
	return ioctl(dev, COSY_IOC_BIND, bind) ? -errno : 0;
}

/* Operations that call function 0 with r1 … r6, result in r0; up-call 3. */
#define CALL_SIX	CALL(0, 0, 3, 6), ARG(1), ARG(2), ARG(3), ARG(4), \
			ARG(5), ARG(6)

/** load_caller() - load a compound of these operations */
__attribute__((unused))
static __u64 load_caller(int dev)
{
	const struct cosy_op ops[] = { CALL_SIX, EXIT(0) };
	struct image *im = make_image(ops, 8, 7, 7, 0, 7);
	__u64 handle;

	im->h.nfunctions = 1;
	handle = load_image(dev, im);
	if (!handle)
		die("load");
	free(im);
	return handle;
}

/** must_bind() - load a compound that calls @name, whose first argument is a pointer */
__attribute__((unused))
static __u64 must_bind(int dev, const struct bpf_object *object,
		       const struct segment *seg, const char *name)
{
	struct cosy_bind bind = { .base = (uintptr_t)seg->base, .pointers = 1 };
	__u64 handle = load_caller(dev);

	if (bind_function(dev, handle, function(object, name), &bind))
		die("COSY_IOC_BIND");
	return handle;
}

/** call() - run such a compound once; arguments and result in @frame */
__attribute__((unused))
static long call(int dev, __u64 handle, __u64 *frame, struct cosy_run *run,
		 const void *p, __u64 a, __u64 b)
{
	frame[0] = 0x5555;
	frame[1] = (uintptr_t)p;
	frame[2] = a;
	frame[3] = b;
	return run_frame(dev, handle, frame, run);
}

#endif /* FUNCTION_H */
