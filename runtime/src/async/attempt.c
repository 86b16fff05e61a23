/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * attempt.c - calls that do not block, made in batches.
 *
 * Where there is the module, a batch is one entry into the kernel: a compound goes
 * through the attempts and makes those calls that it knows. So each call meets the
 * checks that calls in compounds meet, and is left to user mode where they are.
 */
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>

#include <cosy.h>
#include <cosy/format.h>

#include "../device.h"
#include "../options.h"
#include "../sys.h"
#include "loop.h"

/* Fewer are sooner made one by one: entering costs as much as two calls. */
#define MIN_BATCH	3u

struct cosy_attempt *cosy_attempt_add(struct cosy_loop *loop, uint32_t slot)
{
	const struct cosy_async_entry *entry = &loop->entries[slot];
	struct cosy_attempt *a = &loop->batch[loop->nbatch++];

	loop->slots[slot].state = COSY_SLOT_ATTEMPT;
	a->nr = entry->nr;
	memcpy(a->args, entry->args, sizeof(a->args));
	a->slot = slot;
	return a;
}

static void make_in_user_mode(struct cosy_attempt *a)
{
	a->result = cosy_sys6((long)a->nr, (long)a->args[0], (long)a->args[1],
			      (long)a->args[2], (long)a->args[3],
			      (long)a->args[4], (long)a->args[5]);
}

/* Arguments of the calls that the compound makes; 0 for those that it does not know. */
#define KNOWN(name, nargs) [SYS_##name] = (nargs) + 1
static const uint8_t known_calls[] = {
	KNOWN(read, 3),	      KNOWN(write, 3),	    KNOWN(close, 1),
	KNOWN(lseek, 3),      KNOWN(getpid, 0),	    KNOWN(accept, 3),
	KNOWN(sendto, 6),     KNOWN(recvfrom, 6),   KNOWN(sendmsg, 3),
	KNOWN(recvmsg, 3),    KNOWN(shutdown, 2),   KNOWN(setsockopt, 5),
	KNOWN(fcntl, 3),      KNOWN(accept4, 4),    KNOWN(preadv2, 6),
	KNOWN(pwritev2, 6),
};

/* Registers of the compound. */
enum { ATTEMPT, END, NR, ARGS, RESULT = ARGS + 6, REGISTERS };

/* Its exits. */
enum { ALL_MADE, UNKNOWN_CALL };

#define MAX_KNOWN 20u
#define MAX_OPS	  (2 + MAX_KNOWN * (1 + 6 + 1 + 6 + 3) + 1)

static const char name[] = "\0syscall page";

struct image {
	struct cosy_header header;
	struct cosy_op ops[MAX_OPS];
	char strings[sizeof(name)];
};

static struct cosy_op *add(struct image *image, uint8_t code)
{
	struct cosy_op *op = &image->ops[image->header.nops++];

	op->code = code;
	return op;
}

static void load(struct image *image, uint16_t to, size_t offset)
{
	struct cosy_op *op = add(image, COSY_OP_LOAD);

	op->width = 8;
	op->dst = to;
	op->a = ATTEMPT;
	op->imm = (int64_t)offset;
}

/* Make the call @nr, store its result, go on with the next attempt. */
static void emit_call(struct image *image, uint32_t nr, uint32_t nargs)
{
	struct cosy_op *op;

	for (uint32_t i = 0; i < nargs; i++)
		load(image, (uint16_t)(ARGS + i),
		     offsetof(struct cosy_attempt, args) + i * 8);
	op = add(image, COSY_OP_SYS);
	op->dst = RESULT;
	op->imm = nr;
	op->width = (uint8_t)nargs;
	for (uint32_t i = 0; i < nargs; i++)
		add(image, COSY_OP_ARG)->a = (uint16_t)(ARGS + i);
	op = add(image, COSY_OP_STORE);
	op->width = 8;
	op->a = ATTEMPT;
	op->b = RESULT;
	op->imm = offsetof(struct cosy_attempt, result);
	op = add(image, COSY_OP_LOOP);
	op->width = 8;
	op->dst = ATTEMPT;
	op->b = END;
	op->imm = sizeof(struct cosy_attempt);
	op->cond = COSY_COND_ULT;
	op->target = 0;
	add(image, COSY_OP_EXIT)->imm = ALL_MADE;
}

static struct cosy *make_compound(void)
{
	const uint32_t calls = sizeof(known_calls) / sizeof(*known_calls);
	struct image image = { 0 };
	struct cosy_header *header = &image.header;
	struct cosy_op *choose;

	load(&image, NR, offsetof(struct cosy_attempt, nr));
	choose = add(&image, COSY_OP_SWITCH);
	choose->width = 8;
	choose->a = NR;
	for (uint32_t nr = 0; nr < calls; nr++) {
		if (known_calls[nr]) {
			add(&image, COSY_OP_CASE)->imm = nr;
			choose->c++;
		}
	}
	choose->target = header->nops;
	add(&image, COSY_OP_EXIT)->imm = UNKNOWN_CALL;
	for (uint32_t nr = 0, i = 1; nr < calls; nr++) {
		if (!known_calls[nr])
			continue;
		choose[i++].target = header->nops;
		emit_call(&image, nr, known_calls[nr] - 1u);
	}
	memcpy(&image.ops[header->nops], name, sizeof(name));
	header->magic = COSY_MAGIC;
	header->version = COSY_VERSION;
	header->nregs = REGISTERS;
	header->size = (uint32_t)(sizeof(*header) +
				  header->nops * sizeof(struct cosy_op) +
				  sizeof(name));
	header->strings_size = sizeof(name);
	header->name = 1;
	header->ninputs = 2;
	header->out_first = ATTEMPT;
	header->nout = 1;
	header->nexits = 2;
	header->limit = COSY_DEFAULT_LIMIT;
	return cosy_init(&image, header->size);
}

static void make_in_kernel(struct cosy_loop *loop, struct cosy_attempt *a,
			   uint32_t n)
{
	struct cosy_attempt *end = a + n;
	uint64_t frame[REGISTERS];

	while (a < end) {
		frame[ATTEMPT] = (uintptr_t)a;
		frame[END] = (uintptr_t)end;
		loop->info.entries++;
		if (cosy_run(loop->compound, frame) != UNKNOWN_CALL)
			return;
		a = (struct cosy_attempt *)frame[ATTEMPT];
		make_in_user_mode(a++);
	}
}

void cosy_attempts_in_user_mode(struct cosy_loop *loop, struct cosy_attempt *a,
				uint32_t n)
{
	loop->info.entries += n;
	for (uint32_t i = 0; i < n; i++) {
		make_in_user_mode(&a[i]);
		cosy_attempted(loop, &a[i]);
	}
}

static void make(struct cosy_loop *loop, struct cosy_attempt *a, uint32_t n)
{
	loop->info.attempts += n;
	if (loop->module.makes_calls) {
		if (n >= MIN_BATCH || cosy_module_waits(loop, a, n))
			cosy_module_make(loop, a, n);
		else
			cosy_attempts_in_user_mode(loop, a, n);
		return;
	}
	if (n >= MIN_BATCH && loop->kernel && !loop->compound) {
		loop->compound = make_compound();
		/* Without memory for it, calls are made one by one. */
		loop->kernel = loop->compound != NULL;
	}
	if (n >= MIN_BATCH && loop->compound) {
		make_in_kernel(loop, a, n);
		for (uint32_t i = 0; i < n; i++)
			cosy_attempted(loop, &a[i]);
		return;
	}
	cosy_attempts_in_user_mode(loop, a, n);
}

void cosy_attempts_make(struct cosy_loop *loop)
{
	while (cosy_attempts_pending(loop)) {
		struct cosy_attempt *made = loop->batch;
		uint32_t n = loop->nbatch;

		/* What follows from the results goes to the other batch. */
		loop->batch = made == loop->batches[0] ? loop->batches[1] :
							 loop->batches[0];
		loop->nbatch = 0;
		if (n)
			make(loop, made, n);
		/* After what was submitted before: compounds may close what it uses. */
		if (cosy_module_submitted(loop))
			cosy_module_flush(loop);
		if (loop->module.page)
			cosy_module_collect(loop, COSY_ATTEMPTS);
	}
}

void cosy_attempts_init(struct cosy_loop *loop)
{
	enum cosy_executor executor = cosy_options().executor;

	loop->batch = loop->batches[0];
	loop->kernel = (executor == COSY_EXECUTOR_AUTO ||
			executor == COSY_EXECUTOR_KERNEL) &&
		       cosy_device_available(executor == COSY_EXECUTOR_KERNEL);
}
