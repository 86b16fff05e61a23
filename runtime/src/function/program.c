/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * program.c - load the BPF programs of user functions.
 *
 * libbpf reads the object file and links its sections. This file then loads the program,
 * because the libbpf of Debian 12 supports neither arenas nor tokens. To get the linked
 * instructions, libbpf is told to generate a loader program. For that it makes no system
 * calls, and calls prepare() with the instructions.
 *
 * libbpf is looked up when the first arena has been made: in the program if it is linked with it,
 * otherwise as a shared library. So libcosy needs libbpf neither to link nor to run, and programs
 * without functions do not load it.
 */
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/cosy.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cosy/function.h>

#include "device/descriptor.h"
#include "device/device.h"
#include "device/message.h"
#include "device/options.h"
#include "device/sys.h"
#include "function/bpf.h"
#include "function/program.h"

#define LIBBPF "libbpf.so.1"

#define LIBBPF_FUNCTIONS(X) \
	X(libbpf_set_print) \
	X(libbpf_register_prog_handler) \
	X(libbpf_unregister_prog_handler) \
	X(libbpf_prog_type_by_name) \
	X(bpf_object__open_mem) \
	X(bpf_object__btf) \
	X(bpf_object__find_map_by_name) \
	X(bpf_object__next_program) \
	X(bpf_object__gen_loader) \
	X(bpf_object__load) \
	X(bpf_object__close) \
	X(bpf_map__fd) \
	X(bpf_map__reuse_fd) \
	X(btf__raw_data) \
	X(bpf_program__log_buf) \
	X(bpf_program__set_log_buf) \
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

/* Threads that do this at the same time store the same. */
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

/**
 * struct request - what a handler does with a program
 * @magic:   REQUEST
 * @prepare: does it
 *
 * A process may have several copies of libcosy, each with a handler for the same section, and libbpf calls the
 * one that was registered first. So the handler of any copy, also of another version, finds this as the log
 * of the program, which is not written.
 */
struct request {
	uint64_t magic;
	int (*prepare)(struct request *request, struct bpf_program *program,
		       struct bpf_prog_load_opts *options);
};

#define REQUEST	0x436f73794c6f6164

/**
 * struct loading - a program that is being loaded
 * @request: for the handler
 * @object: the object of libbpf
 * @yield:  operands of a call of cosy_function_yield(), from the module
 * @map:    the arena of its segment
 * @done:   the kernel was asked to load it. What libbpf reports then is not the reason of a failure
 * @fd:     descriptor of the program, or -errno
 */
struct loading {
	struct request request;
	struct bpf_object *object;
	struct cosy_yield yield;
	int map;
	bool done;
	int fd;
};

/* Libbpf's messages are not printed. One thread loads at a time. */
static bool quiet;

static int load_types(const struct loading *loading, int token)
{
	const struct btf *btf = libbpf.bpf_object__btf(loading->object);
	struct cosy_bpf_btf attr;
	const void *data;
	__u32 size;

	data = btf ? libbpf.btf__raw_data(btf, &size) : NULL;
	if (!data)
		return -EINVAL;
	memset(&attr, 0, sizeof(attr));
	attr.btf = (uintptr_t)data;
	attr.size = size;
	return cosy_bpf(BPF_BTF_LOAD, &attr, sizeof(attr), &attr.flags,
			&attr.token_fd, token);
}

/* Load a program; again if a signal interrupts the verifier. */
static int load_program(struct cosy_bpf_program *attr, int token)
{
	int tries = 5, fd;

	do
		fd = cosy_bpf(BPF_PROG_LOAD, attr, sizeof(*attr),
			      &attr->prog_flags, &attr->token_fd, token);
	while (fd == -EAGAIN && --tries);
	return fd;
}

/* Print the verifier's log of a program that it rejects. */
static void explain(struct cosy_bpf_program *attr, int token)
{
	enum { SIZE = 1 << 20 };
	char *log = malloc(SIZE);
	int fd;

	if (!log)
		return;
	*log = '\0';
	attr->log_level = 1;
	attr->log_size = SIZE;
	attr->log_buf = (uintptr_t)log;
	fd = load_program(attr, token);
	if (fd >= 0)
		close(fd);
	dprintf(STDERR_FILENO, "%s", log);
	free(log);
}

/* The code is linked: load it. */
static int prepare(struct request *request, struct bpf_program *program,
		   struct bpf_prog_load_opts *options)
{
	struct loading *loading = (struct loading *)request;
	struct bpf_insn *insns =
		(struct bpf_insn *)libbpf.bpf_program__insns(program);
	size_t count = libbpf.bpf_program__insn_cnt(program);
	int fds[2] = { loading->map, loading->yield.fd };
	int token = cosy_bpf_token(), types;
	struct cosy_bpf_program attr;

	for (size_t i = 0; i < count; i++) {
		if (insns[i].code != (BPF_JMP | BPF_CALL) || insns[i].src_reg ||
		    insns[i].imm != COSY_FUNCTION_YIELD)
			continue;
		insns[i].src_reg = BPF_PSEUDO_KFUNC_CALL;
		insns[i].off = 1;
		insns[i].imm = (int)loading->yield.id;
	}
	types = load_types(loading, token);
	memset(&attr, 0, sizeof(attr));
	attr.prog_type = BPF_PROG_TYPE_SYSCALL;
	attr.insns = (uintptr_t)insns;
	attr.insn_cnt = (__u32)count;
	attr.license = (uintptr_t)COSY_FUNCTION_LICENSE;
	attr.prog_flags = BPF_F_SLEEPABLE;
	memcpy(attr.prog_name, COSY_FUNCTION_PROGRAM,
	       sizeof(COSY_FUNCTION_PROGRAM));
	attr.fd_array = (uintptr_t)fds;
	if (types >= 0) {
		attr.prog_btf_fd = (__u32)types;
		attr.func_info = (uintptr_t)options->func_info;
		attr.func_info_cnt = options->func_info_cnt;
		attr.func_info_rec_size = options->func_info_rec_size;
		attr.line_info = (uintptr_t)options->line_info;
		attr.line_info_cnt = options->line_info_cnt;
		attr.line_info_rec_size = options->line_info_rec_size;
	}
	loading->done = true;
	__atomic_store_n(&quiet, true, __ATOMIC_RELAXED);
	loading->fd = load_program(&attr, token);
	if (loading->fd < 0 && cosy_options().debug)
		explain(&attr, token);
	if (types >= 0)
		close(types);
	if (token >= 0)
		close(token);
	/* Stop libbpf here: it has nothing more to do. */
	return -ECANCELED;
}

/* Called by libbpf, also for a program of another copy of libcosy. */
static int handle(struct bpf_program *program, struct bpf_prog_load_opts *options, long cookie)
{
	size_t size = 0;
	struct request *request =
		(struct request *)libbpf.bpf_program__log_buf(program, &size);

	(void)cookie;
	if (!request || size != sizeof(*request) || request->magic != REQUEST)
		return -EINVAL;
	return request->prepare(request, program, options);
}

/* Print libbpf's messages if COSY_DEBUG asks for them. */
static int print(enum libbpf_print_level level, const char *format, va_list args)
{
	if (level == LIBBPF_DEBUG || !cosy_options().debug ||
	    __atomic_load_n(&quiet, __ATOMIC_RELAXED))
		return 0;
	return vdprintf(STDERR_FILENO, format, args);
}

static int handler;	/* the number that libbpf has given it, -errno if it has not */

enum { LIBBPF_UNKNOWN, LIBBPF_FOUND, LIBBPF_MISSING };
static int libbpf_state;

void cosy_program_prepare(void)
{
	int unknown = LIBBPF_UNKNOWN, found;

	if (__atomic_load_n(&libbpf_state, __ATOMIC_ACQUIRE) != LIBBPF_UNKNOWN)
		return;
	found = find_libbpf() ? LIBBPF_FOUND : LIBBPF_MISSING;
	if (__atomic_compare_exchange_n(&libbpf_state, &unknown, found, false, __ATOMIC_RELEASE,
					__ATOMIC_RELAXED) &&
	    found == LIBBPF_MISSING && cosy_options().debug)
		cosy_message("user functions run natively: there is no "
			     LIBBPF " (install libbpf1)", NULL);
}

static int init(void)
{
	LIBBPF_OPTS(libbpf_prog_handler_opts, options,
		    .prog_prepare_load_fn = handle);

	if (handler)
		return handler > 0 ? 0 : handler;
	if (__atomic_load_n(&libbpf_state, __ATOMIC_ACQUIRE) != LIBBPF_FOUND)
		return -ENOSYS;
	handler = libbpf.libbpf_register_prog_handler(COSY_FUNCTION_SECTION,
			BPF_PROG_TYPE_SYSCALL, (enum bpf_attach_type)0, &options);
	return handler > 0 ? 0 : handler;
}

/* Before 1.3, libbpf frees the list of handlers with the last one, and uses it again. So one stays. */
static bool keep_list(void)
{
	LIBBPF_OPTS(libbpf_prog_handler_opts, options);
	const char *name = COSY_FUNCTION_SECTION "_unused";
	enum bpf_attach_type attach;
	enum bpf_prog_type type;

	return !libbpf.libbpf_prog_type_by_name(name, &type, &attach) ||
	       libbpf.libbpf_register_prog_handler(name, BPF_PROG_TYPE_SYSCALL,
						   (enum bpf_attach_type)0, &options) > 0;
}

void cosy_program_unload(void)
{
	if (handler > 0 && keep_list())
		libbpf.libbpf_unregister_prog_handler(handler);
	handler = 0;
}

static int load(struct loading *loading)
{
	LIBBPF_OPTS(gen_loader_opts, loader);
	struct bpf_object *object = loading->object;
	struct bpf_program *program = libbpf.bpf_object__next_program(object, NULL);
	struct bpf_map *segment;
	int err, copy;

	segment = libbpf.bpf_object__find_map_by_name(object,
						      COSY_FUNCTION_SEGMENT);
	if (!segment || !program)
		return -EINVAL;
	/* Otherwise libbpf would create a map of its own. */
	err = libbpf.bpf_map__reuse_fd(segment, loading->map);
	if (!err)
		err = libbpf.bpf_object__gen_loader(object, &loader);
	if (!err)
		err = libbpf.bpf_program__set_log_buf(program, (char *)&loading->request,
						      sizeof(loading->request));
	if (err)
		return err < 0 ? err : -err;
	copy = libbpf.bpf_map__fd(segment);
	err = libbpf.bpf_object__load(object);
	/*
	 * For a loader, libbpf forgets the descriptor without closing it: a loader has its own
	 * map.
	 */
	if (libbpf.bpf_map__fd(segment) != copy)
		close(copy);
	if (!loading->done)
		return err ? err : -EINVAL;
	return loading->fd < 0 ? loading->fd : cosy_descriptor_hide(loading->fd);
}

int cosy_program_load(const struct cosy_function *function, int map)
{
	LIBBPF_OPTS(bpf_object_open_opts, options,
		    .object_name = "cosy_function");
	struct loading new = {
		.request = { REQUEST, prepare },
		.yield.size = sizeof(new.yield),
		.map = map,
	};
	int fd, device = cosy_device_get();
	libbpf_print_fn_t before;

	if (device < 0)
		return device;
	fd = init();
	if (fd < 0)
		return fd;
	fd = (int)cosy_sys(SYS_ioctl, device, COSY_IOC_YIELD, (long)&new.yield);
	if (fd < 0)
		return fd;

	__atomic_store_n(&quiet, false, __ATOMIC_RELAXED);
	before = libbpf.libbpf_set_print(print);
	new.object = libbpf.bpf_object__open_mem(function->object,
						 function->object_size,
						 &options);
	if (new.object) {
		fd = load(&new);
		libbpf.bpf_object__close(new.object);
	} else {
		fd = -errno;
	}
	libbpf.libbpf_set_print(before);
	close(new.yield.fd);
	return fd;
}
