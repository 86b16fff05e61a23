// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * A security module that forbids a process to run BPF programs by bpf(2) also
 * forbids to bind them.
 */
// REQUIRES: root
// Linux 6.1 has no BPF arenas.
// UNSUPPORTED: kernel-6.1
// RUN: %compile-bpf %S/Inputs/functions.bpf.c -o %t.bpf.o
// RUN: %compile-bpf %S/Inputs/denies.bpf.c -o %t.denies.o
// RUN: %compile-dynamic %s -o %t -lbpf
// RUN: %vm %t %t.bpf.o %t.denies.o
#include "function.h"

/* Forbid it to this process. */
static struct bpf_link *deny(const char *file)
{
	struct bpf_object *object = bpf_object__open_file(file, NULL);
	unsigned int pid = (unsigned int)getpid(), zero = 0;
	struct bpf_link *link;

	if (!object || bpf_object__load(object))
		die(file);
	link = bpf_program__attach_lsm(bpf_object__find_program_by_name(object, "denies"));
	if (!link)
		die("bpf_program__attach_lsm");
	if (bpf_map_update_elem(bpf_object__find_map_fd_by_name(object, ".bss"),
				&zero, &pid, 0))
		die("bpf_map_update_elem");
	return link;
}

int main(int argc, char **argv)
{
	struct cosy_bind bind = { .pointers = 1 };
	__u64 before, after, frame[7] = { 0 };
	struct bpf_object *object;
	struct bpf_link *link;
	struct cosy_run run;
	struct segment seg;
	int dev, fd;

	if (argc < 3)
		return 2;
	dev = open_device();
	seg = segment_create();
	object = functions_load(dev, argv[1], &seg);
	fd = function(object, "arguments");
	bind.base = (uintptr_t)seg.base;
	before = must_bind(dev, object, &seg, "arguments");
	after = load_caller(dev);

	link = deny(argv[2]);
	if (bpf_prog_test_run_opts(fd, NULL) != -EACCES) {
		printf("SKIP: the kernel does not ask BPF programs\n");
		return 77;
	}
	check(bind_function(dev, after, fd, &bind) == -EACCES,
	      "EACCES: the security module denies the binding");
	check(call(dev, after, frame, &run, NULL, 1, 1) == COSY_RUN_LEFT,
	      "the program that was not bound does not run");
	check(call(dev, before, frame, &run, NULL, 1, 1) == done(0),
	      "a program that was bound before still runs");
	check(!bind_function(dev, before, -1, &bind),
	      "a program that was bound before can be removed");

	bpf_link__destroy(link);
	check(!bind_function(dev, after, fd, &bind),
	      "the binding succeeds without the security module's program");
	return finish();
}
