/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * coroutine.c - parts of COSY_ASYNC functions that the module executes as compounds.
 *
 * While the function is suspended, its entry runs the compound in the module, which parks it when
 * it would block. When the module leaves the compound, this file continues it. Up-calls are made
 * in the thread that delivers the entry. Calls for which the module cannot wait become operations
 * of the loop. After such an operation the user-mode executor continues up to the next call,
 * which is often on the same file. If the module cannot be used any more, the user-mode executor
 * continues to the end, and each call that may wait becomes an operation.
 *
 * If the loop has processors, they run the compounds, as they execute operations (cpu.c).
 */
#include <errno.h>
#include <stddef.h>
#include <sys/syscall.h>

#include <linux/cosy.h>

#include <cosy/exec.h>
#include <cosy/function.h>

#include "device/device.h"
#include "device/export.h"
#include "region/region.h"
#include "region/reserved.h"
#include "function/counters.h"
#include "function/hooks.h"
#include "coroutine.h"
#include "cpu.h"
#include "loop.h"
#include "submit.h"
#include "task.h"

/*
 * A compound gains if it waits again and again: then the thread that waits for the loop stays in the module. If
 * it ends after one wait, or the module leaves it there for a call, the thread has to return as often as
 * natively, and the entry costs more. After LOST_MAX such runs in a row, the part runs natively. The same after
 * LOST_MAX calls of a user function in a row that became up-calls, because an argument is not in a segment.
 * After SKIPPED_MAX native runs, the module tries again.
 */
#define LOST_MAX	4
#define SKIPPED_MAX	256

/* Return true if a run of the compound would probably lose again. */
static bool has_lost_often(struct cosy_reserved *reserved)
{
	uint16_t skipped;

	if (__atomic_load_n(&reserved->lost, __ATOMIC_RELAXED) < LOST_MAX)
		return false;
	/* Threads may count at the same time. A lost count does not matter. */
	skipped = __atomic_load_n(&reserved->skipped, __ATOMIC_RELAXED);
	__atomic_store_n(&reserved->skipped, skipped < SKIPPED_MAX ? skipped + 1 : 0,
			 __ATOMIC_RELAXED);
	return skipped < SKIPPED_MAX;
}

/* Note whether a run of a compound has lost. */
static void note_run(struct cosy_reserved *reserved, bool lost)
{
	uint8_t before = __atomic_load_n(&reserved->lost, __ATOMIC_RELAXED);

	if (!lost)
		__atomic_store_n(&reserved->lost, 0, __ATOMIC_RELAXED);
	else if (before < LOST_MAX)
		__atomic_store_n(&reserved->lost, before + 1, __ATOMIC_RELAXED);
}

/*
 * Return true if a compound has a user function that the module cannot call: each call would be an
 * up-call. With COSY_EXECUTOR=kernel it runs all the same.
 */
static bool functions_are_native(const struct cosy_region *region)
{
	return region->nfunctions && cosy_options().executor == COSY_EXECUTOR_AUTO &&
	       !(cosy_function_hooks && cosy_function_hooks->may_run_in_kernel(region));
}

/*
 * Return true if a part may run natively because that is faster. A part with user functions is measured in
 * another way, and without a ring, native calls take the longer path of the loop's page.
 */
static bool has_choice(const struct cosy_loop *loop, const struct cosy_region *region,
		       const struct cosy_reserved *reserved)
{
	return cosy_options().executor == COSY_EXECUTOR_AUTO && !region->nfunctions &&
	       !loop->spreads && !(loop->ring.tried && !loop->ring.page) &&
	       loop->module.usable && !__atomic_load_n(&reserved->waits, __ATOMIC_RELAXED);
}

static void set_opinion(struct cosy_reserved *reserved, enum cosy_opinion opinion)
{
	if (reserved->counts)
		__atomic_store_n(&reserved->verdict.opinion, opinion, __ATOMIC_RELAXED);
}

/*
 * Return true if the functions of a loop are to run the part natively, because that is faster where
 * several are continued at once: see batches.h.
 */
static bool is_faster_natively(struct cosy_loop *loop, const struct cosy_region *region,
			       struct cosy_reserved *reserved)
{
	struct cosy_batches *batches = &loop->batches;
	bool native;

	if (!has_choice(loop, region, reserved))
		return false;
	__atomic_store_n(&batches->used, true, __ATOMIC_RELAXED);
	native = !__atomic_load_n(&batches->compounds, __ATOMIC_RELAXED);
	set_opinion(reserved, native ? COSY_OPINION_LOSES : COSY_OPINION_GAINS);
	if (reserved->counts)
		__atomic_store_n(&reserved->at_once,
				 __atomic_load_n(&batches->at_once, __ATOMIC_RELAXED), __ATOMIC_RELAXED);
	return native;
}

/* Decide whether a run of a part is native. */
static bool runs_natively(struct cosy_task *task, struct cosy_region *region,
			  struct cosy_reserved *reserved)
{
	if (is_faster_natively(task->loop, region, reserved)) {
		task->native = reserved;
		return true;
	}
	if (cosy_region_loses(region) || functions_are_native(region))
		return true;
	if (!has_lost_often(reserved))
		return false;
	set_opinion(reserved, COSY_OPINION_LOSES);
	return true;
}

/* Return true if the region is loaded in the module; loads it the first time. */
static bool is_loaded(struct cosy_region *region)
{
	int err;

	if (__atomic_load_n(&region->handle, __ATOMIC_ACQUIRE))
		return true;
	err = cosy_reserved_load(region, 0);
	if (err < 0 && cosy_device_gone(err))
		__atomic_store_n(&region->mode, COSY_MODE_NATIVE,
				 __ATOMIC_RELAXED);
	return err >= 0;
}

/* Return true if the loop can run a region's compound; false in a child. */
static bool loop_runs(struct cosy_loop *loop, const struct cosy_region *region)
{
	const uint64_t calls = region->nfunctions ? COSY_ASYNC_FUNCTIONS : 0;
	bool runs;

	if (cosy_loop_enter(loop))
		return false;
	runs = !loop->closing && cosy_module_has(loop, COSY_MODULE_COMPOUNDS | calls);
	cosy_loop_leave(loop);
	return runs;
}

COSY_EXPORT bool cosy_task_region(struct cosy_task *task,
				  struct cosy_region *region, uint64_t *frame)
{
	struct cosy_reserved *reserved;
	struct cosy_diag diag;

	__atomic_store_n(&task->asks, false, __ATOMIC_RELAXED);
	task->native = NULL;
	if (region->abi != COSY_REGION_ABI)
		return false;
	/* The receive that the function makes next has ended already, with a reply. Native code takes its result. */
	if (task->received) {
		cosy_task_ask(task);
		return false;
	}
	/*
	 * The module would resume it while a thread runs a callback of its colour. And it makes the
	 * calls in the process's table: a descriptor may be of a share.
	 */
	if (task->has_colour || cosy_has_shares())
		return false;
	reserved = cosy_reserved_get(region, COSY_EXECUTOR_KERNEL, &diag);
	if (!reserved)
		return false;
	if (runs_natively(task, region, reserved)) {
		/* Ask the loop only for the counts, because that takes the ring from this thread. */
		if (!reserved->counts || !loop_runs(task->loop, region))
			return false;
		cosy_count(reserved->counts, &reserved->counts->runs, 1);
		cosy_count(reserved->counts, &reserved->counts->native, 1);
		return false;
	}
	if (!loop_runs(task->loop, region) || !is_loaded(region))
		return false;
	cosy_count(reserved->counts, &reserved->counts->runs, 1);
	task->region = region;
	task->registers = frame;
	task->pc = 0;
	task->begun = false;
	task->reloaded = false;
	task->stays = false;
	task->waited = false;
	task->missed = 0;
	return true;
}

COSY_EXPORT bool *cosy_task_asks(struct cosy_task *task)
{
	return &task->asks;
}

COSY_EXPORT int *cosy_task_errno(struct cosy_task *task)
{
	return &task->error;
}

static void state_init(struct cosy_state *st, struct cosy_task *task)
{
	const struct cosy_code *code = cosy_reserved_of(task->region)->code;

	st->regs = task->registers;
	st->regs[code->nregs] = 0;
	st->pc = task->pc;
	st->budget = (int64_t)code->limit;
	st->calls = 0;
	st->errno_addr = (uintptr_t)&task->error;
	st->env.single = false;
	st->env.call = NULL;
}

/* Continue after the call at the pc, which was made. */
static void take_result(struct cosy_task *task, int64_t result)
{
	struct cosy_state st;

	state_init(&st, task);
	cosy_exec_result(cosy_reserved_of(task->region)->code, &st, result);
	task->pc = st.pc;
}

/* Make an up-call with the errno of the function. */
static void call_up(struct cosy_task *task, uint64_t number)
{
	struct cosy_reserved *reserved = cosy_reserved_of(task->region);

	cosy_count(reserved->counts, &reserved->counts->upcalls, 1);
	errno = task->error;
	task->region->thunks[number](task->registers);
	task->error = errno;
}

/* Make the argument for cosy_function_hooks. */
static struct cosy_run run_of(const struct cosy_task *task, uint64_t value)
{
	return (struct cosy_run){
		.handle = __atomic_load_n(&task->region->handle, __ATOMIC_RELAXED) - 1,
		.pc = task->pc,
		.value = value,
	};
}

/*
 * Make an up-call for which the module has left the compound. If it is a call of a user function, the
 * module may make it from now on. If the module often cannot, the COSY_ASYNC function goes on natively.
 */
static void call_up_or_bind(struct cosy_task *task, uint64_t number)
{
	struct cosy_reserved *reserved = cosy_reserved_of(task->region);
	struct cosy_run run = run_of(task, number);

	if (!task->region->nfunctions || !cosy_function_hooks) {
		call_up(task, number);
		return;
	}
	if (cosy_function_hooks->upcall(task->region, reserved->counts, task->registers, &run)) {
		task->pc = run.pc;
		task->missed = 0;
		return;
	}
	call_up(task, number);
	if (functions_are_native(task->region)) {
		cosy_task_ask(task);
	} else if (++task->missed == LOST_MAX &&
		   cosy_options().executor == COSY_EXECUTOR_AUTO) {
		__atomic_store_n(&reserved->lost, LOST_MAX, __ATOMIC_RELAXED);
		cosy_task_ask(task);
	}
}

/* A user function has failed. Returns only if it has run natively instead. */
static void handle_failure(struct cosy_task *task, uint64_t status,
			   const struct cosy_async_entry *entry)
{
	struct cosy_run run = run_of(task, status);

	run.failure = (struct cosy_function_failure){
		.address = entry->args[2],
		.line = (uint32_t)entry->args[3],
		.function = (uint32_t)(entry->args[3] >> 32),
		.wrote = (uint32_t)entry->args[4],
	};
	cosy_function_hooks->failed(task->region, cosy_reserved_of(task->region)->counts,
				    task->registers, &run);
	task->pc = run.pc;
}

/*
 * Make the call at the pc as an operation of the loop.
 *
 * Return: true if it was submitted.
 */
static bool call_by_loop(struct cosy_task *task)
{
	const struct cosy_insn *call =
		&cosy_reserved_of(task->region)->code->insns[task->pc];
	const uint64_t *registers = task->registers;
	uint64_t args[COSY_MAX_ARGS] = { 0 };
	int64_t result;

	for (uint32_t i = 0; i < call->nargs; i++)
		args[i] = registers[call[1 + i].a] + (uint64_t)call[1 + i].imm;
	cosy_task_set_call(task, (long)call->imm, args);
	task->in_call = true;
	if (cosy_task_submit_call(task, &result))
		return true;
	task->in_call = false;
	take_result(task, result);
	return false;
}

/*
 * Return true if the loop knows that the module cannot wait for the file of the call at the pc.
 */
static bool is_for_loop(const struct cosy_task *task)
{
	const struct cosy_insn *call =
		&cosy_reserved_of(task->region)->code->insns[task->pc];
	struct cosy_loop *loop = task->loop;
	const struct cosy_descriptor *d;
	bool is;

	if ((call->imm != SYS_read && call->imm != SYS_write &&
	     call->imm != SYS_close) || cosy_loop_enter(loop))
		return false;
	d = cosy_descriptor_find(&loop->fds, (int)(task->registers[call[1].a] +
					     (uint64_t)call[1].imm));
	is = d && (d->opened ||
		   (d->kind != COSY_KIND_UNKNOWN && d->kind != COSY_KIND_SOCKET &&
		    (d->kind != COSY_KIND_PIPE || d->polled)));
	cosy_loop_leave(loop);
	return is;
}

/** enum step_end - how a part of a compound that user mode executes has ended */
enum step_end {
	STEP_GOES_ON,
	STEP_UNDER_WAY,	/* a call of the loop */
	STEP_FOR_MODULE, /* a call that the module has to make */
	STEP_ENDED,	/* the compound, with an exit */
};

/*
 * Execute in user mode. With @single, execute only up to the next call or back-edge: the module has left
 * the compound for that.
 */
static enum step_end execute(struct cosy_task *task, bool single)
{
	const uint32_t first = task->pc;
	struct cosy_reserved *reserved = cosy_reserved_of(task->region);
	struct cosy_counts *counts = reserved->counts;
	enum cosy_status status;
	struct cosy_state st;

	if (single)
		cosy_count(counts, &counts->steps, 1);
	state_init(&st, task);
	st.env.single = single;
	status = cosy_exec(reserved->code, &st);
	cosy_count(counts, &counts->syscalls, st.calls);
	task->pc = st.pc;
	switch (status) {
	case COSY_DONE:
		task->value = (int64_t)st.value;
		return STEP_ENDED;
	case COSY_UPCALL:
		call_up(task, st.value);
		return STEP_GOES_ON;
	case COSY_STEP:
		if (!task->stays && !(single && task->pc == first) &&
		    !is_for_loop(task))
			return STEP_FOR_MODULE;
		return call_by_loop(task) ? STEP_UNDER_WAY : STEP_GOES_ON;
	default:	/* COSY_AGAIN, COSY_LIMIT */
		return STEP_GOES_ON;
	}
}

/* Return true if a compound uses nothing that a thread has of its own. */
static bool image_moves(const void *image)
{
	const struct cosy_header *header = image;
	const struct cosy_op *ops = (const void *)(header + 1);

	for (uint32_t pc = 0; pc < header->nops; pc++) {
		if (ops[pc].code == COSY_OP_TID)
			return false;
		if ((ops[pc].code == COSY_OP_SYS || ops[pc].code == COSY_OP_LIBC) &&
		    !cosy_call_moves((long)ops[pc].imm))
			return false;
	}
	return true;
}

/* The same for the task's compound. Only the first call inspects the compound. */
static bool compound_moves(const struct cosy_task *task)
{
	struct cosy_reserved *reserved = cosy_reserved_of(task->region);
	uint8_t moves = __atomic_load_n(&reserved->moves, __ATOMIC_RELAXED);

	if (moves == COSY_MOVES_UNKNOWN) {
		moves = image_moves(task->region->image) ? COSY_MOVES_FREELY : COSY_MOVES_NOT;
		__atomic_store_n(&reserved->moves, moves, __ATOMIC_RELAXED);
	}
	return moves == COSY_MOVES_FREELY;
}

/* Choose where a compound begins. */
static struct cosy_cpu *choose_cpu(const struct cosy_task *task)
{
	struct cosy_loop *loop = task->loop;

	if (!loop->spreads || !compound_moves(task) ||
	    !cosy_module_has(loop, COSY_MODULE_COMPOUNDS | COSY_ASYNC_MOVES))
		return NULL;
	return cosy_cpu_for_compound(loop, task->on, task->cpu);
}

/* Submit the compound. Return: false if the module cannot run it any more. */
static bool submit_compound(struct cosy_task *task)
{
	struct cosy_counts *counts = cosy_reserved_of(task->region)->counts;
	struct cosy_loop *loop = task->loop;
	uint64_t handle = __atomic_load_n(&task->region->handle, __ATOMIC_RELAXED);
	uint64_t flags = task->begun ? COSY_COMPOUND_RESUMED : 0;
	bool runs;

	if (cosy_loop_enter(loop))
		return false;
	/* With the lock: after the submission, cosy_cancel() cancels the entry instead. */
	if (task->cancelled)
		flags |= COSY_COMPOUND_CANCELLED;
	if (!task->begun)
		task->cpu = choose_cpu(task);
	task->handle = (uint32_t)handle;
	if (task->cpu)
		flags |= COSY_COMPOUND_MOVES;
	cosy_task_set_call(task, COSY_ENTRY_COMPOUND, (uint64_t[]){
		(uint64_t)__atomic_load_n(&cosy_device_fd, __ATOMIC_RELAXED),
		handle - 1,
		(uintptr_t)task->registers,
		(uintptr_t)&task->error,
		task->pc,
		flags,
	});
	runs = !loop->closing && cosy_module_has(loop, COSY_MODULE_COMPOUNDS);
	if (runs && task->cpu)
		cosy_page_send_reserved(loop, &task->call, task->slot, task->cpu);
	else if (runs)
		cosy_page_submit_reserved(loop, &task->call, task->slot, COSY_HOW_COMPOUND);
	cosy_loop_leave(loop);
	if (runs)
		cosy_count(counts, &counts->entries, 1);
	return runs;
}

/* Continue in user mode up to a call for the module. Returns as cosy_coroutine_run(). */
static bool run_in_user_mode(struct cosy_task *task)
{
	for (;;) {
		switch (execute(task, false)) {
		case STEP_GOES_ON:
			break;
		case STEP_UNDER_WAY:
			return true;
		case STEP_FOR_MODULE:
			return cosy_coroutine_run(task);
		case STEP_ENDED:
			return false;
		}
	}
}

bool cosy_coroutine_run(struct cosy_task *task)
{
	struct cosy_counts *counts;

	if (!task->stays && submit_compound(task))
		return true;
	if (!task->begun) {
		/* Nothing was executed: run the native code. */
		task->value = -1;
		return false;
	}
	counts = cosy_reserved_of(task->region)->counts;
	if (!task->stays)
		cosy_count(counts, &counts->user, 1);
	task->stays = true;
	return run_in_user_mode(task);
}

/*
 * Load a compound again that the module has refused. In a child the device has been opened anew,
 * and the new file does not have the compound.
 *
 * Return: true if it was loaded, by this task or by another one since this one submitted it.
 */
static bool load_again(struct cosy_task *task, int64_t error)
{
	uint64_t stale = __atomic_load_n(&task->region->handle, __ATOMIC_ACQUIRE);

	if (task->reloaded || (error != -ENOENT && error != -EBADF) ||
	    cosy_device_get() < 0)
		return false;
	task->reloaded = true;
	return (uint32_t)stale != task->handle || cosy_reserved_load(task->region, stale) >= 0;
}

/* Execute the step for which the module has left the compound. */
static enum step_end do_what_is_asked(struct cosy_task *task, uint32_t status,
				      uint64_t value, const struct cosy_async_entry *entry)
{
	switch (status) {
	case COSY_UPCALL:
		call_up_or_bind(task, value);
		return STEP_GOES_ON;
	case COSY_FAILED:
		handle_failure(task, value, entry);
		return STEP_GOES_ON;
	case COSY_RESULT:
		take_result(task, (int64_t)value);
		return STEP_GOES_ON;
	case COSY_STEP:
		return execute(task, true);
	default:	/* COSY_AGAIN */
		return STEP_GOES_ON;
	}
}

/* Return how often the compound of an entry has waited. Older modules leave the address in args[3]. */
static uint64_t waits_of(const struct cosy_task *task, const struct cosy_async_entry *entry)
{
	return entry->args[2] == (uintptr_t)task->registers ? 0 : entry->args[3];
}

/* Note whether a compound that has ended has lost. */
static void note_end(const struct cosy_task *task, const struct cosy_async_entry *entry)
{
	struct cosy_reserved *reserved = cosy_reserved_of(task->region);

	if (!task->begun)
		note_run(reserved, has_choice(task->loop, task->region, reserved) &&
					   waits_of(task, entry) < 2);
}

/*
 * Note whether a compound has lost that the module has left. @for_call: for a call that it does not make. If it
 * often loses, let the function go on natively.
 */
static void note_left(struct cosy_task *task, const struct cosy_async_entry *entry, bool for_call)
{
	struct cosy_reserved *reserved = cosy_reserved_of(task->region);

	if (has_choice(task->loop, task->region, reserved)) {
		if (!for_call)
			return;
		note_run(reserved, waits_of(task, entry) < 2);
		if (__atomic_load_n(&reserved->lost, __ATOMIC_RELAXED) == LOST_MAX)
			cosy_task_ask(task);
	} else if (!task->begun) {
		note_run(reserved, for_call && is_for_loop(task));
	}
}

bool cosy_coroutine_done(struct cosy_task *task, int64_t result)
{
	const struct cosy_async_entry *entry =
		&task->loop->module.page.entries[task->slot];
	uint32_t status;

	if (task->in_call) {
		task->in_call = false;
		take_result(task, result);
		return run_in_user_mode(task);
	}
	if (entry->status != COSY_ENTRY_LEFT) {
		if (result >= 0) {
			note_end(task, entry);
			task->waited = false;
			task->value = result;
			return false;
		}
		/* Nothing was executed. */
		task->stays = !load_again(task, result);
		return cosy_coroutine_run(task);
	}
	status = (uint32_t)(entry->args[1] >> 32);
	task->pc = (uint32_t)entry->args[1];
	note_left(task, entry, status == COSY_STEP && result == COSY_STEP_CALL);
	task->begun = true;
	task->waited = status == COSY_AGAIN && result &&
		       task->loop->module.page.shared->features & COSY_ASYNC_GIVES_BACK;
	switch (do_what_is_asked(task, status, (uint64_t)result, entry)) {
	case STEP_UNDER_WAY:
		return true;
	case STEP_ENDED:
		return false;
	default:
		return cosy_coroutine_run(task);
	}
}
