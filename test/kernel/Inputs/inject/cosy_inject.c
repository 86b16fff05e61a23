// SPDX-License-Identifier: GPL-2.0
/*
 * cosy_inject.c - make requests of the cosy module to the kernel fail, once each.
 *
 * Stock kernels have no CONFIG_FAULT_INJECTION. This module has a kprobe on each
 * function of points.def, and on each instruction of the cosy module that accesses
 * user memory. A call counts if the chosen thread makes it from the cosy module's
 * code. The n-th one fails: a function returns its failure without being executed,
 * an instruction continues where it would after a page fault that cannot be resolved.
 *
 * Memory that the cosy module allocates is tracked until it is freed, so that a leak of a single
 * object is detected.
 *
 * /dev/cosy-inject: write "PID N" to choose the thread and the number that fails (0: none) and to
 * begin counting; read the events since then. "0 0" chooses no thread. Only memory that is
 * allocated later is listed.
 *
 * For one CPU and tests only. Load it before the cosy module.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/extable.h>
#include <linux/ftrace.h>
#include <linux/hashtable.h>
#include <linux/kprobes.h>
#include <linux/linkage.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/objtool.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/uaccess.h>
#include <linux/xarray.h>

/**
 * enum failure - how a function reports a failure
 * @FAIL_NULL:	   it returns 0
 * @FAIL_ERRNO:	   it returns -errno, as a number or as a pointer
 * @FAIL_COPY:	   it returns its third argument, the bytes that were not copied
 * @FAIL_GET_USER: -errno in rax, 0 in rdx; the kernel's own calling convention
 * @FAIL_PUT_USER: -errno in rcx; the kernel's own calling convention
 * @FAIL_XARRAY:   as xa_store(), which cannot fail if an entry already exists
 */
enum failure {
	FAIL_NULL,
	FAIL_ERRNO,
	FAIL_COPY,
	FAIL_GET_USER,
	FAIL_PUT_USER,
	FAIL_XARRAY,
};

/**
 * struct point - a function that can fail
 * @probe:   at its beginning
 * @failure: how it fails
 * @err:     the error
 */
struct point {
	struct kprobe probe;
	enum failure failure;
	int err;
};

static int inject_call(struct kprobe *probe, struct pt_regs *regs);
static void inject_after(struct kprobe *probe, struct pt_regs *regs,
			 unsigned long flags);

/* A post_handler prevents the optimisation of a probe, which could not change ip. */
#define POINT(function, how, error) {					\
	.probe = {							\
		.symbol_name = #function,				\
		.pre_handler = inject_call,				\
		.post_handler = inject_after,				\
	},								\
	.failure = FAIL_##how,						\
	.err = error,							\
},
static struct point points[] = {
#include "points.def"
};

#undef POINT

/* Serialises writers and changes of the probes. */
static DEFINE_MUTEX(lock);
static struct module *cosy;
static struct kprobe *accesses;
static unsigned int naccesses;

/* The request and the events. Changed by writers and the chosen thread. */
static pid_t chosen;
static unsigned int fails;
static unsigned int seen;
static char failed[128];

/**
 * struct allocation - memory that the cosy module has allocated and that is not freed yet
 * @node:   in tracked, or in unused
 * @memory: address of the memory, or of its first page's struct page
 * @caller: the caller that has allocated it
 * @number: number of allocations tracked before
 */
struct allocation {
	struct hlist_node node;
	unsigned long memory;
	unsigned long caller;
	unsigned long number;
};

static struct allocation allocations[8192];
static HLIST_HEAD(unused);
static DEFINE_HASHTABLE(tracked, 10);
static DEFINE_RAW_SPINLOCK(tracked_lock);
static unsigned int held;
static unsigned long tracked_ever;
static unsigned long marked;
static unsigned int untracked;

/* The return address of a function that fails. */
asmlinkage void inject_return(void);
asm(".pushsection .text\n"
	".type inject_return, @function\n"
	"inject_return:\n"
	ANNOTATE_NOENDBR "\n"
	ASM_RET
	".size inject_return, . - inject_return\n"
	".popsection\n");

static bool of_cosy(unsigned long address)
{
	struct module *mod = READ_ONCE(cosy);

	return mod && within_module(address, mod);
}

/*
 * Return true if this event must fail. To in_task() a breakpoint looks like an NMI; the cosy
 * module has no code for interrupts.
 */
static bool counts(void)
{
	if (current->pid != READ_ONCE(chosen))
		return false;
	return ++seen == fails;
}

/* A function's caller, at its first instruction. */
static unsigned long caller_of(const struct pt_regs *regs)
{
	return *(unsigned long *)regs->sp;
}

static int inject_call(struct kprobe *probe, struct pt_regs *regs)
{
	const struct point *point = container_of(probe, struct point, probe);
	unsigned long caller = caller_of(regs);

	if (!of_cosy(caller))
		return 0;
	if (point->failure == FAIL_XARRAY &&
	    xa_load((struct xarray *)regs->di, regs->si))
		return 0;
	if (!counts())
		return 0;

	switch (point->failure) {
	case FAIL_NULL:
		regs->ax = 0;
		break;
	case FAIL_ERRNO:
		regs->ax = -point->err;
		break;
	case FAIL_COPY:
		regs->ax = regs->dx;
		break;
	case FAIL_GET_USER:
		regs->ax = -point->err;
		regs->dx = 0;
		break;
	case FAIL_PUT_USER:
		regs->cx = -point->err;
		break;
	case FAIL_XARRAY:
		regs->ax = (unsigned long)xa_mk_internal(-point->err);
		break;
	}
	snprintf(failed, sizeof(failed), "%s in %pS", probe->symbol_name,
		 (void *)caller);
	regs->ip = (unsigned long)inject_return;
	return 1;
}

static void inject_after(struct kprobe *probe, struct pt_regs *regs,
			 unsigned long flags)
{
}

static unsigned long access_insn(const struct exception_table_entry *entry)
{
	return (unsigned long)&entry->insn + entry->insn;
}

static unsigned long access_fixup(const struct exception_table_entry *entry)
{
	return (unsigned long)&entry->fixup + entry->fixup;
}

/* A register by its number in instructions. */
static unsigned long *register_of(struct pt_regs *regs, unsigned int number)
{
	unsigned long *const registers[] = {
		&regs->ax, &regs->cx, &regs->dx, &regs->bx,
		&regs->sp, &regs->bp, &regs->si, &regs->di,
		&regs->r8, &regs->r9, &regs->r10, &regs->r11,
		&regs->r12, &regs->r13, &regs->r14, &regs->r15,
	};

	return registers[number];
}

static bool sets_register(const struct exception_table_entry *entry)
{
	return (entry->data & EX_DATA_TYPE_MASK) == EX_TYPE_IMM_REG;
}

/*
 * If the kernel does not trust the outputs of asm goto of a compiler, user memory is read by
 * instructions that set a register to -EFAULT on failure.
 */
static bool access_of_user(const struct exception_table_entry *entry)
{
	return (entry->data & EX_DATA_TYPE_MASK) == EX_TYPE_UACCESS ||
	       (sets_register(entry) &&
		entry->data >> EX_DATA_IMM_SHIFT == -EFAULT);
}

/* Do the same as the kernel when such an access fails. */
static void access_fails(const struct exception_table_entry *entry,
			 struct pt_regs *regs)
{
	if (entry->data & EX_FLAG_CLEAR_AX)
		regs->ax = 0;
	if (entry->data & EX_FLAG_CLEAR_DX)
		regs->dx = 0;
	if (sets_register(entry))
		*register_of(regs, (entry->data & EX_DATA_REG_MASK) >>
				   EX_DATA_REG_SHIFT) = -EFAULT;
	regs->ip = access_fixup(entry);
}

static int inject_access(struct kprobe *probe, struct pt_regs *regs)
{
	unsigned long insn = (unsigned long)probe->addr;
	unsigned int i;

	if (!counts())
		return 0;
	for (i = 0; i < cosy->num_exentries; i++) {
		if (access_insn(&cosy->extable[i]) != insn)
			continue;
		snprintf(failed, sizeof(failed), "access in %pS",
			 probe->addr);
		access_fails(&cosy->extable[i], regs);
		return 1;
	}
	return 0;
}

static void accesses_unprobe(void)
{
	while (naccesses)
		unregister_kprobe(&accesses[--naccesses]);
	kfree(accesses);
	accesses = NULL;
}

/* Probe the cosy module's own accesses to user memory, once. */
static int accesses_probe(void)
{
	unsigned int i;
	int err;

	if (accesses || !cosy || cosy->state != MODULE_STATE_LIVE)
		return 0;
	accesses = kcalloc(cosy->num_exentries, sizeof(*accesses), GFP_KERNEL);
	if (!accesses)
		return -ENOMEM;
	for (i = 0; i < cosy->num_exentries; i++) {
		const struct exception_table_entry *entry = &cosy->extable[i];
		struct kprobe *probe = &accesses[naccesses];

		if (!access_of_user(entry))
			continue;
		probe->addr = (kprobe_opcode_t *)access_insn(entry);
		probe->pre_handler = inject_access;
		probe->post_handler = inject_after;
		err = register_kprobe(probe);
		if (err) {
			pr_err("cannot probe %pS: %d\n", probe->addr, err);
			accesses_unprobe();
			return err;
		}
		naccesses++;
	}
	return 0;
}

static void track(unsigned long memory, unsigned long caller)
{
	struct allocation *a;
	unsigned long flags;

	raw_spin_lock_irqsave(&tracked_lock, flags);
	a = hlist_entry_safe(unused.first, struct allocation, node);
	if (a) {
		hlist_del(&a->node);
		a->memory = memory;
		a->caller = caller;
		a->number = tracked_ever++;
		hash_add(tracked, &a->node, memory);
		held++;
	} else {
		untracked++;
	}
	raw_spin_unlock_irqrestore(&tracked_lock, flags);
}

static void untrack(unsigned long memory)
{
	struct allocation *a;
	unsigned long flags;

	raw_spin_lock_irqsave(&tracked_lock, flags);
	hash_for_each_possible(tracked, a, node, memory) {
		if (a->memory != memory)
			continue;
		hash_del(&a->node);
		hlist_add_head(&a->node, &unused);
		held--;
		break;
	}
	raw_spin_unlock_irqrestore(&tracked_lock, flags);
}

static int alloc_begins(struct kretprobe_instance *instance, struct pt_regs *regs)
{
	unsigned long caller = caller_of(regs);

	if (!of_cosy(caller))
		return 1;
	*(unsigned long *)instance->data = caller;
	return 0;
}

static int alloc_ends(struct kretprobe_instance *instance, struct pt_regs *regs)
{
	unsigned long memory = regs_return_value(regs);

	if (memory)
		track(memory, *(unsigned long *)instance->data);
	return 0;
}

/* By ftrace: a probe is not called in an interrupt that comes while another one runs. */
static void free_begins(unsigned long ip, unsigned long parent, struct ftrace_ops *ops,
			struct ftrace_regs *fregs)
{
	if (READ_ONCE(held))
		untrack(ftrace_get_regs(fregs)->di);
}

/**
 * struct alloc - a function that allocates
 * @armed: a probe that is registered before. A post_handler determines how a probe is armed
 *	   and disarmed, and one of a later probe at the same address has no effect
 * @probe: tracks the returned memory
 */
struct alloc {
	struct kprobe armed;
	struct kretprobe probe;
};

#define ALLOC(function) {						\
	.armed = {							\
		.symbol_name = #function,				\
		.post_handler = inject_after,				\
	},								\
	.probe = {							\
		.kp.symbol_name = #function,				\
		.entry_handler = alloc_begins,				\
		.handler = alloc_ends,					\
		.data_size = sizeof(unsigned long),			\
		.maxactive = 64,					\
	},								\
}
static struct alloc allocs[] = {
	ALLOC(__kmalloc), ALLOC(__kmalloc_noprof), ALLOC(kmalloc_trace),
	ALLOC(__kmalloc_cache_noprof), ALLOC(kvmalloc_node),
	ALLOC(__kvmalloc_node_noprof), ALLOC(alloc_pages), ALLOC(__alloc_pages),
	ALLOC(alloc_pages_noprof), ALLOC(__alloc_pages_noprof), ALLOC(vmap),
};

static const char *const frees[] = { "kfree", "vfree", "vunmap", "__free_pages" };
static struct ftrace_ops free_ops = {
	.func = free_begins,
	.flags = FTRACE_OPS_FL_SAVE_REGS,
};
static bool frees_are_traced;

/* Allocations that were not tracked for lack of memory. */
static unsigned int lost(void)
{
	unsigned int i, n = READ_ONCE(untracked);

	for (i = 0; i < ARRAY_SIZE(allocs); i++)
		n += allocs[i].probe.nmissed;
	return n;
}

static int show(struct seq_file *seq, void *unused_argument)
{
	struct allocation *a;
	unsigned long flags;
	unsigned int i;

	seq_printf(seq, "seen %u\nfailed %s\nheld %u\nlost %u\n", seen,
		   failed[0] ? failed : "nothing", held, lost());
	raw_spin_lock_irqsave(&tracked_lock, flags);
	hash_for_each(tracked, i, a, node)
		if (a->number >= marked)
			seq_printf(seq, "held by %pS\n", (void *)a->caller);
	raw_spin_unlock_irqrestore(&tracked_lock, flags);
	return 0;
}

static int inject_open(struct inode *inode, struct file *file)
{
	/* The device's private data, which single_open() expects to be empty. */
	file->private_data = NULL;
	return single_open(file, show, NULL);
}

static ssize_t inject_write(struct file *file, const char __user *from,
			    size_t count, loff_t *pos)
{
	char text[32] = "";
	unsigned int n;
	pid_t pid;
	int err;

	if (count >= sizeof(text))
		return -EINVAL;
	if (copy_from_user(text, from, count))
		return -EFAULT;
	if (sscanf(text, "%d %u", &pid, &n) != 2)
		return -EINVAL;
	mutex_lock(&lock);
	WRITE_ONCE(chosen, 0);
	err = accesses_probe();
	if (!err) {
		seen = 0;
		failed[0] = '\0';
		fails = n;
		if (pid)
			WRITE_ONCE(chosen, pid);
		else
			marked = tracked_ever;
	}
	mutex_unlock(&lock);
	return err ?: count;
}

static const struct file_operations inject_fops = {
	.owner = THIS_MODULE,
	.open = inject_open,
	.read = seq_read,
	.llseek = seq_lseek,
	.release = single_release,
	.write = inject_write,
};

static struct miscdevice inject_device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "cosy-inject",
	.fops = &inject_fops,
	.mode = 0600,
};

/* The cosy module is loaded, before its init function is called, or unloaded. */
static int module_changes(struct notifier_block *block, unsigned long state,
			  void *data)
{
	struct module *mod = data;

	if (strcmp(mod->name, "cosy"))
		return NOTIFY_DONE;
	mutex_lock(&lock);
	if (state == MODULE_STATE_COMING) {
		WRITE_ONCE(cosy, mod);
	} else if (state == MODULE_STATE_GOING) {
		accesses_unprobe();
		WRITE_ONCE(cosy, NULL);
	}
	mutex_unlock(&lock);
	return NOTIFY_OK;
}

static struct notifier_block module_changes_block = {
	.notifier_call = module_changes,
};

/* The available functions depend on the kernel. */
static int absent_is_fine(int err, const char *name, unsigned int *there)
{
	if (err == -ENOENT)
		return 0;
	if (err)
		pr_err("cannot probe %s: %d\n", name, err);
	else
		(*there)++;
	return err;
}

/* A probe that was never registered has no address. */
static void unprobe(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(points); i++)
		if (points[i].probe.addr)
			unregister_kprobe(&points[i].probe);
	if (frees_are_traced)
		unregister_ftrace_function(&free_ops);
	for (i = 0; i < ARRAY_SIZE(allocs); i++)
		if (allocs[i].probe.kp.addr)
			unregister_kretprobe(&allocs[i].probe);
	for (i = 0; i < ARRAY_SIZE(allocs); i++)
		if (allocs[i].armed.addr)
			unregister_kprobe(&allocs[i].armed);
}

/*
 * The tracking probes of the allocators come first. Of two probes at an address, the one that was
 * registered last runs first, so that failures are not tracked.
 */
static int probe(void)
{
	unsigned int i, there = 0;
	int err;

	for (i = 0; i < ARRAY_SIZE(allocs); i++) {
		err = absent_is_fine(register_kprobe(&allocs[i].armed),
				     allocs[i].armed.symbol_name, &there);
		if (!err && allocs[i].armed.addr)
			err = register_kretprobe(&allocs[i].probe);
		if (err)
			goto unprobe;
	}
	for (i = 0; i < ARRAY_SIZE(frees); i++) {
		err = ftrace_set_filter(&free_ops, (unsigned char *)frees[i], strlen(frees[i]), !i);
		if (err) {
			pr_err("cannot trace %s: %d\n", frees[i], err);
			goto unprobe;
		}
	}
	err = register_ftrace_function(&free_ops);
	if (err)
		goto unprobe;
	frees_are_traced = true;
	for (i = 0; i < ARRAY_SIZE(points); i++) {
		err = absent_is_fine(register_kprobe(&points[i].probe),
				     points[i].probe.symbol_name, &there);
		if (err)
			goto unprobe;
	}
	pr_info("%u probes\n", there);
	return 0;

unprobe:
	unprobe();
	return err;
}

static int __init inject_init(void)
{
	unsigned int i;
	int err;

	for (i = 0; i < ARRAY_SIZE(allocations); i++)
		hlist_add_head(&allocations[i].node, &unused);

	err = register_module_notifier(&module_changes_block);
	if (err)
		return err;
	err = probe();
	if (err)
		goto notifier;
	err = misc_register(&inject_device);
	if (err)
		goto probes;
	return 0;

probes:
	unprobe();
notifier:
	unregister_module_notifier(&module_changes_block);
	return err;
}

static void __exit inject_exit(void)
{
	misc_deregister(&inject_device);
	unregister_module_notifier(&module_changes_block);
	accesses_unprobe();
	unprobe();
}

module_init(inject_init);
module_exit(inject_exit);

MODULE_DESCRIPTION("Make what the cosy module asks the kernel for fail");
MODULE_AUTHOR("The Cosy developers");
MODULE_LICENSE("GPL");
