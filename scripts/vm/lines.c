/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * lines.c - a plugin of QEMU that counts accesses to memory that several CPUs use.
 *
 * A program in the VM marks an interval (bench/programs/marks.h). A line of memory is *shared* if one CPU
 * writes to it in the interval, and another one reads it or writes to it. What one CPU uses until another one
 * takes it over is not, so the users have to alternate at least MIN_MOVES times. At the end of the interval
 * the plugin prints the instructions of all CPUs, and all accesses to shared lines. So a line that CPUs use
 * at the same time counts with each access: QEMU runs one CPU after the other, for some 100,000 to some
 * 1,000,000 instructions each, so it would seem to move seldom from one cache to another.
 *
 * Arguments: out=FILE, what is printed is appended to it; size=N, bytes of a line (64).
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "plugin.h"

#define EXPORT	__attribute__((visibility("default")))

/* The version of the interface, from the version of QEMU for which this is compiled. */
EXPORT int qemu_plugin_version = COSY_PLUGIN_VERSION;

/* Of the VM's memory. */
#define MAX_MEMORY	(UINT64_C(4) << 30)
/* Lines that are used in one interval. */
#define MAX_USED	(1u << 22)
/* How often the CPU that uses a line has to change. */
#define MIN_MOVES	4
/* Lines with the most accesses that are printed. */
#define PRINTED		12

/**
 * struct line - a line of memory
 * @interval: the interval to which the rest belongs
 * @readers:  CPUs that have read it
 * @writers:  CPUs that have written to it
 * @atomics:  atomic read-modify-write accesses
 * @stores:   other writes
 * @loads:    other reads
 * @moves:    how often another CPU used it than the one that had written to it
 * @is_dirty: the CPU that has used it last has written to it
 * @last:     that CPU
 * @address:  virtual address of the last access
 * @write:    address of the last instruction that has written to it
 * @other:    address of the last instruction that another CPU than that has executed
 * @cpu:      the CPU that has executed @write
 */
struct line {
	uint32_t interval;
	uint32_t readers;
	uint32_t writers;
	uint32_t atomics;
	uint32_t stores;
	uint32_t loads;
	uint32_t moves;
	bool is_dirty;
	uint32_t last;
	uint64_t address;
	uint64_t write;
	uint64_t other;
	uint32_t cpu;
};

static struct line *lines;
static uint32_t *used, nused;
static uint64_t line_size = 64, instructions[2];
static uint32_t interval;
static bool counting;
static FILE *out;

static bool is_shared(const struct line *line)
{
	return line->moves >= MIN_MOVES;
}

static int compare(const void *a, const void *b)
{
	const struct line *x = &lines[*(const uint32_t *)a], *y = &lines[*(const uint32_t *)b];
	const uint64_t left = (uint64_t)x->atomics + x->stores + x->loads;
	const uint64_t right = (uint64_t)y->atomics + y->stores + y->loads;

	return left < right ? 1 : -(left > right);
}

static void begin(unsigned int cpu, void *data)
{
	(void)cpu;
	(void)data;
	interval++;
	nused = 0;
	instructions[0] = instructions[1] = 0;
	counting = true;
}

static void end(unsigned int cpu, void *data)
{
	uint64_t atomics = 0, stores = 0, loads = 0, moves = 0;
	uint32_t shared = 0;

	(void)cpu;
	(void)data;
	if (!counting)
		return;
	counting = false;
	for (uint32_t i = 0; i < nused; i++) {
		const struct line *line = &lines[used[i]];

		if (!is_shared(line))
			continue;
		used[shared++] = used[i];
		atomics += line->atomics;
		stores += line->stores;
		loads += line->loads;
		moves += line->moves;
	}
	fprintf(out, "user=%" PRIu64 " kernel=%" PRIu64 " lines=%u shared=%u atomics=%" PRIu64 " stores=%" PRIu64
		" loads=%" PRIu64 " moves=%" PRIu64 "\n", instructions[0], instructions[1], nused, shared, atomics,
		stores, loads, moves);
	qsort(used, shared, sizeof(*used), compare);
	for (uint32_t i = 0; i < shared && i < PRINTED; i++) {
		const struct line *line = &lines[used[i]];

		fprintf(out, "  address=%#" PRIx64 " atomics=%u stores=%u loads=%u moves=%u readers=%#x writers=%#x write=%#"
			PRIx64 " other=%#" PRIx64 "\n", line->address, line->atomics, line->stores, line->loads,
			line->moves, line->readers, line->writers, line->write, line->other);
	}
	fflush(out);
}

/* Return a line, which is cleared if the interval has not used it yet. */
static struct line *get_line(uint64_t physical)
{
	struct line *line = &lines[physical / line_size];

	if (line->interval != interval) {
		if (nused == MAX_USED) {
			fprintf(stderr, "lines.c: the interval uses too many lines\n");
			abort();
		}
		*line = (struct line){ .interval = interval };
		used[nused++] = (uint32_t)(physical / line_size);
	}
	return line;
}

/* Count an access by the instruction at @code. QEMU runs all CPUs in one thread, because the VM counts instructions. */
static void count(unsigned int cpu, qemu_plugin_meminfo_t info, uint64_t address, uint64_t code, bool is_atomic)
{
	const struct qemu_plugin_hwaddr *hwaddr;
	struct line *line;
	uint64_t physical;

	if (!counting)
		return;
	hwaddr = qemu_plugin_get_hwaddr(info, address);
	if (!hwaddr || qemu_plugin_hwaddr_is_io(hwaddr))
		return;
	physical = qemu_plugin_hwaddr_phys_addr(hwaddr);
	if (physical >= MAX_MEMORY)
		return;
	line = get_line(physical);
	line->address = address;
	if (cpu != line->last) {
		line->moves += line->is_dirty;
		line->is_dirty = false;
	}
	line->last = cpu;
	if (qemu_plugin_mem_is_store(info)) {
		line->is_dirty = true;
		line->writers |= 1u << cpu;
		line->write = code;
		line->cpu = cpu;
		*(is_atomic ? &line->atomics : &line->stores) += 1;
		return;
	}
	line->readers |= 1u << cpu;
	/* An atomic instruction is counted when it writes. */
	line->loads += !is_atomic;
	if (cpu != line->cpu)
		line->other = code;
}

static void access_memory(unsigned int cpu, qemu_plugin_meminfo_t info, uint64_t address, void *code)
{
	count(cpu, info, address, (uintptr_t)code, false);
}

static void access_atomically(unsigned int cpu, qemu_plugin_meminfo_t info, uint64_t address, void *code)
{
	count(cpu, info, address, (uintptr_t)code, true);
}

static void execute(unsigned int cpu, void *number)
{
	(void)cpu;
	if (counting)
		instructions[(uintptr_t)number & 1] += (uintptr_t)number >> 1;
}

/* Look at an instruction: one that marks an interval, or one that accesses memory. */
static void translate_one(struct qemu_plugin_insn *insn)
{
	char *text = qemu_plugin_insn_disas(insn);
	const bool is_exchange = !strncmp(text, "xchg", 4) && strchr(text, '(');
	const bool is_atomic = !strncmp(text, "lock", 4) || is_exchange;

	if (!strncmp(text, "nop", 3) && strstr(text, "0xc05b0"))
		qemu_plugin_register_vcpu_insn_exec_cb(insn, begin, QEMU_PLUGIN_CB_NO_REGS, NULL);
	if (!strncmp(text, "nop", 3) && strstr(text, "0xc05b1"))
		qemu_plugin_register_vcpu_insn_exec_cb(insn, end, QEMU_PLUGIN_CB_NO_REGS, NULL);
	qemu_plugin_register_vcpu_mem_cb(insn, is_atomic ? access_atomically : access_memory, QEMU_PLUGIN_CB_NO_REGS,
					 QEMU_PLUGIN_MEM_RW, (void *)(uintptr_t)qemu_plugin_insn_vaddr(insn));
	free(text);
}

static void translate(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	const size_t count = qemu_plugin_tb_n_insns(tb);
	const uint64_t in_kernel = qemu_plugin_insn_vaddr(qemu_plugin_tb_get_insn(tb, 0)) >> 63;

	(void)id;
	qemu_plugin_register_vcpu_tb_exec_cb(tb, execute, QEMU_PLUGIN_CB_NO_REGS,
					     (void *)(uintptr_t)(count << 1 | in_kernel));
	for (size_t i = 0; i < count; i++)
		translate_one(qemu_plugin_tb_get_insn(tb, i));
}

EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info_t *info, int argc, char **argv)
{
	(void)info;
	for (int i = 0; i < argc; i++) {
		if (!strncmp(argv[i], "out=", 4))
			out = fopen(argv[i] + 4, "a");
		else if (!strncmp(argv[i], "size=", 5))
			line_size = strtoull(argv[i] + 5, NULL, 0);
	}
	lines = mmap(NULL, MAX_MEMORY / 64 * sizeof(*lines), PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	used = malloc(MAX_USED * sizeof(*used));
	if (!out || lines == MAP_FAILED || !used || line_size < 64) {
		fprintf(stderr, "lines.c: usage: out=FILE[,size=N], and memory for it\n");
		return -1;
	}
	qemu_plugin_register_vcpu_tb_trans_cb(id, translate);
	return 0;
}
