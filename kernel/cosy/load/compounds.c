// SPDX-License-Identifier: GPL-2.0
/*
 * compounds.c - loads, unloads and looks up the compounds of a file.
 */
#include <linux/atomic.h>
#include <linux/cred.h>
#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/pid.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>

#include <cosy/calls.h>
#include <cosy/decode.h>
#include <cosy/verify.h>

#include "env/arg.h"
#include "fast/fast.h"
#include "limit/limit.h"
#include "load/compound.h"
#include "trace/cosy_trace.h"

unsigned int cosy_max_loads = 4096;
module_param_named(max_loads, cosy_max_loads, uint, 0644);
MODULE_PARM_DESC(max_loads,
		 "compounds that one open file may hold (default 4096)");

/*
 * Handles begin at the time of insmod: more nanoseconds pass than compounds are loaded. So they do
 * not repeat if the module is loaded again, and a process whose descriptor was closed meanwhile
 * does not run another compound. The compounds of a file are found by what a handle is above the
 * first one.
 */
static u64 cosy_first_handle __ro_after_init;
static atomic64_t cosy_last_handle;

static unsigned long cosy_handle_index(u64 handle)
{
	return handle - cosy_first_handle;
}

/* Compounds that are being unloaded. */
static struct workqueue_struct *cosy_unloads;
static atomic_t cosy_unloading;
static DECLARE_WAIT_QUEUE_HEAD(cosy_unloaded);

/**
 * cosy_compounds_init() - prepare for files and compounds
 *
 * Return: 0 or -ENOMEM.
 */
int cosy_compounds_init(void)
{
	cosy_first_handle = ktime_get_boottime_ns();
	atomic64_set(&cosy_last_handle, cosy_first_handle);
	cosy_unloads = alloc_workqueue("cosy", WQ_UNBOUND, 0);
	return cosy_unloads ? 0 : -ENOMEM;
}

/**
 * cosy_compounds_exit() - the reverse of cosy_compounds_init()
 *
 * No files are left, but compounds may still be in the middle of unloading.
 */
void cosy_compounds_exit(void)
{
	rcu_barrier();
	destroy_workqueue(cosy_unloads);
}

/**
 * cosy_file_alloc() - allocate the state of a newly opened file
 *
 * Return: the state, or NULL if there is no memory.
 */
struct cosy_file *cosy_file_alloc(void)
{
	struct cosy_file *cf = kzalloc(sizeof(*cf), GFP_KERNEL_ACCOUNT);

	if (!cf)
		return NULL;
	mutex_init(&cf->lock);
	xa_init_flags(&cf->loaded, XA_FLAGS_ACCOUNT);
	cf->pid = get_pid(task_tgid(current));
	return cf;
}

/**
 * cosy_compound_free() - free a compound after its last reference was dropped
 * @compound: the compound
 */
void cosy_compound_free(struct cosy_compound *compound)
{
	bool pins = compound->pins;

	cosy_functions_free(&compound->functions);
	cosy_quota_uncharge(compound->owner, compound->charged);
	cosy_sealed_free(&compound->sealed);
	kfree(compound);
	/* Nothing that sleeps after this: see cosy_exit(). */
	if (pins)
		module_put(THIS_MODULE);
}

/* Let the compound hold the module, because its last reference may outlive all files. */
static void cosy_compound_pin(struct cosy_compound *compound)
{
	__module_get(THIS_MODULE);
	compound->pins = true;
}

/**
 * cosy_file_free() - free a file after its last descriptor was closed
 * @cf: its state, which is not used any more: other threads' runs hold the file
 */
void cosy_file_free(struct cosy_file *cf)
{
	struct cosy_compound *compound;
	unsigned long index;

	xa_for_each(&cf->loaded, index, compound) {
		/*
		 * A run of this compound may make the close(). Then the run ends after the
		 * file has released the module.
		 */
		if (atomic_read(&compound->users) > 1)
			cosy_compound_pin(compound);
		cosy_compound_put(compound);
		cond_resched();
	}
	xa_destroy(&cf->loaded);
	mutex_destroy(&cf->lock);
	put_pid(cf->pid);
	kfree(cf);
}

static void cosy_compound_unloaded(struct work_struct *work)
{
	cosy_compound_put(container_of(to_rcu_work(work), struct cosy_compound,
				       unload));
	if (atomic_dec_and_test(&cosy_unloading))
		wake_up_all(&cosy_unloaded);
}

/*
 * Charge memory to the current owner. A compound that is being unloaded stays charged
 * until it is freed, so wait for that up to a second before failing.
 */
static int cosy_compound_charge(u64 size)
{
	int err = cosy_quota_charge(cosy_quota_owner(), size);

	if (err != -EDQUOT || !atomic_read(&cosy_unloading))
		return err;
	wait_event_killable_timeout(cosy_unloaded,
				    !atomic_read(&cosy_unloading), HZ);
	return cosy_quota_charge(cosy_quota_owner(), size);
}

/**
 * cosy_compound_find() - the slow path of cosy_compound_get()
 * @cf:     the file
 * @handle: its handle
 *
 * Does not find compounds that loops park: only loops run those. The caller is an RCU
 * reader.
 *
 * Return: the compound, or NULL.
 */
struct cosy_compound *cosy_compound_find(struct cosy_file *cf, u64 handle)
{
	struct cosy_compound *compound = xa_load(&cf->loaded, cosy_handle_index(handle));

	return compound && !compound->parks ? compound : NULL;
}

/**
 * cosy_compound_get_parks() - look up a compound that a loop runs and parks
 * @cf:	    the file
 * @handle: its handle
 *
 * Return: the compound with a reference, or NULL.
 */
struct cosy_compound *cosy_compound_get_parks(struct cosy_file *cf, u64 handle)
{
	struct cosy_compound *compound;

	rcu_read_lock_sched();
	compound = xa_load(&cf->loaded, cosy_handle_index(handle));
	if (compound && compound->parks)
		atomic_inc(&compound->users);
	else
		compound = NULL;
	rcu_read_unlock_sched();
	return compound;
}

/*
 * Copy the image once, so that the bytes that are verified are decoded, even if the
 * process changes its own copy.
 */
static void *cosy_image_copy(const struct cosy_load *load)
{
	void *image = kvmalloc(load->image_size, COSY_GFP);

	if (!image)
		return ERR_PTR(-ENOMEM);
	if (copy_from_user(image, u64_to_user_ptr(load->image),
			   load->image_size)) {
		kvfree(image);
		return ERR_PTR(-EFAULT);
	}
	return image;
}

/* Let a loop make the calls for which it parks the compound. */
static void cosy_set_parks(const void *image, struct cosy_code *code)
{
	const struct cosy_header *header = image;
	const struct cosy_op *ops = (const void *)(header + 1);
	u32 pc;

	for (pc = 0; pc < header->nops; pc++) {
		if ((ops[pc].code == COSY_OP_SYS || ops[pc].code == COSY_OP_LIBC) &&
		    cosy_call_parks(ops[pc].imm))
			code->insns[pc].callee = cosy_parks_callee(ops[pc].imm);
		if (!(pc & 0xfff))
			cond_resched();
	}
}

/* Verify and decode @image. If it is rejected, return -EINVAL with the reason in @load. */
static struct cosy_compound *cosy_compound_make(struct cosy_load *load,
						const void *image)
{
	const struct cosy_header *header = image;
	struct cosy_compound *compound;
	struct cosy_binding __rcu **functions = NULL;
	unsigned int flags = COSY_DECODE_NESTED;
	struct cosy_diag diag;
	u64 size;
	int err;

	if (cosy_verify(image, load->image_size, &diag)) {
		load->offset = diag.offset;
		strscpy_pad(load->reason, diag.reason, sizeof(load->reason));
		return ERR_PTR(-EINVAL);
	}

	size = sizeof(*compound) + PAGE_ALIGN(cosy_code_size(image)) +
	       header->nfunctions * sizeof(*functions);
	err = cosy_compound_charge(size);
	if (err)
		return ERR_PTR(err);
	err = -ENOMEM;
	compound = kmalloc(sizeof(*compound), COSY_GFP);
	if (!compound)
		goto uncharge;
	if (header->nfunctions) {
		functions = kvcalloc(header->nfunctions, sizeof(*functions),
				     COSY_GFP);
		if (!functions)
			goto free_compound;
	}
	err = cosy_sealed_alloc(&compound->sealed, cosy_code_size(image));
	if (err)
		goto free_functions;
	if (load->flags & COSY_LOAD_PARKS)
		flags |= COSY_DECODE_PARKS;
	cosy_decode(image, compound->sealed.address, flags,
		    cosy_fast_finder(image, load->flags & COSY_LOAD_PLAIN));
	if (load->flags & COSY_LOAD_PARKS)
		cosy_set_parks(image, compound->sealed.address);
	err = cosy_sealed_seal(&compound->sealed);
	if (err)
		goto free_code;
	compound->code = compound->sealed.address;
	compound->functions.count = header->nfunctions;
	compound->functions.bindings = functions;
	compound->pins = false;
	compound->parks = load->flags & COSY_LOAD_PARKS;
	atomic_set(&compound->users, 1);
	INIT_RCU_WORK(&compound->unload, cosy_compound_unloaded);
	compound->owner = cosy_quota_owner();
	compound->charged = size;
	compound->first = min_t(u64, compound->code->limit, COSY_FIRST_CHUNK);
	compound->few_inputs = cosy_regs_few(compound->code, (struct cosy_range){
		.count = compound->code->ninputs,
	});
	return compound;

free_code:
	cosy_sealed_free(&compound->sealed);
free_functions:
	kvfree(functions);
free_compound:
	kfree(compound);
uncharge:
	cosy_quota_uncharge(cosy_quota_owner(), size);
	return ERR_PTR(err);
}

static struct cosy_compound *cosy_compound_read(struct cosy_load *load)
{
	struct cosy_compound *compound;
	void *image;
	int err;

	/* Charge the copy while it exists. Otherwise many concurrent loads escape the limit. */
	err = cosy_compound_charge(load->image_size);
	if (err)
		return ERR_PTR(err);
	image = cosy_image_copy(load);
	if (IS_ERR(image)) {
		compound = ERR_CAST(image);
	} else {
		compound = cosy_compound_make(load, image);
		kvfree(image);
	}
	cosy_quota_uncharge(cosy_quota_owner(), load->image_size);
	return compound;
}

/* Make the compound visible. It may be unloaded before this returns. */
static int cosy_compound_publish(struct cosy_file *cf,
				 struct cosy_compound *compound)
{
	u64 handle = compound->handle;
	int err;

	mutex_lock(&cf->lock);
	err = -ENOSPC;
	if (cf->count >= READ_ONCE(cosy_max_loads))
		goto unlock;
	err = xa_err(xa_store(&cf->loaded, cosy_handle_index(handle), compound,
			      GFP_KERNEL_ACCOUNT));
	if (err)
		goto unlock;
	if (!compound->parks)
		rcu_assign_pointer(cf->recent[handle % COSY_RECENT], compound);
	/* Read without the lock by cosy_compound_add(). */
	WRITE_ONCE(cf->count, cf->count + 1);
unlock:
	mutex_unlock(&cf->lock);
	return err;
}

static int cosy_load_reject(struct cosy_load *load, const char *reason)
{
	load->offset = 0;
	strscpy_pad(load->reason, reason, sizeof(load->reason));
	return -EINVAL;
}

/* Load the compound of @load, and write the answer to @arg. */
static int cosy_compound_add(struct cosy_file *cf, struct cosy_load *load,
			     struct cosy_load __user *arg)
{
	struct cosy_compound *compound;
	int err;

	if (load->flags & ~COSY_LOAD_FLAGS) {
		err = cosy_load_reject(load, "unknown flags");
		goto answer;
	}
	if (load->image_size > COSY_MAX_SIZE)
		return -E2BIG;
	/* Avoids the work below; cosy_compound_publish() checks it again. */
	if (READ_ONCE(cf->count) >= READ_ONCE(cosy_max_loads))
		return -ENOSPC;

	compound = cosy_compound_read(load);
	if (IS_ERR(compound)) {
		err = PTR_ERR(compound);
		if (err == -EINVAL)
			goto answer;
		return err;
	}
	compound->handle = atomic64_inc_return(&cosy_last_handle);
	load->handle = compound->handle;
	load->offset = 0;
	memset(load->reason, 0, sizeof(load->reason));

	/* Write the answer first: without its handle, a compound cannot be unloaded. */
	err = cosy_arg_write(arg, load, sizeof(*load));
	if (!err)
		err = cosy_compound_publish(cf, compound);
	if (err)
		cosy_compound_put(compound);
	return err;

answer:
	return cosy_arg_write(arg, load, sizeof(*load)) ?: err;
}

/**
 * cosy_compound_load() - COSY_IOC_LOAD
 * @cf:  the file
 * @arg: struct cosy_load of the caller
 *
 * Return: 0, or the error that the interface documents.
 */
long cosy_compound_load(struct cosy_file *cf, struct cosy_load __user *arg)
{
	struct cosy_load load;
	int err;

	err = cosy_arg_read(&load, sizeof(load),
			    offsetofend(struct cosy_load, reason), arg);
	if (err)
		return err;
	err = cosy_compound_add(cf, &load, arg);
	trace_load(err ? 0 : load.handle, load.image_size, err);
	return err;
}

/**
 * cosy_compound_unload() - COSY_IOC_UNLOAD
 * @cf:  the file
 * @arg: the caller's handle
 *
 * Runs of the compound that have begun continue to their end.
 *
 * Return: 0, -EFAULT, -ENOENT.
 */
long cosy_compound_unload(struct cosy_file *cf, const u64 __user *arg)
{
	struct cosy_compound *compound;
	u64 handle;

	if (copy_from_user(&handle, arg, sizeof(handle)))
		return -EFAULT;

	mutex_lock(&cf->lock);
	compound = xa_erase(&cf->loaded, cosy_handle_index(handle));
	if (compound) {
		struct cosy_compound __rcu **recent =
			&cf->recent[handle % COSY_RECENT];

		if (rcu_access_pointer(*recent) == compound)
			RCU_INIT_POINTER(*recent, NULL);
		WRITE_ONCE(cf->count, cf->count - 1);
	}
	mutex_unlock(&cf->lock);
	if (!compound)
		return -ENOENT;
	/*
	 * Another thread may have found the compound, but not taken its reference yet. Its run
	 * may close the file and outlive it.
	 */
	cosy_compound_pin(compound);
	atomic_inc(&cosy_unloading);
	queue_rcu_work(cosy_unloads, &compound->unload);
	return 0;
}
