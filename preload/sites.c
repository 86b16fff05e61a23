// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * sites.c - sends the calls that glibc makes itself through the module.
 *
 * opendir(), fopen(), localtime() and other functions of glibc make their system calls at a few
 * places, each of which is
 *
 *	mov $NUMBER, %eax
 *	syscall
 *
 * The first instruction has five bytes, and is replaced by a jump to a stub (site-stubs.S). The
 * second one stays, and the stub continues there when the call has to be made natively. So its
 * address is the same as before for seccomp filters and dispatched system calls. Code that jumps to the
 * second instruction, and a thread that is between the two, go on as before.
 *
 * It is done once, after the process has called functions of libc.def. Nothing is changed if
 * anything is unexpected: another C library, bytes that differ (also because a debugger or another library has
 * replaced them), text that cannot be read or must not become writable, a seccomp filter, or
 * further threads, although they would see each jump as a whole.
 */
#include <linux/mman.h>
#include <stddef.h>

#include "device/file.h"
#include "device/probe.h"
#include "next.h"
#include "sites.h"
#include "symbols.h"
#include "watched.h"

/*
 * Redirecting the places costs about 55,000 instructions, and each call saves more than 1,000. It also divides
 * a mapping into three, and the kernel's structure of mappings makes mmap() cost 10,000 more with some
 * numbers of mappings. So other processes keep glibc's code.
 */
#define LIBC_CALLS	48

#define SIG_BLOCK	0
#define SIG_SETMASK	2

#define JUMP_SIZE	5
#define SYSCALL_SIZE	2
/* A place is not longer, and a function that contains it is not shorter. */
#define MAX_PLACE	16
/* Longer functions are not searched. */
#define MAX_FUNCTION	1024
/* Within a line of the cache, processors write a word by one access, also one that is not aligned. */
#define LINE	64
/* The text that is made writable. It contains all places in glibc 2.36. */
#define MAX_TEXT	(16 * COSY_PAGE)

void *cosy_sites[COSY_SITES];

_Static_assert(offsetof(struct cosy_call, nr) == COSY_SITE_CALL_NR, "nr");
_Static_assert(offsetof(struct cosy_call, status) == COSY_SITE_CALL_STATUS, "status");
_Static_assert(offsetof(struct cosy_call, args) == COSY_SITE_CALL_ARGS, "args");
_Static_assert(sizeof(struct cosy_call) == COSY_SITE_CALL_SIZE, "size");
_Static_assert(COSY_RUN_TAG == COSY_SITE_ENTRY, "tag");
_Static_assert(COSY_CALL_WHENCE == COSY_SITE_WHENCE, "whence");
_Static_assert(COSY_CALL_DONE >> 32 == COSY_SITE_DONE, "done");
_Static_assert(COSY_ROUTE_MODULE == COSY_SITE_ROUTE, "route");

/* What the stub does before the call, in place of the instruction that is replaced. */
enum prepare {
	nothing,
	set_cwd,
	skip_empty_path,
};

static const struct {
	char function[20];
	uint16_t nr;
	uint8_t occurrence;
	uint8_t prepare;
} sites[COSY_SITES] = {
#define COSY_SITE(site, function, name, occurrence, prepare) \
	{ #function, __NR_##name, occurrence, prepare },
#include "sites.def"
};

static bool equal(const unsigned char *a, const unsigned char *b, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		if (a[i] != b[i])
			return false;
	}
	return true;
}

/* Return the system call instruction that follows the number at @code; NULL if another does. */
static const unsigned char *call_after(const unsigned char *code, enum prepare prepare)
{
	static const unsigned char call[SYSCALL_SIZE] = { 0x0f, 0x05 };
	/* mov %rdi, %rsi; mov $AT_FDCWD, %edi: this function loads the number first. */
	static const unsigned char arguments[] = { 0x48, 0x89, 0xfe, 0xbf, 0x9c, 0xff, 0xff, 0xff };

	if (prepare == set_cwd) {
		if (!equal(code, arguments, sizeof(arguments)))
			return NULL;
		code += sizeof(arguments);
	}
	return equal(code, call, sizeof(call)) ? code : NULL;
}

/* Test each page once: @readable is the end of the page that was tested last. */
static bool can_read(const unsigned char *code, size_t size, uintptr_t *readable)
{
	uintptr_t page = (uintptr_t)code & -COSY_PAGE;

	for (; page < (uintptr_t)code + size; page += COSY_PAGE) {
		if (page + COSY_PAGE != *readable && !cosy_can_read(page))
			return false;
		*readable = page + COSY_PAGE;
	}
	return true;
}

/* Return the system call instruction of a place; NULL if it is not as expected. */
static const unsigned char *find(const struct link_map *libc, enum cosy_site site,
				 uintptr_t *readable)
{
	uint8_t occurrence = sites[site].occurrence;
	uint16_t nr = sites[site].nr;
	const unsigned char *code, *call;
	size_t size = 0;

	code = cosy_symbol_range(libc, sites[site].function, &size);
	if (!code || size < MAX_PLACE || size > MAX_FUNCTION || !can_read(code, size, readable))
		return NULL;
	for (size_t i = 0; i <= size - MAX_PLACE; i++) {
		/* mov $nr, %eax */
		if (code[i] != 0xb8 || code[i + 1] != (nr & 0xff) || code[i + 2] != nr >> 8 ||
		    code[i + 3] || code[i + 4])
			continue;
		call = call_after(code + i + JUMP_SIZE, sites[site].prepare);
		if (call && !occurrence--)
			return call;
	}
	return NULL;
}

/* Return the distance of the jump that ends at @call to the stub. */
static intptr_t distance(enum cosy_site site, const unsigned char *call)
{
	return (intptr_t)cosy_site_stubs + cosy_site_stubs[site] - (intptr_t)call;
}

/* A jump must be written by one access, and reach its stub. */
static bool can_jump(enum cosy_site site, const unsigned char *call)
{
	uintptr_t at = (uintptr_t)call - JUMP_SIZE;

	return at % LINE <= LINE - JUMP_SIZE &&
	       distance(site, call) == (int32_t)distance(site, call);
}

static void write_jump(enum cosy_site site, const unsigned char *call)
{
	uintptr_t at = (uintptr_t)call - JUMP_SIZE;
	/* The word is in one line. */
	uint64_t *word = (uint64_t *)(at % LINE <= LINE - sizeof(*word) ? at : at & -8ul);
	unsigned int shift = (at - (uintptr_t)word) * 8;
	uint64_t jump = 0xe9 | (uint64_t)(uint32_t)distance(site, call) << 8;
	uint64_t mask = 0xffffffffffull;
	uint64_t old = __atomic_load_n(word, __ATOMIC_RELAXED);

	if (__atomic_compare_exchange_n(word, &old, (old & ~(mask << shift)) | jump << shift,
					false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
		__atomic_store_n(&cosy_routes[COSY_FN_SITES + site], COSY_ROUTE_MODULE,
				 __ATOMIC_RELEASE);
}

static bool is_single_threaded(const struct link_map *libc)
{
	const char *single = cosy_symbol(libc, "__libc_single_threaded");

	return single && __atomic_load_n(single, __ATOMIC_RELAXED);
}

/* A filter may kill the process for making the text writable. */
static bool has_filter(int fd)
{
	struct cosy_info info = { .size = sizeof(info) };

	return cosy_sys(__NR_ioctl, fd, COSY_IOC_INFO, (long)&info) ||
	       !(info.flags & COSY_INFO_UNFILTERED);
}

/* Make the calls of the places through the module, which is open as @fd. */
static void redirect(int fd)
{
	uintptr_t first = UINTPTR_MAX, last = 0, readable = 0, at;
	const unsigned char *call;
	const struct link_map *libc;
	uint64_t all = ~0ull, mask;

	libc = cosy_libc();
	if (!libc || !is_single_threaded(libc) || has_filter(fd))
		return;
	for (int i = 0; i < COSY_SITES; i++) {
		call = find(libc, i, &readable);
		if (!call || !can_jump(i, call))
			continue;
		cosy_sites[i] = (void *)call;
		at = (uintptr_t)call - JUMP_SIZE;
		first = at < first ? at : first;
		last = at > last ? at : last;
	}
	first &= -COSY_PAGE;
	last = (last | (COSY_PAGE - 1)) + 1;
	if (first >= last || last - first > MAX_TEXT)
		return;
	/* It stays executable, so that it can be executed at any time. */
	cosy_sys6(__NR_rt_sigprocmask, SIG_BLOCK, (long)&all, (long)&mask, sizeof(mask), 0, 0);
	if (!cosy_sys(__NR_mprotect, (long)first, (long)(last - first),
		      PROT_READ | PROT_WRITE | PROT_EXEC)) {
		for (int i = 0; i < COSY_SITES; i++) {
			if (cosy_sites[i])
				write_jump(i, cosy_sites[i]);
		}
		cosy_sys(__NR_mprotect, (long)first, (long)(last - first), PROT_READ | PROT_EXEC);
	}
	cosy_sys6(__NR_rt_sigprocmask, SIG_SETMASK, (long)&mask, 0, sizeof(mask), 0, 0);
}

bool cosy_counts_libc = true;

void cosy_before_libc(void)
{
	static unsigned int counted;
	int device = cosy_count_call();

	if (device >= 0 && !cosy_opens_at_first_call() &&
	    __atomic_add_fetch(&counted, 1, __ATOMIC_RELAXED) < LIBC_CALLS)
		return;
	if ((device >= 0 || device == COSY_DEVICE_OFF) &&
	    __atomic_exchange_n(&cosy_counts_libc, false, __ATOMIC_RELAXED) &&
	    device >= 0 && !cosy_leaves_libc())
		redirect(device);
}
