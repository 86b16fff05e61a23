/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * cpu.c - operations that threads on other processors execute.
 *
 * Each processor of cosy_loop_cpus() has a loop of its own, with its own syscall page, and a
 * thread that is bound to the processor and runs that loop. An operation that is sent to a
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
 * operations than the processors before it in the list can execute at once.
 *
 * Lock order: the lock of a loop, then the lock of one of its processors' loops, then the lock of
 * the queue.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "device/export.h"
#include "device/sys.h"
#include "calls.h"
#include "arguments.h"
#include "cancel.h"
#include "complete.h"
#include "cpu.h"
#include "create.h"
#include "descriptor.h"
#include "lock.h"
#include "loop.h"
#include "module.h"
#include "polling.h"
#include "queue.h"
#include "slot.h"
#include "submit.h"
#include "thread.h"

/* A word has one bit for each. */
#define MAX_CPUS	64u
/*
 * A descriptor's operations, and a function's compounds, stay on their processor unless another one
 * has this many operations fewer. Moving costs, because the descriptor has to be added to another
 * epoll set, or to the wait queue again.
 */
#define SLACK		8u
/*
 * In nanoseconds. If the program closes all descriptors, nothing wakes a thread that waits for
 * them. When it waits again, it notices that.
 */
#define CHECKS_AFTER	1000000000u

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

/* Return the number of processors of a loop. */
static uint32_t count_of(const struct cosy_loop *loop)
{
	return loop->cpus ? loop->cpus->count : 0;
}

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
		/* Otherwise the table would grow for a number that is no descriptor. */
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

	for (uint32_t i = 1; i < count_of(loop); i++) {
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

	for (uint32_t i = 0; i < count_of(loop); i++)
		cpus |= (uint64_t)!!loop->cpus->all[i].compounds << i;
	return cpus;
}

/* Cancel operations on descriptors on the processors of @cpus. Return their number. */
static int cancel_on(struct cosy_loop *loop, uint64_t cpus, uint32_t first, uint32_t last)
{
	int cancelled = 0;

	for (uint32_t i = 0; i < count_of(loop); i++) {
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
	for (uint32_t i = 0; i < count_of(loop); i++) {
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
	for (uint32_t i = 0; i < count_of(loop); i++) {
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

int cosy_cpu_choose(struct cosy_loop *loop, const struct cosy_async *op, long nr,
		    const uint64_t args[6], struct cosy_cpu **cpu)
{
	enum cosy_how how = cosy_how(nr);
	uint32_t first, last;

	*cpu = NULL;
	/* Operations that only wait need no processor. */
	if (how == COSY_HOW_POLL || how == COSY_HOW_SLEEP || how == COSY_HOW_SIGNAL)
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
	if (op && op->state >= COSY_OP_ON) {
		*cpu = named(loop, op->state - COSY_OP_ON);
		return *cpu ? 0 : -EINVAL;
	}
	*cpu = is_ordered(how) && cosy_takes_fd(nr) ? of_fd(loop, (int)args[0]) :
						      least_loaded(loop);
	return 0;
}

struct cosy_async_entry *cosy_cpu_entry(const struct cosy_cpu *cpu, uint32_t slot)
{
	const struct cosy_async *sent = (void *)(uintptr_t)cpu->loop->page.entries[slot].user_data;

	return &cpu->owner->module.entries[sent - cpu->owner->cpus->sent];
}

/* A processor has closed a descriptor. Functions may have waited for it again before. */
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
	const struct cosy_slot *s = &loop->page.slots[slot];
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
	cosy_queue_add(cpu->owner->page.slots, &cpu->put, slot);
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
		uint32_t next = owner->page.slots[slot].queue_next;

		/* It has a free slot: both loops have the same number of entries. */
		cosy_page_submit_anywhere(cpu->loop, &owner->cpus->sent[slot],
					  (enum cosy_how)owner->page.slots[slot].how, entry->nr,
					  (const uint64_t *)entry->args);
		slot = next;
	}
}

uint64_t cosy_cpu_until(uint64_t until)
{
	uint64_t check = cosy_clock() + CHECKS_AFTER;

	return until < check ? until : check;
}

void cosy_cpu_send(struct cosy_loop *loop, struct cosy_cpu *cpu, uint32_t slot)
{
	struct cosy_async *sent = &loop->cpus->sent[slot];
	struct cosy_slot *s = &loop->page.slots[slot];

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
	struct cosy_cpu *cpu = &loop->cpus->all[loop->page.slots[slot].cpu];

	cosy_lock(&cpu->loop->lock);
	cosy_cpu_take(cpu);
	cosy_loop_leave(cpu->loop);
	return cosy_cancel(cpu->loop, &loop->cpus->sent[slot]);
}

/* Run the loop of a processor, except while its threads are idle. */
static void *execute(void *arg)
{
	struct cosy_cpu *cpu = arg;
	bool ends, failed;

	do {
		/* Returns when it is stopped; fails if the program has closed its descriptors. */
		failed = cosy_loop_run(cpu->loop) < 0;
		cosy_lock(&cpu->loop->lock);
		while (cpu->wanted == COSY_CPU_RESTS ||
		       (failed && cpu->wanted != COSY_CPU_ENDS)) {
			cpu->rests = true;
			cosy_event_happened(&cpu->changed, INT_MAX);
			cosy_event_wait(&cpu->changed, &cpu->loop->lock, UINT64_MAX);
		}
		cpu->rests = false;
		ends = cpu->wanted == COSY_CPU_ENDS;
		cosy_loop_leave(cpu->loop);
	} while (!ends);
	return NULL;
}

/* Start the thread of a processor. Return 0 or -errno. */
static int start(struct cosy_cpu *cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu->number, &set);
	return -cosy_thread_start(&cpu->thread, execute, cpu, &set);
}

/* Tell the thread what to do. The caller holds the lock of its loop. */
static void want(struct cosy_cpu *cpu, enum cosy_cpu_state wanted)
{
	cpu->wanted = wanted;
	if (wanted == COSY_CPU_RESTS)
		cosy_loop_stop(cpu->loop);
	cosy_event_happened(&cpu->changed, INT_MAX);
}

static void rest(struct cosy_cpu *cpu)
{
	cosy_lock(&cpu->loop->lock);
	want(cpu, COSY_CPU_RESTS);
	while (!cpu->rests)
		cosy_event_wait(&cpu->changed, &cpu->loop->lock, UINT64_MAX);
	cosy_loop_leave(cpu->loop);
}

/* End the thread, which rests, and free the loop. */
static void end(struct cosy_cpu *cpu)
{
	cosy_lock(&cpu->loop->lock);
	want(cpu, COSY_CPU_ENDS);
	cosy_loop_leave(cpu->loop);
	cosy_thread_join(cpu->thread);
	cosy_loop_free(cpu->loop);
}

/*
 * Read the set of processors on which the calling thread may run, at most 1024.
 *
 * Return: 0 or -errno.
 */
static int read_allowed(cpu_set_t *allowed)
{
	return sched_getaffinity(0, sizeof(*allowed), allowed) ? -errno : 0;
}

/* Create the loop of a processor, and its thread. Return 0 or -errno. */
static int make_cpu(struct cosy_loop *loop, struct cosy_cpu *cpu, uint32_t number,
		    const struct cosy_cpu_options *options)
{
	const struct cosy_loop_options of_loop = {
		.size = sizeof(of_loop),
		.entries = loop->page.mask + 1,
		.threads = loop->threads.disk.max,
		.waiters = loop->threads.waits.max,
	};
	int err = read_allowed(&cpu->allowed);

	if (!err)
		err = cosy_loop_create(&cpu->loop, &of_loop);

	if (err)
		return err;
	cpu->owner = loop;
	/* It does not poll before an entry has come from another CPU. */
	cpu->number = cpu->from = number;
	/* A thread that may use all of its CPU leaves no time to others there. */
	if (options->poll_us || options->priority)
		cpu->loop->threads.allowed = &cpu->allowed;
	cpu->poll_ns = cosy_cpu_poll_ns(options);
	cosy_queue_init(&cpu->put);
	cpu->loop->cpu = cpu;
	/* Operations of other loops use them, too. */
	cosy_module_use_all(cpu->loop);
	/* One for the thread itself, so that it waits although nothing was sent. */
	cpu->loop->page.outstanding = 1;
	cpu->loop->ring.submit->room--;
	err = start(cpu);
	if (err)
		cosy_loop_destroy(cpu->loop);
	return err;
}

static void free_cpus(struct cosy_loop *loop)
{
	if (!loop->cpus)
		return;
	free(loop->cpus->fds);
	free(loop->cpus->all);
	free(loop->cpus->sent);
	free(loop->cpus);
	loop->cpus = NULL;
	loop->spreads = false;
}

/* Create the processors. Return 0, or -errno with cpus->count of them created. */
static int make_cpus(struct cosy_loop *loop, const unsigned int *numbers, uint32_t count,
		     const struct cosy_cpu_options *options)
{
	struct cosy_cpus *cpus = calloc(1, sizeof(*cpus));
	int err;

	loop->cpus = cpus;
	if (!cpus)
		return -ENOMEM;
	cpus->sent = calloc((size_t)loop->page.mask + 1, sizeof(*cpus->sent));
	cpus->all = calloc(count, sizeof(*cpus->all));
	if (!cpus->sent || !cpus->all)
		return -ENOMEM;
	while (cpus->count < count) {
		struct cosy_cpu *cpu = &cpus->all[cpus->count];

		err = make_cpu(loop, cpu, numbers[cpus->count], options);
		if (err)
			return err;
		cpus->count++;
		err = cosy_cpu_set_options(cpu, options);
		if (err)
			return err;
	}
	return 0;
}

/* Create all processors or none. The caller holds the lock. Return 0 or -errno. */
static int have_cpus(struct cosy_loop *loop, const unsigned int *numbers, uint32_t count,
		     const struct cosy_cpu_options *options)
{
	int err = make_cpus(loop, numbers, count, options);

	if (!err) {
		loop->spreads = true;
		cosy_module_use_all(loop);
		return 0;
	}
	/* Nothing was sent to them yet, so this does not fail. */
	cosy_cpus_quiesce(loop);
	cosy_cpus_destroy(loop);
	return err;
}

/* Return true if each processor is allowed, and is named once. */
static bool are_valid(const unsigned int *cpus, unsigned int count)
{
	cpu_set_t left;

	if (count > MAX_CPUS || read_allowed(&left))
		return false;
	for (unsigned int i = 0; i < count; i++) {
		if (cpus[i] >= CPU_SETSIZE || !CPU_ISSET(cpus[i], &left))
			return false;
		CPU_CLR(cpus[i], &left);
	}
	return true;
}

/* Choose all allowed processors but that of the calling thread, if there are others. */
static int choose_cpus(unsigned int cpus[MAX_CPUS], unsigned int *count)
{
	unsigned int here = 0;
	cpu_set_t allowed;
	int err = read_allowed(&allowed);

	if (err)
		return err;
	cosy_sys(SYS_getcpu, (long)&here, 0, 0);
	*count = 0;
	for (unsigned int i = 0; i < CPU_SETSIZE && *count < MAX_CPUS; i++) {
		if (CPU_ISSET(i, &allowed) && i != here)
			cpus[(*count)++] = i;
	}
	if (!*count)
		cpus[(*count)++] = here;
	return 0;
}

COSY_EXPORT int cosy_loop_cpus_with(struct cosy_loop *loop, const unsigned int *cpus,
				    unsigned int count, const struct cosy_cpu_options *options)
{
	struct cosy_cpu_options known;
	unsigned int chosen[MAX_CPUS];
	int err = cosy_cpu_read_options(&known, options);

	if (err)
		return err;
	if (count) {
		if (!are_valid(cpus, count))
			return -EINVAL;
	} else {
		err = choose_cpus(chosen, &count);
		if (err)
			return err;
		cpus = chosen;
	}
	err = cosy_loop_enter(loop);
	if (err)
		return err;
	if (loop->closing)
		err = -ESHUTDOWN;
	else if (loop->spreads)
		err = -EBUSY;
	else
		err = have_cpus(loop, cpus, count, &known);
	cosy_loop_leave(loop);
	return err;
}

COSY_EXPORT int cosy_loop_cpus(struct cosy_loop *loop, const unsigned int *cpus,
			       unsigned int count)
{
	return cosy_loop_cpus_with(loop, cpus, count, NULL);
}

void cosy_cpus_add_info(const struct cosy_loop *loop, struct cosy_loop_info *info)
{
	for (uint32_t i = 0; i < count_of(loop); i++) {
		struct cosy_loop_info there;

		cosy_loop_info(loop->cpus->all[i].loop, &there, sizeof(there));
		info->waiting += there.waiting;
		info->attempts += there.attempts;
		info->entries += there.entries;
		info->handed_over += there.handed_over;
		info->threads += there.threads + 1;
		info->polled_ns += there.polled_ns;
	}
}

bool cosy_cpus_quiesce(struct cosy_loop *loop)
{
	uint32_t quiet = 0;

	for (uint32_t i = 0; i < count_of(loop); i++)
		rest(&loop->cpus->all[i]);
	while (quiet < count_of(loop) && cosy_loop_quiesce(loop->cpus->all[quiet].loop))
		quiet++;
	if (quiet == count_of(loop))
		return true;
	for (; quiet < count_of(loop); quiet++)
		cosy_lock(&loop->cpus->all[quiet].loop->lock);
	cosy_cpus_go_on(loop);
	return false;
}

void cosy_cpus_go_on(struct cosy_loop *loop)
{
	for (uint32_t i = 0; i < count_of(loop); i++) {
		want(&loop->cpus->all[i], COSY_CPU_RUNS);
		cosy_loop_leave(loop->cpus->all[i].loop);
	}
}

void cosy_cpus_destroy(struct cosy_loop *loop)
{
	/* The loop completes operations that processors have not executed. */
	for (uint32_t i = 0; i < count_of(loop); i++) {
		cosy_cpu_take(&loop->cpus->all[i]);
		cosy_loop_close(loop->cpus->all[i].loop);
	}
	for (uint32_t i = 0; i < count_of(loop); i++)
		end(&loop->cpus->all[i]);
	free_cpus(loop);
}

void cosy_cpus_destroy_in_child(struct cosy_loop *loop)
{
	for (uint32_t i = 0; i < count_of(loop); i++)
		cosy_loop_destroy(loop->cpus->all[i].loop);
	free_cpus(loop);
}
