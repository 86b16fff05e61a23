// SPDX-License-Identifier: GPL-2.0
/*
 * fault.c - detects faults of programs in their arena.
 */
#include <linux/bpf.h>
#include <linux/filter.h>
#include <linux/mutex.h>
#include <linux/string.h>
#include <linux/tracepoint.h>
#include <linux/uaccess.h>

#include "function/invocation.h"

/* The range that accesses to an arena reach: 32 bits, and an instruction's 16-bit offset. */
#define COSY_ARENA_GUARD	((u64)32768)
#define COSY_ARENA_REACH	(BIT_ULL(32) + 2 * COSY_ARENA_GUARD)

static struct tracepoint *cosy_fault_point;

/* The probe is registered from the first binding on. */
static DEFINE_MUTEX(cosy_probe_lock);
static bool cosy_probed;

/* Return the subprogram of @prog that contains @ip, NULL if none does. */
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

/**
 * cosy_line_of() - the source line of an instruction
 * @prog: the program
 * @ip:   address of the instruction
 *
 * Return: the line, 0 if it is not known.
 */
u32 cosy_line_of(const struct bpf_prog *prog, unsigned long ip)
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
 * A fault in the kernel. The program continues after the access, with 0 as the value that
 * it has read. Its budget is used up then, so that it ends soon.
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

static void cosy_match_point(struct tracepoint *point, void *found)
{
	if (!strcmp(point->name, "page_fault_kernel"))
		*(struct tracepoint **)found = point;
}

/**
 * cosy_faults_init() - find the tracepoint of page faults in the kernel
 *
 * Return: true if the kernel has it.
 */
bool cosy_faults_init(void)
{
	for_each_kernel_tracepoint(cosy_match_point, &cosy_fault_point);
	return cosy_fault_point;
}

/**
 * cosy_faults_exit() - the reverse of cosy_faults_probe()
 */
void cosy_faults_exit(void)
{
	if (!cosy_probed)
		return;
	tracepoint_probe_unregister(cosy_fault_point, cosy_fault, NULL);
	tracepoint_synchronize_unregister();
}

/**
 * cosy_faults_probe() - detect faults until cosy_faults_exit()
 *
 * Return: 0 or -errno.
 */
int cosy_faults_probe(void)
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
