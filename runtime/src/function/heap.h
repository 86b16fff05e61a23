/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * heap.h - an allocator that keeps to a piece of memory it is given.
 *
 * Boost.Interprocess's best-fit allocator, which keeps everything it knows in
 * that memory, after the blocks. Nothing here locks.
 */
#ifndef COSY_HEAP_H
#define COSY_HEAP_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** struct cosy_heap - at the beginning of its memory; opaque */
struct cosy_heap;

/** What a block takes besides its bytes, at most. */
#define COSY_HEAP_OVERHEAD 64

/** cosy_heap_init() - @size bytes at @memory, page-aligned, become a heap */
struct cosy_heap *cosy_heap_init(void *memory, size_t size);

/** cosy_heap_grow() - @size more bytes after its memory are its own, too */
void cosy_heap_grow(struct cosy_heap *heap, size_t size);

/**
 * cosy_heap_alloc() - a block
 * @size:      bytes, not 0
 * @alignment: a power of two
 *
 * Return: it, or NULL.
 */
void *cosy_heap_alloc(struct cosy_heap *heap, size_t size, size_t alignment);

/** cosy_heap_expand() - make a block at least @size bytes long, where it is */
bool cosy_heap_expand(struct cosy_heap *heap, void *block, size_t size);

/** cosy_heap_size() - bytes of a block that can be used */
size_t cosy_heap_size(const struct cosy_heap *heap, const void *block);

/** cosy_heap_unused() - bytes that are in no block */
size_t cosy_heap_unused(const struct cosy_heap *heap);

/** cosy_heap_free() - give a block back */
void cosy_heap_free(struct cosy_heap *heap, void *block);

#ifdef __cplusplus
}
#endif

#endif /* COSY_HEAP_H */
