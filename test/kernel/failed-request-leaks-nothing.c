// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * Each request of the module to the kernel fails once, in each operation of its
 * interface: memory, user memory, descriptors, files. Each failure must be reported, the same
 * operation must succeed afterwards, and nothing may leak: memory, quota, descriptors, files,
 * programs, references to the module.
 *
 * Inputs/inject/cosy_inject.c makes the failures. In a separate VM with one CPU, whose kernel is
 * patched by the probes.
 */
// RUN: kernel=${COSY_KERNEL:-6.12}; %root/scripts/build-module --variant inject $kernel test/kernel/Inputs/inject >%t.build 2>&1 || { cat %t.build; exit 1; }
// RUN: %compile-bpf %S/Inputs/functions.bpf.c -o %t.bpf.o
// RUN: %compile-dynamic %s -o %t -lbpf
// RUN: kernel=${COSY_KERNEL:-6.12}; sh %S/Inputs/inject-points.sh %build/kernel/$kernel/cosy.ko %S/Inputs/inject/points.def
// RUN: kernel=${COSY_KERNEL:-6.12}; %root/scripts/vm/run --smp 1 --no-module -- sh %S/Inputs/inject.sh %build/kernel/$kernel/inject/cosy_inject.ko %build/kernel/$kernel/cosy.ko %t %t.bpf.o %build/bin/cosy
#include "Inputs/inject/calls.h"
#include "Inputs/inject/functions.h"
#include "Inputs/inject/loading.h"
#include "Inputs/inject/loops.h"
#include "Inputs/inject/open-files.h"
#include "Inputs/inject/runs.h"
#include "Inputs/inject/shares.h"

#include <sys/mount.h>

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_handler = crash };
	unsigned int left;

	injector = open("/dev/cosy-inject", O_RDWR | O_CLOEXEC);
	if (injector < 0)
		die("/dev/cosy-inject");
	if (argc < 2 || sigaction(SIGSEGV, &action, NULL))
		die("usage: inject PROGRAMS");
	mkdir(SCRATCH, 0700);
	if (mount("none", SCRATCH, "tmpfs", 0, NULL) || chdir(SCRATCH))
		die("mount");
	buffer = must_map(FILE_SIZE);
	memset(buffer, 1, FILE_SIZE);

	left = quota_left();
	check(left > 50, "the quota is enough for %u compounds", left);
	dev = open_device();
	try_files();
	try_runs();
	try_calls();
	try_several();
	try_loops();
	try_shares();
	try_functions(argv[1]);
	close(dev);
	check(wait_held(0), "no memory is left after all failures");
	check(quota_left() == left, "the quota is that of the beginning");
	check(wait_programs(), "no program is left");
	check(!chdir("/") && !umount(SCRATCH), "no file of the scratch file system is open");
	for (double end = now() + 60; read_number("/sys/module/cosy/refcnt") && now() < end;)
		usleep(5000);
	check(!read_number("/sys/module/cosy/refcnt"), "the module has no reference");
	check(!events()->lost, "all allocations and frees were recorded");
	return finish();
}
