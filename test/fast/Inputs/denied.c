// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * denied.c - fast paths call a security module that denies operations on attributes as often as
 * plain calls, and return its result.
 *
 *	denied DIRECTORY
 *
 * Must run in a separate VM, because attaching a BPF program patches the kernel.
 */
#include "more-regions.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <stdbool.h>
#include <stdlib.h>

/* The hooks, by their index in denied.bpf.c. */
static const char *const hooks[] = { "process", "inode_getxattr", "inode_get_acl",
				     "inode_listxattr", "inode_setattr" };
#define HOOKS (sizeof(hooks) / sizeof(hooks[0]))

static void must(bool good, const char *what)
{
	if (good)
		return;
	printf("%s: %s\n", what, strerror(errno));
	exit(1);
}

static struct bpf_object *load(void)
{
	struct bpf_object *object = bpf_object__open(OBJECT);
	struct bpf_program *program;

	must(object, OBJECT);
	/* Before 6.2 an ACL is an ordinary attribute, without hooks of its own. */
	libbpf_set_print(NULL);
	program = bpf_object__find_program_by_name(object, "deny_get_acl");
	if (libbpf_find_vmlinux_btf_id("inode_get_acl", BPF_LSM_MAC) < 0)
		bpf_program__set_autoload(program, false);
	must(!bpf_object__load(object), "load");
	bpf_object__for_each_program(program, object)
		if (bpf_program__autoload(program))
			must(bpf_program__attach_lsm(program), bpf_program__name(program));
	return object;
}

int main(int argc, char **argv)
{
	unsigned long count = (unsigned long)getpid();
	struct bpf_object *object;
	int state;

	(void)argv;
	if (argc != 2)
		return 2;
	if (geteuid() != 0)
		return 0;
	say_names("from4096");
	object = load();
	state = bpf_object__find_map_fd_by_name(object, "state");
	must(!bpf_map_update_elem(state, &(unsigned int){ 0 }, &count, BPF_ANY), "process");
	say_names("from4096");
	say_names("missing");
	say_names(".");
	say("names at", names_at("from4096"));
	for (unsigned int i = 1; i < HOOKS; i++) {
		must(!bpf_map_lookup_elem(state, &i, &count), hooks[i]);
		printf("%s: %lu\n", hooks[i], count);
	}
	bpf_object__close(object);
	return 0;
}
