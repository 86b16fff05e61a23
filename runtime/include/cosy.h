/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * cosy.h - mark regions of C to run as compound system calls.
 *
 *	#include <cosy.h>
 *
 *	COSY_START;
 *	fd = open(name, O_RDONLY);
 *	do {
 *		n = read(fd, buf, sizeof buf);
 *		total += n;
 *	} while (n == sizeof buf);
 *	close(fd);
 *	COSY_END;
 *
 * Compiled with the Cosy plugin, the region becomes a compound that the kernel
 * executes in one crossing. Any other compiler ignores the markers.
 * The region behaves the same in both cases.
 */
#ifndef COSY_H
#define COSY_H

/* The program's warning options apply to its own code, not to this header. */
#pragma GCC system_header

#include <stddef.h>
#include <stdint.h>

#include <cosy/options.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifdef __COSY_PLUGIN__
/*
 * The plugin replaces calls of these functions; without it, linking fails. Those without
 * arguments return a function, so that clang accepts COSY_START() and only the plugin
 * reports it.
 */
typedef void (*__cosy_marker)(void);
__cosy_marker __cosy_region_start(void) __attribute__((__nothrow__));
void __cosy_region_start_with(uint64_t option, ...)
	__attribute__((__nothrow__));
__cosy_marker __cosy_region_start_native(void) __attribute__((__nothrow__));
__cosy_marker __cosy_region_end(void) __attribute__((__nothrow__));
void __cosy_batch(uint64_t size, uint64_t id) __attribute__((__nothrow__));
void __cosy_batch_step(uint64_t id) __attribute__((__nothrow__));
#define COSY_START __cosy_region_start()
#define COSY_START_WITH(...) \
	__cosy_region_start_with(__VA_ARGS__, (uint64_t)COSY_OPTION_END)
#define COSY_START_NATIVE __cosy_region_start_native()
#define COSY_END __cosy_region_end()
#define COSY_BATCH(size) __cosy_batch((size), 0)
#else
/*
 * If the program or -DCOSY_REQUIRED defines COSY_REQUIRED, it does not compile without the
 * plugin. Otherwise it would have no regions.
 */
#ifdef COSY_REQUIRED
#error "COSY_REQUIRED: the Cosy plugin is missing; compile with cosy-cc"
#endif
/** COSY_START - a region begins here; a statement, in a function's body */
#define COSY_START ((void)0)
/**
 * COSY_START_WITH() - the same with options (cosy/options.h)
 *
 * The plugin adds the code that implements the options. So there is no
 * COSY_START_WITH() without it.
 */
#define COSY_START_WITH(...) \
	_Static_assert(0, "COSY_START_WITH needs the Cosy plugin (cosy-cc)")
/** COSY_START_NATIVE - the region stays machine code, for debugging */
#define COSY_START_NATIVE ((void)0)
/** COSY_END - the region ends here; in the same function */
#define COSY_END ((void)0)
/**
 * COSY_BATCH() - the iterations of the innermost loop around it are independent
 * @size: iterations in a batch, a constant of 1 to 4096; 0: the compiler chooses
 *
 *	do {
 *		struct stat st;
 *
 *		COSY_BATCH(64);
 *		if (skip(p))
 *			continue;
 *		COSY_START;
 *		r = lstat(p->name, &st);
 *		COSY_END;
 *		if (!r)
 *			use(p, &st);
 *	} while ((p = p->next));
 *
 * A statement in the body of a for, while or do loop that contains one region.
 * The plugin splits the loop: the code before the region of up to @size iterations,
 * then their regions in one compound, then the code after the region of these
 * iterations. COSY_BATCH(3) describes the promise that the program makes by this.
 */
#define COSY_BATCH(size) ((void)(size))
#endif

/** COSY_START_STOP_ON_ERROR - a region that ends when a system call fails */
#define COSY_START_STOP_ON_ERROR COSY_START_WITH(COSY_STOP_ON_ERROR)

/**
 * struct cosy_stop - why a region with options ended early
 * @file:     source file, as given to the compiler
 * @line:     the line of the system call that failed; or where the region was
 *	      when it reached its limit, 0 if that is not known
 * @function: the function the region is in
 * @call:     the function of libc that failed; NULL if it was a limit
 * @error:    errno at that moment; ETIME if it was a limit
 */
struct cosy_stop {
	const char *file;
	const char *function;
	const char *call;
	unsigned int line;
	int error;
};

/**
 * cosy_last_error() - why the last region with options ended early
 *
 * Return: NULL if the region with COSY_STOP_ON_ERROR or COSY_STOP that this
 * thread entered last ended by itself, or there was none; otherwise the reason, valid
 * until the thread enters the next one. Thread-safe, async-signal-safe.
 */
const struct cosy_stop *cosy_last_error(void);

/**
 * COSY_FUNCTION - a function that regions can call inside the kernel
 *
 *	COSY_FUNCTION
 *	static unsigned int sum(const unsigned char *p, size_t n)
 *
 * Written before a function's definition. The plugin compiles it, with the
 * functions of the same file that it calls and the constants it reads, to a program
 * that the kernel runs on memory from cosy_malloc(), if the process may load such
 * programs. Otherwise, and with other pointers, the native function is called.
 * See cosy-functions(7) for what it may contain.
 */
#ifdef __COSY_PLUGIN__
#define COSY_FUNCTION __attribute__((annotate("cosy_function")))
#else
#define COSY_FUNCTION
#endif

/**
 * COSY_OWN - a function of the program, although libc has a function of that name
 *
 *	COSY_OWN int link(struct node *from, struct node *to);
 *
 * Written at a declaration. Then a region calls the function, which is an up-call,
 * and makes no system call in its place. Without it, libcosy recognises such a function
 * when the program starts, and runs the region natively. See cosy-cc(1).
 */
#ifdef __COSY_PLUGIN__
#define COSY_OWN __attribute__((annotate("cosy_own")))
#else
#define COSY_OWN
#endif

/*
 * Compounds by hand, as in the paper's Cosy-Lib. cosy-as or the plugin makes the
 * image.
 */

/** struct cosy - a compound ready to run; opaque */
struct cosy;

/**
 * cosy_init() - prepare a compound
 * @image: the image (compound-ir/README.md); copied, not kept
 * @size:  its size in bytes
 *
 * Return: the compound, to be freed with cosy_free(); NULL with errno
 * EINVAL (not a valid image; cosy_error() says what is wrong), ENOMEM.
 * Thread-safe. Source: Cosy paper, 2.4.
 */
struct cosy *cosy_init(const void *image, size_t size);

/**
 * cosy_run() - run a compound to its end
 * @compound: from cosy_init()
 * @frame:    its registers: inputs set by the caller, outputs on return
 *
 * Runs in the kernel if possible, otherwise in user mode (COSY_EXECUTOR). A
 * compound with up-calls cannot be run this way.
 *
 * Return: the number of the exit; -1 with errno ENOTSUP (up-calls). Thread-safe,
 * also for the same compound in several threads; async-signal-safe. Takes 8 bytes
 * of stack for each register of the compound.
 */
int64_t cosy_run(struct cosy *compound, uint64_t *frame);

/**
 * cosy_free() - free a compound, or memory
 * @p: from cosy_init(), cosy_malloc() or a similar function, or NULL; no thread may be
 *     running the compound
 *
 * Any other pointer, or one that was freed before, ends the process by abort()
 * with a message. Thread-safe; not async-signal-safe.
 */
void cosy_free(void *p);

/**
 * cosy_error() - why the last cosy_init() of this thread failed
 *
 * Return: a text such as "offset 80: register number too large", valid until
 * the thread's next cosy_init(); "" if there was no failure.
 */
const char *cosy_error(void);

/*
 * Segments: the memory that user functions work on.
 *
 * A segment is 4 GiB of addresses with the same upper half. A function that runs
 * in the kernel can access only one segment. Pointers into it have the same meaning
 * in user mode and in the function. It can be used like any other memory: NULL and
 * the first and last 64 KiB are never part of it.
 *
 * All functions below are thread-safe and not async-signal-safe.
 */

/** struct cosy_segment - a segment; opaque */
struct cosy_segment;

/**
 * cosy_segment_create() - a new segment
 * @size: its maximum size in bytes; 0: 4 GiB less 128 KiB. Memory is taken only as it
 *	  is allocated
 *
 * Return: the segment; NULL with errno EINVAL (too large), ENOMEM.
 */
struct cosy_segment *cosy_segment_create(size_t size);

/**
 * cosy_segment_use() - choose the segment from which this thread allocates
 * @segment: the segment; NULL for the one that all threads share
 *
 * A thread begins with the shared one, which is created when it is first needed.
 *
 * Return: the segment that was chosen before; NULL for the shared one.
 */
struct cosy_segment *cosy_segment_use(struct cosy_segment *segment);

/**
 * cosy_segment_destroy() - free a segment, with all memory in it
 * @segment: from cosy_segment_create(), or NULL; no other thread may have chosen
 *	     it, no region may be using it
 */
void cosy_segment_destroy(struct cosy_segment *segment);

/**
 * cosy_malloc() - memory from the segment this thread has chosen
 * @size: bytes
 *
 * As malloc(). Any thread may free it by cosy_free().
 *
 * Return: the memory, aligned for everything; NULL with errno ENOMEM.
 */
void *cosy_malloc(size_t size);

/** cosy_calloc() - as calloc(), from the segment this thread has chosen */
void *cosy_calloc(size_t count, size_t size);

/**
 * cosy_realloc() - as realloc()
 * @p:	  memory from a segment, in which it stays; or NULL, then as cosy_malloc()
 * @size: bytes; 0 does not free it
 *
 * An address in a segment at which no block begins ends the process, as for cosy_free().
 *
 * Return: the memory; NULL with errno ENOMEM, or EINVAL (not of a segment).
 */
void *cosy_realloc(void *p, size_t size);

/**
 * cosy_aligned_alloc() - as aligned_alloc(), from the segment this thread has
 * chosen
 * @alignment: a power of two
 * @size:      bytes
 *
 * Return: the memory; NULL with errno ENOMEM, or EINVAL (alignment).
 */
void *cosy_aligned_alloc(size_t alignment, size_t size);

/**
 * cosy_usable_size() - the size of a block of memory
 * @p: memory from a segment, or NULL
 *
 * Return: its bytes, at least as many as were requested; 0 if @p is not from a segment.
 */
size_t cosy_usable_size(const void *p);

#ifdef __cplusplus
}
#endif

#endif /* COSY_H */
