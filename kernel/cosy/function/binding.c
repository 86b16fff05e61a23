// SPDX-License-Identifier: GPL-2.0
/*
 * binding.c - binds programs to the functions of a compound, and removes bindings.
 *
 * Binding requires the program's descriptor, as running a program does everywhere in
 * the kernel, and seccomp filters and security modules that allow bpf(2) to run one. It may be
 * any program of type SYSCALL with an arena. A filter that is set later does not remove a
 * binding, as it does not close a descriptor.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/bpf.h>
#include <linux/llist.h>
#include <linux/mutex.h>
#include <linux/nospec.h>
#include <linux/rcupdate_trace.h>
#include <linux/sched.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include <cosy/format.h>

#include "call/call.h"
#include "compat/compat.h"
#include "function/binding.h"
#include "function/function.h"
#include "function/invocation.h"
#include "kernel/internals.h"
#include "limit/limit.h"

/* Maximum of programs that a function of a compound has, one for each segment. */
#define MAX_BINDINGS	1024

/* What a user is charged for a binding. */
#define BINDING_CHARGE	(sizeof(struct cosy_binding) + COSY_MM_CHARGE)

/* True if this kernel has all that user functions need. */
bool cosy_functions_work __ro_after_init;

/**
 * cosy_arena_start() - return the kernel's address of an arena
 * @arena: the arena
 *
 * May be called only if cosy_functions_work.
 *
 * Return: the address of the byte at a program's address 0.
 */
u64 cosy_arena_start(struct bpf_arena *arena)
{
	return cosy_internal(bpf_arena_get_kern_vm_start)(arena);
}

/**
 * cosy_binding_free() - free a binding that is not called any more
 * @binding: the binding
 */
void cosy_binding_free(struct cosy_binding *binding)
{
	cosy_stacks_put(binding->stacks);
	cosy_prog_part(binding->prog->aux);
	bpf_prog_put(binding->prog);
	mmdrop(binding->mm);
	cosy_quota_uncharge(binding->owner, BINDING_CHARGE);
	kfree(binding);
}

static struct workqueue_struct *cosy_unbinds;

/* Bindings that were removed. All of them wait for one grace period together. */
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
	queue_work(cosy_unbinds, &cosy_unbinding);
}

/**
 * cosy_bindings_init() - prepare for bindings
 *
 * Return: true; false if there is no memory, with a message.
 */
bool cosy_bindings_init(void)
{
	cosy_unbinds = alloc_workqueue("cosy_functions", WQ_UNBOUND, 0);
	if (!cosy_unbinds)
		pr_info("no memory for a work queue: user functions run natively\n");
	return cosy_unbinds;
}

/**
 * cosy_bindings_exit() - free the bindings that were removed
 */
void cosy_bindings_exit(void)
{
	if (cosy_unbinds)
		destroy_workqueue(cosy_unbinds);
}

/**
 * cosy_functions_free() - free the bindings of a compound
 * @functions: its functions; the compound does not run
 */
void cosy_functions_free(struct cosy_functions *functions)
{
	struct cosy_binding *binding, *next;
	unsigned int i;

	for (i = 0; i < functions->count; i++) {
		binding = rcu_dereference_protected(functions->bindings[i], 1);
		for (; binding; binding = next) {
			next = rcu_dereference_protected(binding->next, 1);
			cosy_binding_free(binding);
		}
	}
	kvfree(functions->bindings);
}

/* Return true if a program has an array of programs, which it can call by a tail call. */
static bool cosy_prog_tail_calls(struct bpf_prog_aux *aux)
{
	bool has = false;
	u32 i;

	mutex_lock(&aux->used_maps_mutex);
	for (i = 0; i < aux->used_map_cnt; i++)
		has |= aux->used_maps[i]->map_type == BPF_MAP_TYPE_PROG_ARRAY;
	mutex_unlock(&aux->used_maps_mutex);
	return has;
}

/*
 * Return true if a program can be called: it has an arena, and accesses only what the context has.
 * Another program gets the same context by a tail call, or if it replaces a function of this one.
 * The kernel does not compare how much of the context that program accesses.
 */
static bool cosy_prog_fits(struct bpf_prog *prog)
{
	return prog->aux->arena && prog->jited &&
	       prog->aux->max_ctx_offset <= sizeof(struct cosy_function_ctx) &&
	       !cosy_prog_tail_calls(prog->aux);
}

/* Make a binding of the program that the caller's descriptor names. */
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
	if (!cosy_prog_fits(prog) || !cosy_prog_join(prog->aux))
		goto put;
	err = cosy_quota_charge(cosy_quota_owner(), BINDING_CHARGE);
	if (err)
		goto part;
	err = -ENOMEM;
	binding = kzalloc(sizeof(*binding), GFP_KERNEL_ACCOUNT);
	if (!binding)
		goto uncharge;
	binding->stacks = cosy_stacks_alloc();
	if (!binding->stacks)
		goto free;
	binding->prog = prog;
	binding->mm = current->mm;
	mmgrab(binding->mm);
	saved = offsetof(struct cosy_function_ctx, saved);
	if (prog->aux->max_ctx_offset > saved)
		binding->saved = prog->aux->max_ctx_offset - saved;
	binding->arena = cosy_arena_start(prog->aux->arena);
	binding->bind = *bind;
	if (bind->trial != COSY_BIND_NO_CALLS)
		atomic_set(&binding->left, bind->trial);
	binding->owner = cosy_quota_owner();
	return binding;

free:
	kfree(binding);
uncharge:
	cosy_quota_uncharge(cosy_quota_owner(), BINDING_CHARGE);
part:
	cosy_prog_part(prog->aux);
put:
	bpf_prog_put(prog);
	return ERR_PTR(err);
}

/*
 * Ask seccomp filters and security modules whether the process may run a program, as if it called
 * bpf(BPF_PROG_TEST_RUN). Return 0 or -errno.
 */
static int cosy_binding_allowed(const struct cosy_bind *bind)
{
	union bpf_attr attr;

	if (!cosy_seccomp_allows_program())
		return -EPERM;
	if (!IS_ENABLED(CONFIG_SECURITY))
		return 0;
	memset(&attr, 0, sizeof(attr));
	attr.test.prog_fd = bind->fd;
	attr.test.ctx_size_in = sizeof(struct cosy_function_ctx);
	return cosy_internal(security_bpf)(BPF_PROG_TEST_RUN, &attr,
					   cosy_bpf_size_of(attr));
}

/**
 * cosy_binding_prepare() - make the binding for cosy_binding_install()
 * @bind: the caller's argument
 *
 * Return: the binding, which is not in use yet; NULL if @bind asks to remove one;
 * ERR_PTR() of the error that the interface documents.
 */
struct cosy_binding *cosy_binding_prepare(const struct cosy_bind *bind)
{
	struct cosy_binding *binding;
	int err;

	if (!cosy_functions_work)
		return ERR_PTR(-EOPNOTSUPP);
	if (bind->flags || bind->base & U32_MAX ||
	    bind->pointers >> COSY_MAX_ARGS ||
	    bind->nstacks > BITS_PER_LONG || bind->reserved ||
	    (bind->trial > COSY_BIND_MAX_TRIAL &&
	     bind->trial != COSY_BIND_NO_CALLS))
		return ERR_PTR(-EINVAL);
	if (bind->fd < 0)
		return NULL;
	err = cosy_binding_allowed(bind);
	if (err)
		return ERR_PTR(err);
	binding = cosy_binding_make(bind);
	if (IS_ERR(binding))
		return binding;
	err = cosy_faults_probe();
	if (err) {
		cosy_binding_free(binding);
		return ERR_PTR(err);
	}
	return binding;
}

/**
 * cosy_binding_install() - change the binding of a function of a compound
 * @functions: functions of the compound, which the caller holds
 * @lock:      serialises changes of them
 * @binding:   the binding that cosy_binding_prepare() made of @bind. The function
 *	       owns it then, unless this fails. NULL to remove a binding
 * @bind:      the caller's argument; its calls and cycles are set to those of the
 *	       old binding
 *
 * Return: 0, or -errno as the interface documents.
 */
int cosy_binding_install(struct cosy_functions *functions, struct mutex *lock,
			 struct cosy_binding *binding, struct cosy_bind *bind)
{
	struct cosy_binding __rcu **place;
	struct cosy_binding *old, *next;
	unsigned int count = 0;
	int err = 0;

	if (bind->function >= functions->count)
		return -EINVAL;
	bind->function = array_index_nospec(bind->function, functions->count);

	mutex_lock(lock);
	place = &functions->bindings[bind->function];
	while ((old = rcu_dereference_protected(*place,
						lockdep_is_held(lock)))) {
		/* A child may have inherited the file: keep bindings of other processes. */
		if (old->bind.base == bind->base && old->mm == current->mm)
			break;
		next = rcu_dereference_protected(old->next,
						 lockdep_is_held(lock));
		if (!atomic_read(&old->mm->mm_users)) {
			/* The process of this binding has ended. */
			rcu_assign_pointer(*place, next);
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
		next = old ? rcu_dereference_protected(old->next,
						       lockdep_is_held(lock)) :
			     NULL;
		if (binding && old)
			cosy_stacks_share(binding, old);
		if (binding)
			RCU_INIT_POINTER(binding->next, next);
		rcu_assign_pointer(*place, binding ?: next);
	}
	mutex_unlock(lock);
	if (err)
		return err;

	bind->calls = old ? atomic64_read(&old->calls) : 0;
	bind->cycles = old ? atomic64_read(&old->cycles) : 0;
	if (old)
		cosy_binding_unbind(old);
	return 0;
}
