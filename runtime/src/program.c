/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * program.c - load the BPF programs of user functions.
 *
 * libbpf is looked for when the first function is to be loaded: in the program,
 * if that is linked with it, else as the shared library. So libcosy needs it
 * neither to be linked nor to run, and programs without functions never see it.
 * Debian 12's libbpf knows nothing of arenas; it need not, for it is given ours.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/cosy.h>
#include <stdbool.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cosy/function.h>

#include "device.h"
#include "message.h"
#include "options.h"
#include "program.h"
#include "sys.h"

#define LIBBPF "libbpf.so.1"

#define LIBBPF_FUNCTIONS(X) \
	X(libbpf_set_print) \
	X(libbpf_register_prog_handler) \
	X(bpf_object__open_mem) \
	X(bpf_object__find_map_by_name) \
	X(bpf_object__find_program_by_name) \
	X(bpf_object__load) \
	X(bpf_object__close) \
	X(bpf_map__reuse_fd) \
	X(bpf_program__fd) \
	X(bpf_program__insns) \
	X(bpf_program__insn_cnt)

/* Weak: in a static program they are there if it asks the linker for them. */
#define WEAK(name) extern __typeof__(name) name __attribute__((weak));
LIBBPF_FUNCTIONS(WEAK)
#undef WEAK
extern __typeof__(dlopen) dlopen __attribute__((weak));
extern __typeof__(dlsym) dlsym __attribute__((weak));

static struct {
#define MEMBER(name) __typeof__(name) *name;
	LIBBPF_FUNCTIONS(MEMBER)
#undef MEMBER
} libbpf;

static bool find_libbpf(void)
{
	void *library;

	if (bpf_object__load) {
#define TAKE(name) libbpf.name = name;
		LIBBPF_FUNCTIONS(TAKE)
#undef TAKE
		return true;
	}
	if (!dlopen || !dlsym)
		return false;
	library = dlopen(LIBBPF, RTLD_NOW | RTLD_LOCAL);
	if (!library)
		return false;
#define LOOK_UP(name)							\
	libbpf.name = (__typeof__(libbpf.name))dlsym(library, #name);	\
	if (!libbpf.name)						\
		return false;
	LIBBPF_FUNCTIONS(LOOK_UP)
#undef LOOK_UP
	return true;
}

/* What the module says a call of cosy_function_yield() looks like. */
static struct cosy_yield yield;

static int prepare(struct bpf_program *program,
		   struct bpf_prog_load_opts *options, long cookie)
{
	static int fds[2];
	struct bpf_insn *insns =
		(struct bpf_insn *)libbpf.bpf_program__insns(program);
	size_t count = libbpf.bpf_program__insn_cnt(program);

	(void)cookie;
	for (size_t i = 0; i < count; i++) {
		if (insns[i].code != (BPF_JMP | BPF_CALL) || insns[i].src_reg ||
		    insns[i].imm != COSY_FUNCTION_YIELD)
			continue;
		insns[i].src_reg = BPF_PSEUDO_KFUNC_CALL;
		insns[i].off = 1;
		insns[i].imm = (int)yield.id;
	}
	fds[1] = yield.fd;
	options->fd_array = fds;
	options->prog_flags |= BPF_F_SLEEPABLE;
	return 0;
}

/* libbpf's words are for who wants to know. */
static int print(enum libbpf_print_level level, const char *format, va_list args)
{
	if (level == LIBBPF_DEBUG || !cosy_options().debug)
		return 0;
	return vdprintf(STDERR_FILENO, format, args);
}

static int init(void)
{
	LIBBPF_OPTS(libbpf_prog_handler_opts, options,
		    .prog_prepare_load_fn = prepare);
	static int state;	/* 1 if done, -errno if impossible */

	if (state)
		return state > 0 ? 0 : state;
	if (!find_libbpf()) {
		if (cosy_options().debug)
			cosy_message("user functions run natively: there is no "
				     LIBBPF " (install libbpf1)", NULL);
		state = -ENOSYS;
		return state;
	}
	state = libbpf.libbpf_register_prog_handler(COSY_FUNCTION_SECTION,
			BPF_PROG_TYPE_SYSCALL, (enum bpf_attach_type)0, &options);
	if (state >= 0)
		state = 1;
	return state > 0 ? 0 : state;
}

static int load(struct bpf_object *object, int map)
{
	struct bpf_program *program;
	struct bpf_map *segment;
	int err;

	segment = libbpf.bpf_object__find_map_by_name(object,
						      COSY_FUNCTION_SEGMENT);
	program = libbpf.bpf_object__find_program_by_name(object,
							  COSY_FUNCTION_PROGRAM);
	if (!segment || !program)
		return -EINVAL;
	err = libbpf.bpf_map__reuse_fd(segment, map);
	if (err)
		return err < 0 ? err : -err;
	err = libbpf.bpf_object__load(object);
	if (err)
		return err;
	err = (int)cosy_sys(SYS_fcntl, libbpf.bpf_program__fd(program),
			    F_DUPFD_CLOEXEC, 0);
	return err < 0 ? err : cosy_device_hide(err);
}

int cosy_program_load(const struct cosy_function *function, int map)
{
	LIBBPF_OPTS(bpf_object_open_opts, options,
		    .object_name = "cosy_function");
	struct bpf_object *object;
	libbpf_print_fn_t before;
	int fd, device = cosy_device_get();

	if (device < 0)
		return device;
	fd = init();
	if (fd < 0)
		return fd;
	fd = (int)cosy_sys(SYS_ioctl, device, COSY_IOC_YIELD, (long)&yield);
	if (fd < 0)
		return fd;

	before = libbpf.libbpf_set_print(print);
	object = libbpf.bpf_object__open_mem(function->object,
					     function->object_size, &options);
	if (object) {
		fd = load(object, map);
		libbpf.bpf_object__close(object);
	} else {
		fd = -errno;
	}
	libbpf.libbpf_set_print(before);
	close(yield.fd);
	return fd;
}
