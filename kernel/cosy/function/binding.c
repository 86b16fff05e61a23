// SPDX-License-Identifier: GPL-2.0
/*
 * functions.c - run isolated user functions, which are BPF programs.
 *
 * Whoever could load a program has vouched for it; running it takes its
 * descriptor, as everywhere in the kernel. It may be any program of type
 * SYSCALL, made by anybody and to any end. So nothing here depends on what it
 * does: its context holds numbers of the caller, the program's answers go to
 * the caller and nowhere else.
 *
 * What a program that cosy/function.h describes gets besides: an access that
 * faults is seen by a probe on the tracepoint of page faults, and takes away
 * its budget; when that is used up it calls cosy_function_yield(), which lets
 * others run and tells it whether to go on. If it can go on later, it is left for
 * what compounds are left for: signals, other work, the end of the time slice.
 * Its state is then the process's, as the registers are, and as little trusted.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/bpf.h>
#include <linux/btf.h>
#include <linux/btf_ids.h>
#include <linux/filter.h>
#include <linux/hash.h>
#include <linux/llist.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/nospec.h>
#include <linux/rcupdate_trace.h>
#include <linux/sched.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/static_call.h>
#include <linux/tracepoint.h>
#include <linux/uaccess.h>

#include <cosy/exec.h>

#include "compat/compat.h"
#include "internal.h"

static unsigned int function_time = 10000;
module_param(function_time, uint, 0644);
MODULE_PARM_DESC(function_time,
		 "ms of CPU time after which a user function is ended that cannot be left (default 10000)");

#ifdef COSY_HAVE_ARENA

/* Programs a function of a compound can have, one for each segment. */
#define MAX_BINDINGS	1024

/* What accesses to an arena reach: 32 bits, and an instruction's 16 more. */
#define COSY_ARENA_GUARD	((u64)32768)
#define COSY_ARENA_REACH	(BIT_ULL(32) + 2 * COSY_ARENA_GUARD)

/**
 * struct cosy_stacks - who uses the stacks of a binding, and of what replaces it
 * @refs: bindings
 * @busy: bit n is set while stack n is used
 */
struct cosy_stacks {
	refcount_t refs;
	unsigned long busy;
};

/**
 * struct cosy_binding - the program of a function for one segment
 * @next:     of the same function
 * @prog:     the program
 * @mm:	      whose segment it is: not a child's, whose memory is a copy
 * @arena:    where the kernel has its segment
 * @saved:    bytes of its context's "saved" that the program looks at
 * @bind:     what the caller has said of it
 * @left:     calls left of the trial
 * @calls:    of the trial made
 * @cycles:   they took
 * @stacks:   its stacks
 * @owner:    who is charged
 * @unbound:  it has been taken away, and is freed when nobody calls it any more
 */
struct cosy_binding {
	struct cosy_binding __rcu *next;
	struct bpf_prog *prog;
	struct mm_struct *mm;
	u64 arena;
	u32 saved;
	struct cosy_bind bind;
	atomic_t left;
	atomic64_t calls;
	atomic64_t cycles;
	struct cosy_stacks *stacks;
	kuid_t owner;
	struct llist_node unbound;
};

/**
 * struct cosy_invocation - one call of a function; on the caller's stack
 * @ctx:    the program's context
 * @prog:   the program
 * @arena:  where the kernel has its segment
 * @fault:  instruction that has faulted first, 0 if none has
 * @target: the address it was about, the kernel's
 * @env:    the run
 * @begin:  CPU time of the thread at the first yield
 * @ended:  why the program has been told not to go on
 * @status: what the run is left with, if it is that it goes on later
 */
struct cosy_invocation {
	struct cosy_function_ctx ctx;
	const struct bpf_prog *prog;
	u64 arena;
	unsigned long fault;
	unsigned long target;
	struct cosy_env *env;
	u64 begin;
	enum cosy_function_status ended;
	enum cosy_status status;
};

/*
 * Which thread is in which invocation. A slot is changed by its own thread
 * only, and an invocation looked at by its own thread only, be it from the
 * handler of a fault: so there is nothing to lock, and nothing to outlive.
 */
#define SLOTS_BITS	10
#define SLOTS_TRIED	8

struct cosy_slot {
	struct task_struct *task;
	struct cosy_invocation *invocation;
};

static struct cosy_slot cosy_slots[(1 << SLOTS_BITS) + SLOTS_TRIED];

static struct cosy_slot *cosy_slots_of(const struct task_struct *task)
{
	return &cosy_slots[hash_ptr(task, SLOTS_BITS)];
}

/* The slot of the current thread, NULL if it is in no function. */
static struct cosy_slot *cosy_slot_find(void)
{
	struct cosy_slot *slot = cosy_slots_of(current);
	int i;

	for (i = 0; i < SLOTS_TRIED; i++)
		if (READ_ONCE(slot[i].task) == current)
			return &slot[i];
	return NULL;
}

/* NULL if it is in a function already, or too many others are. */
static struct cosy_slot *cosy_slot_claim(struct cosy_invocation *invocation)
{
	struct cosy_slot *slot = cosy_slots_of(current);
	int i;

	if (cosy_slot_find())
		return NULL;
	for (i = 0; i < SLOTS_TRIED; i++) {
		if (READ_ONCE(slot[i].task) ||
		    cmpxchg(&slot[i].task, NULL, current))
			continue;
		WRITE_ONCE(slot[i].invocation, invocation);
		return &slot[i];
	}
	return NULL;
}

static void cosy_slot_release(struct cosy_slot *slot)
{
	WRITE_ONCE(slot->invocation, NULL);
	smp_store_release(&slot->task, NULL);
}

static struct cosy_invocation *cosy_invocation_current(void)
{
	struct cosy_slot *slot = cosy_slot_find();

	return slot ? READ_ONCE(slot->invocation) : NULL;
}

/* The program's piece of code that @ip is in, NULL if it is elsewhere. */
static const struct bpf_prog *cosy_piece_of(const struct bpf_prog *prog,
					    unsigned long ip)
{
	u32 i;

	if (ip - (unsigned long)prog->bpf_func < prog->jited_len)
		return prog;
	for (i = 0; i < prog->aux->func_cnt; i++) {
		const struct bpf_prog *piece = prog->aux->func[i];

		if (ip - (unsigned long)piece->bpf_func < piece->jited_len)
			return piece;
	}
	return NULL;
}

/* The source line of the instruction at @ip, 0 if it is not known. */
static u32 cosy_line_of(const struct bpf_prog *prog, unsigned long ip)
{
	const struct bpf_prog *piece = cosy_piece_of(prog, ip);
	const struct bpf_prog_aux *aux = prog->aux;
	unsigned long best = 0;
	u32 line = 0, i;

	if (!piece || !aux->linfo || !aux->jited_linfo)
		return 0;
	for (i = 0; i < aux->nr_linfo; i++) {
		unsigned long at = (unsigned long)aux->jited_linfo[i];

		if (at > ip || at < (unsigned long)piece->bpf_func || at < best)
			continue;
		best = at;
		line = BPF_LINE_INFO_LINE_NUM(aux->linfo[i].line_col);
	}
	return line;
}

/*
 * A fault in the kernel. The program goes on behind the access, with 0 for what
 * it has read: let it come to its end soon. What other addresses a program may
 * try in vain is no business of the one who runs it.
 */
static void cosy_fault(void *data, unsigned long address, struct pt_regs *regs,
		       unsigned long error_code)
{
	struct cosy_invocation *invocation;

	if (address < TASK_SIZE_MAX)
		return;
	invocation = cosy_invocation_current();
	if (!invocation || invocation->fault ||
	    address - invocation->arena + COSY_ARENA_GUARD >= COSY_ARENA_REACH ||
	    !cosy_piece_of(invocation->prog, regs->ip))
		return;
	invocation->fault = regs->ip;
	invocation->target = address;
	WRITE_ONCE(invocation->ctx.budget, -1);
}

/* Room for the state of a function that is left. */
static struct cosy_kept *cosy_kept_get(struct cosy_env *env)
{
	if (!env->kept) {
		env->kept = kmalloc(sizeof(*env->kept), GFP_KERNEL_ACCOUNT);
		if (env->kept)
			env->kept->valid = false;
	}
	return env->kept;
}

/*
 * Is a program to be left that can go on later? Not where the process would not
 * come in again.
 */
static bool cosy_invocation_leaves(struct cosy_invocation *invocation,
				   u64 used)
{
	struct cosy_env *env = invocation->env;

	if (cosy_env_leave(current_thread_info()))
		invocation->status = COSY_AGAIN;
	else if (used >= cosy_time_slice())
		invocation->status = COSY_LIMIT;
	else
		return false;
	if (unlikely(cosy_seccomp_state() != env->seccomp) &&
	    cosy_seccomp_bars_entry())
		return false;
	return cosy_kept_get(env);
}

__bpf_kfunc_start_defs();

/**
 * cosy_function_yield() - may the function that is running go on?
 *
 * Called by the program when its budget is used up. Lets others run.
 *
 * Return: 0, with a new budget; 1 if it is to return: after what cannot be
 * mended, or, if it has set resume, to go on later.
 */
__bpf_kfunc int cosy_function_yield(void)
{
	struct cosy_invocation *invocation = cosy_invocation_current();
	u64 limit = (u64)READ_ONCE(function_time) * NSEC_PER_MSEC;
	u64 now;

	if (!invocation || invocation->fault || invocation->ended)
		return 1;
	cond_resched();
	if (fatal_signal_pending(current)) {
		invocation->ended = COSY_FUNCTION_KILLED;
		return 1;
	}
	now = READ_ONCE(current->se.sum_exec_runtime);
	if (!invocation->begin)
		invocation->begin = now;
	now -= invocation->begin;
	if (invocation->ctx.resume) {
		if (cosy_invocation_leaves(invocation, now)) {
			invocation->ended = COSY_FUNCTION_LEFT;
			return 1;
		}
	} else if (now >= limit) {
		invocation->ended = COSY_FUNCTION_TIME;
		return 1;
	}
	WRITE_ONCE(invocation->ctx.budget, COSY_FUNCTION_BUDGET);
	return 0;
}

__bpf_kfunc_end_defs();

BTF_KFUNCS_START(cosy_kfuncs)
BTF_ID_FLAGS(func, cosy_function_yield, KF_SLEEPABLE)
BTF_KFUNCS_END(cosy_kfuncs)

static const struct btf_kfunc_id_set cosy_kfunc_set = {
	.owner = THIS_MODULE,
	.set = &cosy_kfuncs,
};

/*
 * What the kernel does not export.
 */

static u64 cosy_no_kern_start(struct bpf_arena *arena)
{
	return 0;
}

static s32 cosy_no_find_id(const char *name, u32 kind, struct btf **btf)
{
	return -ENOENT;
}

static u32 cosy_no_obj_id(const struct btf *btf)
{
	return 0;
}

static int cosy_no_fd(u32 id)
{
	return -ENOENT;
}

static void cosy_no_put(struct btf *btf)
{
}

DEFINE_STATIC_CALL(cosy_kern_start, cosy_no_kern_start);
DEFINE_STATIC_CALL(cosy_btf_find_id, cosy_no_find_id);
DEFINE_STATIC_CALL(cosy_btf_obj_id, cosy_no_obj_id);
DEFINE_STATIC_CALL(cosy_btf_fd, cosy_no_fd);
DEFINE_STATIC_CALL(cosy_btf_put, cosy_no_put);

/* Set at the beginning, if all there is to it is there. */
static struct tracepoint *cosy_fault_point;
static bool cosy_functions_work;

/* cosy_function_yield(): finding it takes as long as thousands of calls. */
static struct btf *cosy_yield_btf;
static s32 cosy_yield_id;

/* The probe is there from the first binding on. */
static DEFINE_MUTEX(cosy_probe_lock);
static bool cosy_probed;

static void cosy_match_point(struct tracepoint *point, void *found)
{
	if (!strcmp(point->name, "page_fault_kernel"))
		*(struct tracepoint **)found = point;
}

/**
 * cosy_functions_init() - find out whether functions can be run here
 *
 * If not, they are run natively, and the module works all the same.
 */
void cosy_functions_init(void)
{
	u64 (*start)(struct bpf_arena *arena) =
		cosy_symbol("bpf_arena_get_kern_vm_start");
	s32 (*find)(const char *name, u32 kind, struct btf **btf) =
		cosy_symbol("bpf_find_btf_id");
	u32 (*id)(const struct btf *btf) = cosy_symbol("btf_obj_id");
	int (*fd)(u32 id) = cosy_symbol("btf_get_fd_by_id");
	void (*put)(struct btf *btf) = cosy_symbol("btf_put");
	int err;

	for_each_kernel_tracepoint(cosy_match_point, &cosy_fault_point);
	if (!start || !find || !id || !fd || !put || !cosy_fault_point) {
		pr_info("this kernel lacks what user functions need: they run natively\n");
		return;
	}
	err = register_btf_kfunc_id_set(BPF_PROG_TYPE_SYSCALL, &cosy_kfunc_set);
	if (err) {
		pr_info("cannot offer a kfunc (%d), user functions run natively\n",
			err);
		return;
	}
	static_call_update(cosy_kern_start, start);
	static_call_update(cosy_btf_find_id, find);
	static_call_update(cosy_btf_obj_id, id);
	static_call_update(cosy_btf_fd, fd);
	static_call_update(cosy_btf_put, put);
	cosy_yield_id = static_call(cosy_btf_find_id)(COSY_FUNCTION_YIELD_NAME,
						      BTF_KIND_FUNC,
						      &cosy_yield_btf);
	if (cosy_yield_id < 0) {
		pr_info("cannot find a kfunc (%d), user functions run natively\n",
			cosy_yield_id);
		return;
	}
	cosy_functions_work = true;
}

/**
 * cosy_functions_exit() - the reverse of cosy_functions_init()
 *
 * There are no bindings any more.
 */
void cosy_functions_exit(void)
{
	if (cosy_yield_btf)
		static_call(cosy_btf_put)(cosy_yield_btf);
	if (!cosy_probed)
		return;
	tracepoint_probe_unregister(cosy_fault_point, cosy_fault, NULL);
	tracepoint_synchronize_unregister();
}

static int cosy_probe_faults(void)
{
	int err = 0;

	mutex_lock(&cosy_probe_lock);
	if (!cosy_probed)
		err = tracepoint_probe_register(cosy_fault_point, cosy_fault,
						NULL);
	if (!err)
		cosy_probed = true;
	mutex_unlock(&cosy_probe_lock);
	return err;
}

/**
 * cosy_functions_yield() - COSY_IOC_YIELD
 * @arg: struct cosy_yield of the caller
 *
 * Return: 0; -EOPNOTSUPP if user functions cannot be run here; -errno.
 */
long cosy_functions_yield(struct cosy_yield __user *arg)
{
	struct cosy_yield yield = { .id = cosy_yield_id };

	if (!cosy_functions_work)
		return -EOPNOTSUPP;
	yield.fd = static_call(cosy_btf_fd)(static_call(cosy_btf_obj_id)(cosy_yield_btf));
	if (yield.fd < 0)
		return yield.fd;
	/* Should this fail, the caller has a descriptor it does not know of. */
	return copy_to_user(arg, &yield, sizeof(yield)) ? -EFAULT : 0;
}

/*
 * Bindings.
 */

static void cosy_stacks_put(struct cosy_stacks *stacks)
{
	if (refcount_dec_and_test(&stacks->refs))
		kfree(stacks);
}

static void cosy_binding_free(struct cosy_binding *binding)
{
	cosy_stacks_put(binding->stacks);
	bpf_prog_put(binding->prog);
	mmdrop(binding->mm);
	cosy_quota_uncharge(binding->owner, sizeof(*binding));
	kfree(binding);
}

/* Bindings that were taken away: all of them wait together, however many there are. */
static LLIST_HEAD(cosy_unbound);

static void cosy_bindings_unbind(struct work_struct *work)
{
	struct llist_node *list = llist_del_all(&cosy_unbound);
	struct cosy_binding *binding, *next;

	synchronize_rcu_tasks_trace();
	llist_for_each_entry_safe(binding, next, list, unbound) {
		cosy_binding_free(binding);
		cond_resched();
	}
}

static DECLARE_WORK(cosy_unbinding, cosy_bindings_unbind);

static void cosy_binding_unbind(struct cosy_binding *binding)
{
	llist_add(&binding->unbound, &cosy_unbound);
	cosy_compounds_queue(&cosy_unbinding);
}

/**
 * cosy_functions_free() - free the bindings of a compound
 * @compound: it; nobody runs it
 */
void cosy_functions_free(struct cosy_compound *compound)
{
	struct cosy_binding *binding, *next;
	unsigned int i;

	for (i = 0; i < compound->nfunctions; i++) {
		binding = rcu_dereference_protected(compound->functions[i], 1);
		for (; binding; binding = next) {
			next = rcu_dereference_protected(binding->next, 1);
			cosy_binding_free(binding);
		}
	}
	kvfree(compound->functions);
}

/* Take the program the caller has a descriptor of. */
static struct cosy_binding *cosy_binding_make(const struct cosy_bind *bind)
{
	struct cosy_binding *binding;
	struct bpf_prog *prog;
	u32 saved;
	int err;

	prog = bpf_prog_get_type_dev(bind->fd, BPF_PROG_TYPE_SYSCALL, false);
	if (IS_ERR(prog))
		return ERR_CAST(prog);
	err = -EINVAL;
	if (!prog->aux->arena || !prog->jited ||
	    prog->aux->max_ctx_offset > sizeof(struct cosy_function_ctx))
		goto put;
	err = cosy_quota_charge(current_uid(), sizeof(*binding));
	if (err)
		goto put;
	err = -ENOMEM;
	binding = kzalloc(sizeof(*binding), GFP_KERNEL_ACCOUNT);
	if (!binding)
		goto uncharge;
	binding->stacks = kzalloc(sizeof(*binding->stacks), GFP_KERNEL_ACCOUNT);
	if (!binding->stacks)
		goto free;
	refcount_set(&binding->stacks->refs, 1);
	binding->prog = prog;
	binding->mm = current->mm;
	mmgrab(binding->mm);
	saved = offsetof(struct cosy_function_ctx, saved);
	if (prog->aux->max_ctx_offset > saved)
		binding->saved = prog->aux->max_ctx_offset - saved;
	binding->arena = static_call(cosy_kern_start)(prog->aux->arena);
	binding->bind = *bind;
	if (bind->trial != COSY_BIND_NO_CALLS)
		atomic_set(&binding->left, bind->trial);
	binding->owner = current_uid();
	return binding;

free:
	kfree(binding);
uncharge:
	cosy_quota_uncharge(current_uid(), sizeof(*binding));
put:
	bpf_prog_put(prog);
	return ERR_PTR(err);
}

/* What is called by way of @old may be there still, and go on by way of @binding. */
static void cosy_stacks_share(struct cosy_binding *binding,
			      const struct cosy_binding *old)
{
	const struct cosy_bind *a = &binding->bind, *b = &old->bind;

	if (a->stacks != b->stacks || a->stack_size != b->stack_size ||
	    a->stack_stride != b->stack_stride || a->nstacks != b->nstacks)
		return;
	cosy_stacks_put(binding->stacks);
	refcount_inc(&old->stacks->refs);
	binding->stacks = old->stacks;
}

/**
 * cosy_functions_bind() - COSY_IOC_BIND
 * @cf:  the file
 * @arg: struct cosy_bind of the caller
 *
 * Return: 0, or why not, as the interface says.
 */
long cosy_functions_bind(struct cosy_file *cf, struct cosy_bind __user *arg)
{
	struct cosy_binding *binding = NULL, *old = NULL;
	struct cosy_binding __rcu **place;
	struct cosy_compound *compound;
	unsigned int count = 0;
	struct cosy_bind bind;
	int err;

	if (copy_from_user(&bind, arg, sizeof(bind)))
		return -EFAULT;
	if (!cosy_functions_work)
		return -EOPNOTSUPP;
	if (bind.base & U32_MAX || bind.pointers >> COSY_MAX_ARGS ||
	    bind.nstacks > BITS_PER_LONG || bind.reserved ||
	    (bind.trial > COSY_BIND_MAX_TRIAL &&
	     bind.trial != COSY_BIND_NO_CALLS))
		return -EINVAL;
	if (bind.fd >= 0) {
		binding = cosy_binding_make(&bind);
		if (IS_ERR(binding))
			return PTR_ERR(binding);
		err = cosy_probe_faults();
		if (err)
			goto free;
	}

	compound = cosy_compound_get(cf, bind.handle);
	err = -ENOENT;
	if (!compound)
		goto free;
	err = -EINVAL;
	if (bind.function >= compound->nfunctions)
		goto put;
	bind.function = array_index_nospec(bind.function, compound->nfunctions);

	mutex_lock(&cf->lock);
	place = &compound->functions[bind.function];
	while ((old = rcu_dereference_protected(*place,
						lockdep_is_held(&cf->lock)))) {
		/* A child may have come by the file: what is not its own stays. */
		if (old->bind.base == bind.base && old->mm == current->mm)
			break;
		if (!atomic_read(&old->mm->mm_users)) {
			/* Of a process that has ended. */
			rcu_assign_pointer(*place, rcu_dereference_protected(old->next,
						lockdep_is_held(&cf->lock)));
			cosy_binding_unbind(old);
			continue;
		}
		place = &old->next;
		count++;
	}
	if (binding && !old && count >= MAX_BINDINGS) {
		err = -ENOSPC;
	} else if (!binding && !old) {
		err = -ENOENT;
	} else {
		struct cosy_binding *next = old ?
			rcu_dereference_protected(old->next,
				lockdep_is_held(&cf->lock)) : NULL;

		if (binding && old)
			cosy_stacks_share(binding, old);
		if (binding)
			RCU_INIT_POINTER(binding->next, next);
		rcu_assign_pointer(*place, binding ?: next);
		err = 0;
	}
	mutex_unlock(&cf->lock);
	if (err)
		goto put;

	bind.calls = old ? atomic64_read(&old->calls) : 0;
	bind.cycles = old ? atomic64_read(&old->cycles) : 0;
	if (old)
		cosy_binding_unbind(old);
	cosy_compound_put(compound);
	return copy_to_user(arg, &bind, sizeof(bind)) ? -EFAULT : 0;

put:
	cosy_compound_put(compound);
free:
	if (binding)
		cosy_binding_free(binding);
	return err;
}

/* Is it ours, and are all pointers among the arguments null or in its segment? */
static bool cosy_binding_fits(const struct cosy_binding *binding,
			      const u64 *args, unsigned int nargs)
{
	unsigned int i;

	if (binding->mm != current->mm)
		return false;
	for (i = 0; i < nargs; i++)
		if (binding->bind.pointers & BIT(i) && args[i] &&
		    (args[i] ^ binding->bind.base) >> 32)
			return false;
	return true;
}

/* A stack, counted from 1; 0 if the function needs none; -1 if all are in use. */
static int cosy_stack_claim(struct cosy_binding *binding)
{
	const struct cosy_bind *bind = &binding->bind;
	unsigned long *busy = &binding->stacks->busy;
	unsigned long stack;

	if (!bind->stack_size)
		return 0;
	do {
		stack = find_first_zero_bit(busy, bind->nstacks);
		if (stack >= bind->nstacks)
			return -1;
	} while (test_and_set_bit_lock(stack, busy));
	return stack + 1;
}

/* The stack of a function that was left, if it can be; as cosy_stack_claim(). */
static int cosy_stack_kept(const struct cosy_binding *binding,
			   const struct cosy_kept *kept)
{
	u32 stack = kept->state.stack;

	if (!binding->bind.stack_size)
		return 0;
	return stack && stack <= binding->bind.nstacks ? stack : -1;
}

static void cosy_stack_release(struct cosy_binding *binding, int stack)
{
	if (stack)
		clear_bit_unlock(stack - 1, &binding->stacks->busy);
}

static void cosy_stack_use(const struct cosy_binding *binding,
			   struct cosy_function_ctx *ctx, int stack)
{
	const struct cosy_bind *bind = &binding->bind;

	ctx->stack = 0;
	ctx->stack_end = 0;
	if (!stack)
		return;
	ctx->stack = bind->stacks + (u64)(stack - 1) * bind->stack_stride;
	ctx->stack_end = ctx->stack + bind->stack_size;
}

/* How the program has ended, by its own account and by ours. */
static enum cosy_function_status
cosy_invocation_status(const struct cosy_invocation *invocation,
		       const struct cosy_bind *bind, struct cosy_function_failure *failure)
{
	const struct cosy_function_ctx *ctx = &invocation->ctx;

	failure->line = ctx->line;
	failure->address = ctx->address;
	if (invocation->fault) {
		failure->line = cosy_line_of(invocation->prog,
					     invocation->fault);
		failure->address = bind->base + invocation->target -
				   invocation->arena;
		return COSY_FUNCTION_FAULT;
	}
	if (invocation->ended)
		return invocation->ended;
	if (ctx->status >= COSY_NR_FUNCTION_STATUS)
		return COSY_FUNCTION_FAULT;
	return ctx->status;
}

/* The function was left, and cannot go on. It may not be begun again. */
static noinline enum cosy_function_end
cosy_function_lost(struct cosy_env *env, unsigned int nr, u64 *val)
{
	env->kept->valid = false;
	env->failure.address = 0;
	env->failure.line = 0;
	env->failure.function = nr;
	env->failure.wrote = !!env->kept->state.wrote;
	*val = COSY_FUNCTION_LOST;
	return COSY_FUNCTION_FAILED;
}

/* Keep the state of a program that goes on later. False: there is no memory. */
static noinline bool cosy_function_keep(const struct cosy_binding *binding,
					const struct cosy_invocation *invocation,
					int stack)
{
	struct cosy_kept *kept = cosy_kept_get(invocation->env);

	BUILD_BUG_ON(sizeof(kept->state.saved) !=
		     sizeof(invocation->ctx.saved));
	if (!kept)
		return false;
	memset(&kept->state, 0, sizeof(kept->state));
	kept->state.resume = invocation->ctx.resume;
	kept->state.wrote = !!invocation->ctx.wrote;
	kept->state.stack = stack;
	memcpy(kept->state.saved, invocation->ctx.saved, binding->saved);
	kept->valid = true;
	return true;
}

static noinline enum cosy_function_end
cosy_binding_call(struct cosy_binding *binding, struct cosy_env *env,
		  const u64 *args, unsigned int nargs, u64 *val)
{
	struct cosy_kept *kept = env->kept;
	struct cosy_invocation invocation;
	enum cosy_function_status status;
	struct cosy_slot *slot;
	bool goes_on = false;
	u64 cycles = 0;
	unsigned int i;
	int stack;

	if (unlikely(kept) && kept->valid) {
		goes_on = true;
		stack = cosy_stack_kept(binding, kept);
		if (stack < 0)
			return cosy_function_lost(env, binding->bind.function,
						  val);
	} else {
		if (binding->bind.trial &&
		    atomic_dec_if_positive(&binding->left) < 0)
			return COSY_FUNCTION_NATIVE;
		stack = cosy_stack_claim(binding);
		if (stack < 0)
			return COSY_FUNCTION_NATIVE;
	}
	cosy_stack_use(binding, &invocation.ctx, stack);
	for (i = 0; i < COSY_MAX_ARGS; i++)
		invocation.ctx.args[i] = i < nargs ? args[i] : 0;
	invocation.ctx.result = 0;
	invocation.ctx.budget = COSY_FUNCTION_BUDGET;
	invocation.ctx.status = COSY_FUNCTION_DONE;
	invocation.ctx.line = 0;
	invocation.ctx.address = 0;
	invocation.ctx.base = binding->bind.base;
	invocation.ctx.data = binding->bind.data;
	invocation.ctx.wrote = 0;
	invocation.ctx.resume = 0;
	if (unlikely(goes_on)) {
		invocation.ctx.wrote = !!kept->state.wrote;
		invocation.ctx.resume = kept->state.resume;
		memcpy(invocation.ctx.saved, kept->state.saved, binding->saved);
	} else if (binding->saved) {
		memset(invocation.ctx.saved, 0, binding->saved);
	}
	invocation.prog = binding->prog;
	invocation.arena = binding->arena;
	invocation.fault = 0;
	invocation.target = 0;
	invocation.env = env;
	invocation.begin = 0;
	invocation.ended = COSY_FUNCTION_DONE;
	invocation.status = COSY_AGAIN;

	/* A program can come here again, by way of another one's helpers. */
	slot = cosy_slot_claim(&invocation);
	if (unlikely(!slot && goes_on)) {
		*val = COSY_AGAIN;
		return COSY_FUNCTION_SUSPENDED;
	}
	if (!slot) {
		cosy_stack_release(binding, stack);
		return COSY_FUNCTION_NATIVE;
	}
	if (unlikely(goes_on))
		kept->valid = false;
	if (binding->bind.trial)
		cycles = get_cycles();
	bpf_prog_run_pin_on_cpu(binding->prog, &invocation.ctx);
	if (binding->bind.trial) {
		atomic64_add(get_cycles() - cycles, &binding->cycles);
		atomic64_add(!goes_on, &binding->calls);
	}
	cosy_slot_release(slot);

	status = cosy_invocation_status(&invocation, &binding->bind,
					&env->failure);
	if (unlikely(status == COSY_FUNCTION_LEFT)) {
		if (cosy_function_keep(binding, &invocation, stack)) {
			*val = invocation.status;
			return COSY_FUNCTION_SUSPENDED;
		}
		status = COSY_FUNCTION_LOST;
	}
	cosy_stack_release(binding, stack);
	env->functions++;
	if (likely(status == COSY_FUNCTION_DONE)) {
		*val = invocation.ctx.result;
		return COSY_FUNCTION_RETURNED;
	}
	env->failure.function = binding->bind.function;
	env->failure.wrote = !!invocation.ctx.wrote;
	*val = status;
	return COSY_FUNCTION_FAILED;
}

/**
 * cosy_env_function() - call a user function
 * @env:   the run
 * @nr:    number of the function in its compound
 * @args:  its arguments
 * @nargs: their number
 * @val:   out: the result, or how it has failed
 *
 * Return: as cosy/exec.h says.
 */
enum cosy_function_end cosy_env_function(struct cosy_env *env, unsigned int nr,
					 const u64 *args, unsigned int nargs,
					 u64 *val)
{
	enum cosy_function_end end = COSY_FUNCTION_NATIVE;
	struct cosy_binding *binding;

	rcu_read_lock_trace();
	binding = rcu_dereference_check(env->compound->functions[nr],
					rcu_read_lock_trace_held());
	while (binding && !cosy_binding_fits(binding, args, nargs))
		binding = rcu_dereference_check(binding->next,
						rcu_read_lock_trace_held());
	if (binding)
		end = cosy_binding_call(binding, env, args, nargs, val);
	else if (unlikely(env->kept) && env->kept->valid)
		end = cosy_function_lost(env, nr, val);
	rcu_read_unlock_trace();
	return end;
}

#else /* !COSY_HAVE_ARENA */

void cosy_functions_init(void)
{
}

void cosy_functions_exit(void)
{
}

long cosy_functions_yield(struct cosy_yield __user *arg)
{
	return -EOPNOTSUPP;
}

long cosy_functions_bind(struct cosy_file *cf, struct cosy_bind __user *arg)
{
	return -EOPNOTSUPP;
}

void cosy_functions_free(struct cosy_compound *compound)
{
	kvfree(compound->functions);
}

enum cosy_function_end cosy_env_function(struct cosy_env *env, unsigned int nr,
					 const u64 *args, unsigned int nargs,
					 u64 *val)
{
	return COSY_FUNCTION_NATIVE;
}

#endif /* COSY_HAVE_ARENA */
