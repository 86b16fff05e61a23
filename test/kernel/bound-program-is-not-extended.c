// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * Programs that a user function calls by a tail call, or that replace a part
 * of it, could access more than its context. So neither is possible for a program that is bound.
 */
// REQUIRES: root
// Linux 6.1 has no BPF arenas.
// UNSUPPORTED: kernel-6.1
// RUN: %compile-bpf %S/Inputs/extended.bpf.c -o %t.bpf.o
// RUN: %compile-bpf %S/Inputs/extension.bpf.c -o %t.extension.o
// RUN: %compile-dynamic %s -o %t -lbpf
// RUN: %vm %t %t.bpf.o %t.extension.o
#include "function.h"

static int dev;
static struct segment seg;
static struct bpf_object *object;

/* Load a program that replaces part(). */
static struct bpf_program *extension(const char *file, int target)
{
	struct bpf_object *extends = bpf_object__open_file(file, NULL);
	struct bpf_program *prog;

	if (!extends)
		die(file);
	prog = bpf_object__find_program_by_name(extends, "beyond");
	if (!prog || bpf_program__set_attach_target(prog, target, "part") ||
	    bpf_object__load(extends))
		die("an extension");
	return prog;
}

static int bind_whole(__u64 handle, int fd)
{
	struct cosy_bind bind = { .base = (uintptr_t)seg.base, .pointers = 1 };

	return bind_function(dev, handle, fd, &bind);
}

/* Attach; a program that was bound is free after a grace period. */
static struct bpf_link *attach_soon(const struct bpf_program *prog)
{
	struct bpf_link *link = bpf_program__attach_trace(prog);

	for (int i = 0; !link && i < 60000; i++) {
		usleep(10000);
		link = bpf_program__attach_trace(prog);
	}
	return link;
}

static void test_extended(const char *file)
{
	__u64 handle = load_caller(dev), frame[7] = { 0 };
	int fd = function(object, "whole");
	struct bpf_program *prog = extension(file, fd);
	struct cosy_run run;
	struct bpf_link *link;
	long ret;

	check(!bind_whole(handle, fd), "the program is bound");
	link = bpf_program__attach_trace(prog);
	check(!link && errno == EBUSY, "a bound program cannot be extended");
	ret = call(dev, handle, frame, &run, NULL, 0, 0);
	check(ret == done(0) && frame[0] == 815,
	      "the bound program returns its own result: %#llx", frame[0]);

	check(!bind_whole(handle, -1), "the program is removed");
	if (!link)
		link = attach_soon(prog);
	if (!link)
		die("extend");
	check(bind_whole(handle, fd) == -EINVAL, "an extended program cannot be bound");
	bpf_link__destroy(link);
	for (int i = 0; i < 60000 && bind_whole(handle, fd); i++)
		usleep(10000);
	check(!bind_whole(handle, fd), "the program can be bound when nothing extends it");
}

/* Before 7.0 no program of this type can make tail calls, but it can have the map. */
static void test_tail_calls(void)
{
	__u64 handle = load_caller(dev);
	int fd = function(object, "whole");
	int map = bpf_map_create(BPF_MAP_TYPE_PROG_ARRAY, "programs", 4, 4, 1, NULL);

	if (map < 0 || bpf_prog_bind_map(fd, map, NULL))
		die("an array of programs");
	check(bind_whole(handle, fd) == -EINVAL,
	      "a program that may make tail calls cannot be bound");
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	dev = open_device();
	seg = segment_create();
	object = functions_load(dev, argv[1], &seg);
	test_extended(argv[2]);
	test_tail_calls();
	return finish();
}
