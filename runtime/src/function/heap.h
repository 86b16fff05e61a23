/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * heap.h - an allocator for a given piece of memory.
 *
 * This is Boost.Interprocess's best-fit allocator. Its data is in that memory, beside the blocks.
 * The caller locks.
 */
#ifndef COSY_HEAP_H
#define COSY_HEAP_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** struct cosy_heap - opaque; it is at the beginning of the memory */
struct cosy_heap;

/* The maximum number of bytes that a block takes in addition to its size. */
#define COSY_HEAP_OVERHEAD 64

/** cosy_heap_init() - make a heap of @size bytes at @memory, which is page-aligned */
struct cosy_heap *cosy_heap_init(void *memory, size_t size);

/** cosy_heap_grow() - add the @size bytes after its memory to a heap */
void cosy_heap_grow(struct cosy_heap *heap, size_t size);

/**
 * cosy_heap_alloc() - allocate a block
 * @heap:      the heap
 * @size:      its size in bytes, not 0
 * @alignment: a power of two
 *
 * Return: the block, for cosy_heap_free(); or NULL.
 */
void *cosy_heap_alloc(struct cosy_heap *heap, size_t size, size_t alignment);

/** cosy_heap_expand() - make a block at least @size bytes long without moving it; or false */
bool cosy_heap_expand(struct cosy_heap *heap, void *block, size_t size);

/** cosy_heap_size() - return the number of bytes of a block that can be used */
size_t cosy_heap_size(const struct cosy_heap *heap, const void *block);

/** cosy_heap_unused() - return the number of bytes that are in no block */
size_t cosy_heap_unused(const struct cosy_heap *heap);

/** cosy_heap_free() - free a block */
void cosy_heap_free(struct cosy_heap *heap, void *block);

#ifdef __cplusplus
}
#endif

#endif /* COSY_HEAP_H */
