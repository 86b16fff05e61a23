/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * cpu.c - operations that threads on other processors execute.
 *
 * Each processor of cosy_loop_cpus() has a loop of its own, with its own syscall page. A thread
 * that is bound to the processor runs that loop. An operation that is sent to a
 * processor keeps its slot in the first loop. A second operation, @sent[slot], is submitted to
 * the processor's loop. Its callback completes the first one, which is then delivered like any
 * other. So only these two steps know about processors.
 *
 * A compound of a function is sent in the same way. Up-calls are made by the threads of the first
 * loop, which gets the compound back for each of them.
 *
 * The lock of the processor's loop is held while its thread attempts calls. So an entry is put
 * into a queue with its own lock, and that thread takes all entries of the queue at once.
 *
 * The dynamic core specialisation of Soares and Stumm, "Exception-Less System Calls for
 * Event-Driven Servers" (libflexsc), USENIX 2011: a processor is used when there are more
 * operations than the processors before it in the list can execute at once. cpus.c creates the
 * processors.
 *
 * Lock order: the lock of a loop, then the lock of one of its processors' loops, then the lock of
 * the queue.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "device/export.h"
#include "device/sys.h"
#include "arguments.h"
#include "cancel.h"
#include "complete.h"
#include "cpu.h"
#include "loop.h"
#include "submit.h"

/*
 * A descriptor's operations, and a function's compounds, stay on their processor unless another one
 * has this many operations fewer. Moving costs, because the descriptor has to be added to another
 * epoll set, or to the wait queue again.
 */
#define SLACK		8u
/**
 * struct cosy_used_fd - which processors have used a descriptor
 * @cpus:	 a bit for each processor that has executed an operation since it was opened
 * @outstanding: number of ordered operations on it that were sent and are not complete
 * @last:	 the processor to which the last one was sent
 */
struct cosy_used_fd {
	uint64_t cpus;
	uint32_t outstanding;
	uint32_t last;
};

COSY_EXPORT struct cosy_async *cosy_async_on(struct cosy_async *op, unsigned int cpu)
{
	/* cosy_cpu_choose() refuses a number that no loop can have. */
	op->state = cpu < UINT32_MAX - COSY_OP_ON ? COSY_OP_ON + cpu : UINT32_MAX;
	return op;
}

/* Return true if operations on one descriptor that wait in this way are executed in order. */
static bool is_ordered(enum cosy_how how)
{
	return how >= COSY_HOW_READ && how <= COSY_HOW_CONNECT;
}

/* Look up a descriptor. Return NULL if nothing is known about it. */
static struct cosy_used_fd *find_fd(const struct cosy_loop *loop, int fd)
{
	return fd >= 0 && (uint32_t)fd < loop->cpus->nfds ? &loop->cpus->fds[fd] : NULL;
}

/* Look up or add a descriptor. Return NULL if it is not open, or there is no memory. */
static struct cosy_used_fd *make_fd(struct cosy_cpus *cpus, int fd)
{
	struct cosy_used_fd *fds;
	uint32_t count;

	if ((uint32_t)fd >= cpus->nfds) {
		/* The table must not grow for a number that is no descriptor. */
		if (fd >= (int)COSY_MAX_FD || cosy_sys(SYS_fcntl, fd, F_GETFD, 0) < 0)
			return NULL;
		count = ((uint32_t)fd | 63) + 1;
		if (count < 2 * cpus->nfds)
			count = 2 * cpus->nfds;
		fds = realloc(cpus->fds, count * sizeof(*fds));
		if (!fds)
			return NULL;
		memset(fds + cpus->nfds, 0, (count - cpus->nfds) * sizeof(*fds));
		cpus->fds = fds;
		cpus->nfds = count;
	}
	return &cpus->fds[fd];
}

/* Return the processor with the fewest operations; the first one of several. */
static struct cosy_cpu *least_loaded(struct cosy_loop *loop)
{
	struct cosy_cpu *least = loop->cpus->all;

	for (uint32_t i = 1; i < loop->cpus->count; i++) {
		if (loop->cpus->all[i].outstanding < least->outstanding)
			least = &loop->cpus->all[i];
	}
	return least;
}

/* Return @last, unless another processor has many fewer operations: then that. */
static struct cosy_cpu *stay_or_move(struct cosy_loop *loop, struct cosy_cpu *last)
{
	struct cosy_cpu *least = least_loaded(loop);

	return last->outstanding <= least->outstanding + SLACK ? last : least;
}

/* Return the processor for a call that is ordered by a descriptor. */
static struct cosy_cpu *of_fd(struct cosy_loop *loop, int fd)
{
	const struct cosy_used_fd *used = find_fd(loop, fd);

	if (used && used->outstanding)
		return &loop->cpus->all[used->last];
	if (!used || !used->cpus)
		return least_loaded(loop);
	return stay_or_move(loop, &loop->cpus->all[used->last]);
}

/* Return the processors that run compounds, which may use any descriptor; a bit for each. */
static uint64_t with_compounds(const struct cosy_loop *loop)
{
	uint64_t cpus = 0;

	for (uint32_t i = 0; i < loop->cpus->count; i++)
		cpus |= (uint64_t)!!loop->cpus->all[i].compounds << i;
	return cpus;
}

/* Cancel operations on descriptors on the processors of @cpus. Return their number. */
static int cancel_on(struct cosy_loop *loop, uint64_t cpus, uint32_t first, uint32_t last)
{
	int cancelled = 0;

	for (uint32_t i = 0; i < loop->cpus->count; i++) {
		struct cosy_cpu *cpu = &loop->cpus->all[i];

		if (!(cpus & (uint64_t)1 << i))
			continue;
		cosy_lock(&cpu->loop->lock);
		cosy_cpu_take(cpu);
		cancelled += cosy_fds_cancel_all(cpu->loop, first, last);
		cosy_loop_leave(cpu->loop);
	}
	return cancelled;
}

int cosy_cpus_cancel_fds(struct cosy_loop *loop, uint32_t first, uint32_t last)
{
	uint64_t cpus;

	if (!loop->cpus)
		return 0;
	cpus = with_compounds(loop);
	for (uint32_t fd = first; fd <= last && fd < loop->cpus->nfds; fd++) {
		cpus |= loop->cpus->fds[fd].cpus;
		loop->cpus->fds[fd].cpus = 0;
	}
	return cancel_on(loop, cpus, first, last);
}

void cosy_cpus_cancel_stale(struct cosy_loop *loop, uint32_t first, uint32_t last)
{
	for (uint32_t i = 0; i < loop->cpus->count; i++) {
		struct cosy_cpu *cpu = &loop->cpus->all[i];

		if (!cpu->compounds)
			continue;
		cosy_lock(&cpu->loop->lock);
		cosy_module_interrupt_stale(cpu->loop, first, last);
		cosy_loop_tell(cpu->loop);
		cosy_loop_leave(cpu->loop);
	}
}

/*
 * Return the processor that has to close a descriptor: the one that used it last, after the
 * operations that were sent there before. Operations of other processors on it are cancelled now.
 */
static struct cosy_cpu *of_close(struct cosy_loop *loop, int fd)
{
	struct cosy_used_fd *used = find_fd(loop, fd);
	uint64_t others = with_compounds(loop);
	struct cosy_cpu *last = NULL;

	if (used && used->cpus) {
		last = &loop->cpus->all[used->last];
		others = (others | used->cpus) & ~((uint64_t)1 << used->last);
		used->cpus = 0;
		cosy_fds_cancel_all(loop, (uint32_t)fd, (uint32_t)fd);
	}
	if (others)
		cancel_on(loop, others, (uint32_t)fd, (uint32_t)fd);
	return last;
}

static struct cosy_cpu *named(struct cosy_loop *loop, uint32_t number)
{
	for (uint32_t i = 0; i < loop->cpus->count; i++) {
		if (loop->cpus->all[i].number == number)
			return &loop->cpus->all[i];
	}
	return NULL;
}

bool cosy_cpu_is_valid(struct cosy_loop *loop, uint32_t on)
{
	return on < COSY_OP_ON || !loop->spreads || named(loop, on - COSY_OP_ON);
}

struct cosy_cpu *cosy_cpu_for_compound(struct cosy_loop *loop, uint32_t on,
				       struct cosy_cpu *last)
{
	if (on >= COSY_OP_ON)
		return named(loop, on - COSY_OP_ON);
	return last ? stay_or_move(loop, last) : least_loaded(loop);
}

int cosy_cpu_choose(struct cosy_loop *loop, uint32_t on, long nr, const uint64_t args[6],
		    struct cosy_cpu **cpu)
{
	enum cosy_how how = cosy_how(nr);
	uint32_t first, last;

	*cpu = NULL;
	/* Operations that only wait need no processor. Those in a share stay in this loop. */
	if (cosy_names_share(nr, args) || how == COSY_HOW_POLL || how == COSY_HOW_SLEEP || how == COSY_HOW_SIGNAL)
		return 0;
	if (how == COSY_HOW_CLOSE) {
		if (nr == SYS_close) {
			*cpu = of_close(loop, (int)args[0]);
			return 0;
		}
		cosy_closed_range(nr, args, &first, &last);
		cosy_cpus_cancel_fds(loop, first, last);
		return 0;
	}
	if (on >= COSY_OP_ON) {
		*cpu = named(loop, on - COSY_OP_ON);
		return *cpu ? 0 : -EINVAL;
	}
	*cpu = is_ordered(how) && cosy_takes_fd(nr) ? of_fd(loop, (int)args[0]) :
						      least_loaded(loop);
	return 0;
}

struct cosy_async_entry *cosy_cpu_entry(const struct cosy_cpu *cpu, uint32_t slot)
{
	const struct cosy_async *sent = (void *)(uintptr_t)cpu->loop->page.entries[slot].user_data;

	return &cpu->owner->module.page.entries[sent - cpu->owner->cpus->sent];
}

/* A processor has closed a descriptor. Cancel the waits of compounds that began shortly before that. */
static void closed(struct cosy_loop *loop, uint32_t slot)
{
	uint32_t fd = (uint32_t)loop->page.entries[slot].args[0];

	cosy_cpus_cancel_stale(loop, fd, fd);
}

/* The callback of @sent, called by the thread of the processor. */
static void returned(struct cosy_async *sent)
{
	struct cosy_loop *loop = sent->data;
	uint32_t slot = (uint32_t)(sent - loop->cpus->sent);
	const struct cosy_slot *s = &loop->slots.all[slot];
	/* While the loop closes, this is the thread that destroys it and has the lock. */
	bool locks = !loop->closing;

	if (locks)
		cosy_lock(&loop->lock);
	cosy_cpu_works(&loop->cpus->all[s->cpu]);
	loop->cpus->all[s->cpu].outstanding--;
	loop->cpus->all[s->cpu].compounds -= s->how == COSY_HOW_COMPOUND;
	if (is_ordered((enum cosy_how)s->how) && s->fd >= 0)
		loop->cpus->fds[s->fd].outstanding--;
	if (s->how == COSY_HOW_CLOSE && locks)
		closed(loop, slot);
	cosy_complete(loop, slot, sent->result);
	/* With the lock, so that a thread that waits gets this result, and not -EINTR. */
	cosy_pass_signal_on(sent->result);
	cosy_loop_tell(loop);
	if (locks)
		cosy_loop_leave(loop);
}

/* Note which processor an operation on a descriptor is sent to. */
static void use_fd(struct cosy_loop *loop, struct cosy_slot *s)
{
	struct cosy_used_fd *used = make_fd(loop->cpus, s->fd);

	if (!used) {
		s->fd = -1;
		return;
	}
	cosy_descriptor_learned(&loop->fds, s->fd);
	used->cpus |= (uint64_t)1 << s->cpu;
	if (is_ordered((enum cosy_how)s->how)) {
		used->outstanding++;
		used->last = s->cpu;
	}
}

/* Add an entry to the queue of a processor. */
static void put(struct cosy_cpu *cpu, uint32_t slot)
{
	int from = sched_getcpu();
	bool told;

	cosy_lock(&cpu->put_lock);
	cosy_queue_add(cpu->owner->slots.all, &cpu->put, slot);
	cpu->from = (uint32_t)from;
	told = cpu->told || cpu->looking;
	cpu->told = true;
	cosy_unlock(&cpu->put_lock);
	if (!told)
		cosy_loop_alert(cpu->loop);
}

void cosy_cpu_take(struct cosy_cpu *cpu)
{
	struct cosy_loop *owner = cpu->owner;
	uint32_t slot;

	cosy_lock(&cpu->put_lock);
	slot = cpu->put.head;
	cosy_queue_init(&cpu->put);
	cpu->told = false;
	cosy_unlock(&cpu->put_lock);
	if (slot != COSY_NO_SLOT)
		cosy_cpu_works(cpu);
	while (slot != COSY_NO_SLOT) {
		const struct cosy_async_entry *entry = &owner->page.entries[slot];
		uint32_t next = owner->slots.all[slot].queue_next;

		/* It has a free slot: both loops have the same number of entries. */
		cosy_page_submit_anywhere(cpu->loop, &owner->cpus->sent[slot],
					  (enum cosy_how)owner->slots.all[slot].how, entry->nr,
					  (const uint64_t *)entry->args);
		slot = next;
	}
}

void cosy_cpu_send(struct cosy_loop *loop, struct cosy_cpu *cpu, uint32_t slot)
{
	struct cosy_async *sent = &loop->cpus->sent[slot];
	struct cosy_slot *s = &loop->slots.all[slot];

	s->state = COSY_SLOT_SENT;
	s->cpu = (uint32_t)(cpu - loop->cpus->all);
	s->fd = cosy_slot_fd(loop, slot);
	if (s->fd >= 0)
		use_fd(loop, s);
	cpu->outstanding++;
	cpu->compounds += s->how == COSY_HOW_COMPOUND;
	sent->done = returned;
	sent->data = loop;
	put(cpu, slot);
}

int cosy_cpu_cancel(struct cosy_loop *loop, uint32_t slot)
{
	struct cosy_cpu *cpu = &loop->cpus->all[loop->slots.all[slot].cpu];

	cosy_lock(&cpu->loop->lock);
	cosy_cpu_take(cpu);
	cosy_loop_leave(cpu->loop);
	return cosy_cancel(cpu->loop, &loop->cpus->sent[slot]);
}
