// SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 WITH LLVM-exception
/*
 * record.bpf.c - counts the system calls of the recorded threads.
 *
 * The counts are exact, however long a program runs: maps contain them, by the place of a
 * call and the place of the previous call. Only rare events go to the tool: the start of a
 * program, and one copy of the stack for each new place.
 *
 * The recorded times do not include the time spent here. The BPF programs at the system call
 * tracepoints read the clock when they begin and when they end, and add the difference to
 * record_ns.
 */
#include <asm/unistd_64.h>
#include <linux/bpf.h>
#include <linux/errno.h>
#include <linux/fcntl.h>

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include <cosy/costs.h>

#include "record.h"

/* The members of the kernel's structures that are used. libbpf finds their offsets. */
#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
struct pt_regs {
	unsigned long r15, r14, r13, r12, bp, bx, r11, r10, r9, r8, ax, cx, dx, si, di;
	unsigned long orig_ax, ip, cs, flags, sp, ss;
};

struct mm_struct {
	unsigned long start_code, end_code, arg_start, arg_end;
};

struct thread_info {
	__u32 status;
};

struct task_struct {
	struct thread_info thread_info;
	int pid, tgid;
	struct mm_struct *mm;
};

struct linux_binprm;
#pragma clang attribute pop

#define bool			_Bool
#define USER64_CS		0x33
#define TS_COMPAT		2
#define NR_MMAP			9
#define PROT_EXEC		4

/* The words of the stack that are searched, and the return addresses that a place uses. */
#define SCAN_CHUNKS		4
#define CHUNK_WORDS		(PROFILE_CHUNK / sizeof(__u64))
#define PLACE_ADDRESSES		6
#define PATH_BYTES		128
/* Executable mappings farther than this from the libraries are not libraries. */
#define LIBRARY_GAP		(64ul << 20)

struct thread {
	__u32 program;
	__u32 in_call;
	__u32 nr;
	__u32 empty_path;
	__u32 one_component;
	__u32 in_directory;
	__u32 time_zone;
	__u32 resolves;
	__u32 resolving;
	__u32 walked;
	__u32 looks_up;		/* the call only looks up a name that is not empty */
	__u32 same_descriptor;
	__u32 last_read;	/* 1 + the descriptor of the last read, or 0 */
	__u64 place;
	__u64 from;		/* place of the previous call */
	__u64 user_ns;		/* time in user mode before this call */
	__u64 begin;		/* begin of the window in user mode or in the call, or 0 */
	__u64 off_ns;		/* time not on a CPU in this window */
	__u64 switched_out;	/* time of the last switch, or 0 */
	__u64 switched_in;	/* time of the last switch, or 0 if unknown */
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, PROFILE_MAX_THREADS);
	__type(key, __u32);
	__type(value, struct thread);
} threads SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, PROFILE_MAX_PROGRAMS);
	__type(key, __u32);
	__type(value, struct profile_program);
} programs SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, PROFILE_MAX_EDGES);
	__type(key, struct profile_edge_key);
	__type(value, struct profile_edge);
} edges SEC(".maps");

/* The places whose stack was sent. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, PROFILE_MAX_PLACES);
	__type(key, struct profile_place_key);
	__type(value, __u8);
} places SEC(".maps");

/*
 * By number of system call: 1 + the number of the argument that is its path, with PROFILE_LOOKS_UP if
 * the call does nothing else with it; or 0.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, PROFILE_MAX_SYSCALLS);
	__type(key, __u32);
	__type(value, __u8);
} path_arguments SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, PROFILE_LOST_COUNTERS);
	__type(key, __u32);
	__type(value, __u64);
} lost SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
	__type(key, __u32);
	__type(value, __u32);
} events SEC(".maps");

/*
 * Data that does not fit on the stack of 512 bytes, and the state of loops. The verifier assumes
 * nothing about data in a map, so it verifies the body of a loop only once.
 */
struct scratch {
	__u64 words[CHUNK_WORDS];
	__u64 sp;
	__u64 code_start, code_size, libraries_start, libraries_size;
	__u64 hash;
	__u32 found;		/* number of return addresses */
	__u32 chunks;		/* number of chunks copied */
	__u32 absolute;		/* the path begins with a slash */
	__u32 slash;		/* it has a slash after its first character */
	char path[PATH_BYTES];
	struct profile_exec exec;
	struct profile_stack stack;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct scratch);
} scratches SEC(".maps");

/* The tool finds these variables by their sections, and sets the first two. */

/* The number of the newest program. */
__u32 last_program SEC(".data.last_program");

/* A call that only looks up a name is slow if it takes longer than this on a CPU. The tool sets it. */
volatile const __u64 slow_ns SEC(".rodata.slow_ns");

/* Calls of all programs, for the tool to show progress. */
__u64 calls_so_far SEC(".bss.calls_so_far");

static void count_lost(__u32 what)
{
	__u64 *counter = bpf_map_lookup_elem(&lost, &what);

	if (counter)
		__sync_fetch_and_add(counter, 1);
}

static struct thread *find_thread(__u32 tid)
{
	return bpf_map_lookup_elem(&threads, &tid);
}

static struct profile_program *find_program(__u32 number)
{
	return bpf_map_lookup_elem(&programs, &number);
}

static struct scratch *find_scratch(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&scratches, &zero);
}

static __u64 mix(__u64 hash, __u64 word)
{
	hash = (hash ^ word) * 0x9e3779b97f4a7c15ul;
	return hash ^ (hash >> 29);
}

static long scan_word(__u32 i, void *context)
{
	struct scratch *scratch = *(struct scratch **)context;
	__u64 word;

	if (i % CHUNK_WORDS == 0 &&
	    bpf_probe_read_user(scratch->words, sizeof(scratch->words),
				(void *)(scratch->sp + i * sizeof(__u64))))
		return 1;
	word = scratch->words[i % CHUNK_WORDS];
	if (word - scratch->code_start >= scratch->code_size &&
	    word - scratch->libraries_start >= scratch->libraries_size)
		return 0;
	scratch->hash = mix(scratch->hash, word);
	return ++scratch->found >= PLACE_ADDRESSES;
}

/* Return the place of a call: a hash of its address and of words that may be return addresses. */
static __u64 find_place(const struct profile_program *program, struct scratch *scratch,
			__u32 nr, __u64 ip, __u64 sp)
{
	scratch->sp = sp;
	scratch->code_start = program->code_start;
	scratch->code_size = program->code_end - program->code_start;
	scratch->libraries_start = program->libraries_start;
	scratch->libraries_size = program->libraries_end - program->libraries_start;
	scratch->hash = mix(nr, ip);
	scratch->found = 0;
	bpf_loop(SCAN_CHUNKS * CHUNK_WORDS, scan_word, &scratch, 0);
	return scratch->hash ? scratch->hash : 1;
}

static long copy_chunk(__u32 i, void *context)
{
	struct scratch *scratch = *(struct scratch **)context;

	if (i >= PROFILE_STACK_CHUNKS ||
	    bpf_probe_read_user(scratch->stack.stack + i * PROFILE_CHUNK, PROFILE_CHUNK,
				(void *)(scratch->sp + i * PROFILE_CHUNK)))
		return 1;
	scratch->chunks = i + 1;
	return 0;
}

/* Send the stack of a new place. If the stack is lost, the place stays new. */
static void send_stack(void *ctx, const struct pt_regs *regs, struct scratch *scratch,
		       const struct thread *thread, __u32 tgid)
{
	struct profile_place_key key = { .program = thread->program, .place = thread->place };
	struct profile_stack *stack = &scratch->stack;
	__u64 bytes;
	__u8 sent = 1;
	long error;

	if (bpf_map_lookup_elem(&places, &key))
		return;
	/* Another thread has sent it meanwhile, or the map is full: then it would be sent at each call. */
	error = bpf_map_update_elem(&places, &key, &sent, BPF_NOEXIST);
	if (error) {
		if (error != -EEXIST)
			count_lost(PROFILE_LOST_PLACES);
		return;
	}
	stack->head.event.type = PROFILE_STACK;
	stack->head.event.program = thread->program;
	stack->head.event.tgid = tgid;
	stack->head.event.nr = thread->nr;
	stack->head.event.time = bpf_ktime_get_ns();
	stack->head.place = thread->place;
	stack->head.ip = regs->ip;
	stack->head.sp = regs->sp;
	stack->head.bp = regs->bp;
	stack->head.bx = regs->bx;
	stack->head.r12 = regs->r12;
	stack->head.r13 = regs->r13;
	stack->head.r14 = regs->r14;
	stack->head.r15 = regs->r15;
	scratch->sp = regs->sp;
	scratch->chunks = 0;
	bpf_loop(PROFILE_STACK_CHUNKS, copy_chunk, &scratch, 0);
	bytes = scratch->chunks * PROFILE_CHUNK;
	if (bytes > sizeof(stack->stack))
		return;
	stack->head.bytes = bytes;
	if (bpf_perf_event_output(ctx, &events, BPF_F_CURRENT_CPU, stack,
				  __builtin_offsetof(struct profile_stack, stack) + bytes))
		bpf_map_delete_elem(&places, &key);
}

static long find_slash(__u32 i, void *context)
{
	struct scratch *scratch = *(struct scratch **)context;

	if (i >= PATH_BYTES)
		return 1;
	if (!i) {
		scratch->absolute = scratch->path[i] == '/';
		return 0;
	}
	scratch->slash = scratch->path[i] == '/';
	return scratch->slash;
}

/* The file that the C library looks at for the local time, unless TZ is set. */
static const char time_zone[] = "/etc/localtime";

/* Classify the path that is an argument of the call. */
static void classify_path(const struct pt_regs *regs, struct scratch *scratch,
			  struct thread *thread)
{
	__u32 nr = thread->nr;
	__u8 *path_argument = bpf_map_lookup_elem(&path_arguments, &nr), argument;
	__u64 address;
	long length;

	thread->empty_path = 0;
	thread->one_component = 0;
	thread->in_directory = 0;
	thread->time_zone = 0;
	thread->resolves = 0;
	thread->walked = 0;
	thread->looks_up = 0;
	/* realpath() of a relative name begins with the working directory. */
	if (nr == __NR_getcwd)
		thread->resolving = 0;
	if (!path_argument || !*path_argument)
		return;
	argument = *path_argument & ~PROFILE_LOOKS_UP;
	switch (argument) {
	case 1:
		address = regs->di;
		break;
	case 2:
		address = regs->si;
		break;
	case 3:
		address = regs->dx;
		break;
	default:
		return;
	}
	length = bpf_probe_read_user_str(scratch->path, PATH_BYTES, (void *)address);
	if (length <= 1) {
		thread->empty_path = 1;
		return;
	}
	thread->looks_up = *path_argument & PROFILE_LOOKS_UP;
	/* The length contains the zero byte at the end. */
	thread->walked = scratch->path[0] == '.' &&
			 (length == 2 || (length == 3 && scratch->path[1] == '.'));
	scratch->slash = 0;
	bpf_loop(length, find_slash, &scratch, 0);
	thread->one_component = !scratch->slash && !scratch->absolute;
	/* The argument before such a path is the descriptor of a directory. */
	thread->in_directory = thread->one_component && argument == 2 &&
			       (int)regs->di != AT_FDCWD;
	/* That of an absolute name begins with the first component. */
	thread->resolves = nr == __NR_readlink && scratch->absolute && !scratch->slash;
	thread->resolving |= thread->resolves;
	thread->time_zone = length == sizeof(time_zone) &&
			    !bpf_strncmp(scratch->path, sizeof(time_zone), time_zone);
}

/* Note whether the call opens a file in a way for which the module walks its path as the kernel does. */
static void classify_flags(const struct pt_regs *regs, struct thread *thread)
{
	thread->walked |= thread->nr == __NR_creat ||
			  (thread->nr == __NR_open && COSY_PRELOAD_WALKS(regs->si)) ||
			  (thread->nr == __NR_openat && COSY_PRELOAD_WALKS(regs->dx));
}

/* Note the descriptor of a read, and compare that of a write with it. */
static void classify_descriptor(const struct pt_regs *regs, struct thread *thread)
{
	thread->same_descriptor = 0;
	if (thread->nr == __NR_read)
		thread->last_read = 1 + (__u32)regs->di;
	else if (thread->nr == __NR_write)
		thread->same_descriptor = thread->last_read == 1 + (__u32)regs->di;
}

/* Count the form of a name that was looked up in the dentry cache. The call has returned @ret. */
static void count_name(struct profile_edge *edge, const struct thread *thread, long ret)
{
	if (ret == -ENOENT)
		__sync_fetch_and_add(&edge->missing, 1);
	if (thread->walked)
		__sync_fetch_and_add(&edge->walked, 1);
	if (thread->one_component)
		__sync_fetch_and_add(&edge->one_component, 1);
	if (thread->in_directory)
		__sync_fetch_and_add(&edge->in_directory, 1);
}

/* Count a call that has returned @ret, or will not return. */
static void count_call(struct thread *thread, long ret, __u64 kernel_ns, __u64 wait_ns)
{
	struct profile_edge_key key = {
		.program = thread->program, .nr = thread->nr,
		.from = thread->from, .to = thread->place,
	};
	struct profile_edge *edge = bpf_map_lookup_elem(&edges, &key);

	if (!edge) {
		struct profile_edge new = {};

		/* If another thread was first, the look-up finds its entry. */
		bpf_map_update_elem(&edges, &key, &new, BPF_NOEXIST);
		edge = bpf_map_lookup_elem(&edges, &key);
	}
	if (!edge) {
		count_lost(PROFILE_LOST_EDGES);
		return;
	}
	__sync_fetch_and_add(&edge->count, 1);
	__sync_fetch_and_add(&edge->user_ns, thread->user_ns);
	__sync_fetch_and_add(&edge->kernel_ns, kernel_ns);
	if (wait_ns)
		__sync_fetch_and_add(&edge->wait_ns, wait_ns);
	if (ret < 0 && ret >= -4095)
		__sync_fetch_and_add(&edge->failed, 1);
	if (thread->looks_up && kernel_ns > slow_ns)
		__sync_fetch_and_add(&edge->slow, 1);
	else
		count_name(edge, thread, ret);
	if (thread->empty_path)
		__sync_fetch_and_add(&edge->empty_path, 1);
	if (thread->time_zone)
		__sync_fetch_and_add(&edge->time_zone, 1);
	if (thread->resolves)
		__sync_fetch_and_add(&edge->resolves, 1);
	if (thread->nr == __NR_readlink && thread->resolving)
		__sync_fetch_and_add(&edge->resolving, 1);
	if (thread->same_descriptor)
		__sync_fetch_and_add(&edge->same_descriptor, 1);
}

/* Return the time on a CPU in the window that ends at @now. */
static __u64 window_on_cpu(const struct thread *thread, __u64 now)
{
	__u64 length = now - thread->begin;

	return thread->begin && length > thread->off_ns ? length - thread->off_ns : 0;
}

/* Begin a window now. The work here began at @began. */
static void begin_window(struct thread *thread, struct profile_program *program, __u64 began)
{
	__u64 now = bpf_ktime_get_ns();

	thread->off_ns = 0;
	thread->begin = now;
	__sync_fetch_and_add(&program->record_ns, now - began);
}

/* Return true if the call has the number of a call of 32-bit code, which 64-bit code makes by INT 0x80. */
static bool is_compat(const struct pt_regs *regs)
{
	return regs->cs != USER64_CS ||
	       bpf_get_current_task_btf()->thread_info.status & TS_COMPAT;
}

static bool never_returns(__u32 nr)
{
	return nr == __NR_exit || nr == __NR_exit_group;
}

SEC("tp_btf/sys_enter")
int BPF_PROG(enter, struct pt_regs *regs, long id)
{
	__u64 now = bpf_ktime_get_ns(), both = bpf_get_current_pid_tgid();
	struct thread *thread = find_thread(both);
	struct profile_program *program;
	struct scratch *scratch;

	if (!thread)
		return 0;
	program = find_program(thread->program);
	scratch = find_scratch();
	if (!program || !scratch)
		return 0;
	if (is_compat(regs)) {
		count_lost(PROFILE_LOST_COMPAT);
		thread->in_call = 0;
		thread->from = 0;
		begin_window(thread, program, now);
		return 0;
	}
	thread->user_ns = window_on_cpu(thread, now);
	thread->nr = id;
	thread->in_call = 1;
	thread->place = find_place(program, scratch, thread->nr, regs->ip, regs->sp);
	send_stack(ctx, regs, scratch, thread, both >> 32);
	classify_path(regs, scratch, thread);
	classify_flags(regs, thread);
	classify_descriptor(regs, thread);
	__sync_fetch_and_add(&program->calls, 1);
	__sync_fetch_and_add(&calls_so_far, 1);
	if (never_returns(thread->nr))
		count_call(thread, 0, 0, 0);
	begin_window(thread, program, now);
	return 0;
}

/* Extend the range of the libraries by an executable mapping. */
static void note_mapping(struct profile_program *program, __u64 start, __u64 size)
{
	__u64 end = start + size;

	if (!program->libraries_start) {
		program->libraries_start = start;
		program->libraries_end = end;
	} else if (start + LIBRARY_GAP > program->libraries_start &&
		   end < program->libraries_end + LIBRARY_GAP) {
		if (start < program->libraries_start)
			program->libraries_start = start;
		if (end > program->libraries_end)
			program->libraries_end = end;
	}
}

SEC("tp_btf/sys_exit")
int BPF_PROG(leave, struct pt_regs *regs, long ret)
{
	__u64 now = bpf_ktime_get_ns();
	struct thread *thread = find_thread(bpf_get_current_pid_tgid());
	struct profile_program *program;

	if (!thread)
		return 0;
	program = find_program(thread->program);
	if (!program)
		return 0;
	if (thread->in_call) {
		if (!never_returns(thread->nr))
			count_call(thread, ret, window_on_cpu(thread, now), thread->off_ns);
		if (thread->nr == NR_MMAP && (regs->dx & PROT_EXEC) && (ret > 0 || ret < -4095))
			note_mapping(program, ret, regs->si);
		thread->from = thread->place;
		thread->in_call = 0;
	}
	begin_window(thread, program, now);
	return 0;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(switch_task, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	struct thread *thread = find_thread(prev->pid);
	struct profile_program *program;
	__u64 now = bpf_ktime_get_ns();

	if (thread) {
		thread->switched_out = now;
		program = find_program(thread->program);
		if (program && thread->switched_in)
			__sync_fetch_and_add(&program->cpu_ns, now - thread->switched_in);
	}
	thread = find_thread(next->pid);
	if (thread) {
		if (thread->switched_out)
			thread->off_ns += now - thread->switched_out;
		thread->switched_in = now;
	}
	return 0;
}

SEC("tp_btf/sched_process_fork")
int BPF_PROG(fork, struct task_struct *parent, struct task_struct *child)
{
	struct thread *thread = find_thread(parent->pid), new = {};
	struct profile_program *program;
	__u32 tid = child->pid;

	if (!thread)
		return 0;
	new.program = thread->program;
	new.from = thread->place;
	if (bpf_map_update_elem(&threads, &tid, &new, BPF_ANY)) {
		count_lost(PROFILE_LOST_THREADS);
		return 0;
	}
	program = find_program(thread->program);
	if (program)
		__sync_fetch_and_add(child->tgid == parent->tgid ? &program->threads :
								   &program->forks, 1);
	return 0;
}

SEC("tp_btf/sched_process_free")
int BPF_PROG(free_task, struct task_struct *task)
{
	__u32 tid = task->pid;

	bpf_map_delete_elem(&threads, &tid);
	return 0;
}

/* Tell the tool that program @number begins. */
static void send_exec(void *ctx, struct task_struct *task, __u32 number, __u32 parent, __u64 now)
{
	struct scratch *scratch = find_scratch();
	struct profile_exec *exec;
	__u64 start, bytes;

	if (!scratch)
		return;
	exec = &scratch->exec;
	exec->event.type = PROFILE_EXEC;
	exec->event.program = number;
	exec->event.tgid = task->tgid;
	exec->event.nr = 0;
	exec->event.time = now;
	exec->parent = parent;
	start = task->mm->arg_start;
	bytes = task->mm->arg_end - start;
	if (bytes > PROFILE_ARGUMENTS)
		bytes = PROFILE_ARGUMENTS;
	if (bpf_probe_read_user(exec->arguments, bytes, (void *)start))
		bytes = 0;
	exec->bytes = bytes;
	bpf_perf_event_output(ctx, &events, BPF_F_CURRENT_CPU, exec, sizeof(*exec));
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(exec, struct task_struct *task, int old_tid, struct linux_binprm *binprm)
{
	struct thread *thread = find_thread(old_tid), moved;
	struct profile_program *program;
	__u64 now = bpf_ktime_get_ns();
	__u32 tid = task->pid, number, parent;

	if (!thread)
		return 0;
	/* A thread that is not the first one gets the number of the first one. */
	if (old_tid != task->pid) {
		moved = *thread;
		bpf_map_update_elem(&threads, &tid, &moved, BPF_ANY);
		thread = find_thread(tid);
		if (!thread)
			return 0;
	}
	if (thread->in_call)
		count_call(thread, 0, window_on_cpu(thread, now), thread->off_ns);
	number = __sync_fetch_and_add(&last_program, 1) + 1;
	program = find_program(number);
	if (!program) {
		count_lost(PROFILE_LOST_PROGRAMS);
		return 0;
	}
	parent = thread->program;
	thread->program = number;
	thread->in_call = 0;
	thread->place = 0;
	thread->from = 0;
	program->tgid = task->tgid;
	program->code_start = task->mm->start_code;
	program->code_end = task->mm->end_code;
	send_exec(ctx, task, number, parent, now);
	return 0;
}

char _license[] SEC("license") = "GPL";
