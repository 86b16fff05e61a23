//===-- heap.cpp - An allocator that keeps to its memory ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The only C++ in libcosy: headers, no library. Compiled without exceptions;
// what would throw is asked not to.
//
//===----------------------------------------------------------------------===//

#include "function/heap.h"

#include <boost/interprocess/mem_algo/rbtree_best_fit.hpp>
#include <boost/interprocess/offset_ptr.hpp>
#include <boost/interprocess/sync/mutex_family.hpp>

using namespace boost::interprocess;

namespace {
/// The caller locks.
using Heap = rbtree_best_fit<null_mutex_family, offset_ptr<void>>;

Heap *heapOf(cosy_heap *H) { return reinterpret_cast<Heap *>(H); }

/// Makes \p Block at least \p Size bytes where it is. \returns null if it
/// cannot.
template <class H>
auto expand(H &Of, char *Block, typename H::size_type Size, int)
    -> decltype(Of.template allocation_command<char>(expand_fwd, Size, Size,
                                                     Block)) {
  typename H::size_type Got = Size;
  return Of.template allocation_command<char>(expand_fwd | nothrow_allocation,
                                              Size, Got, Block);
}

/// The same for Boost 1.92, whose function does not know the type of objects.
template <class H>
void *expand(H &Of, void *Block, typename H::size_type Size, long) {
  typename H::size_type Got = Size;
  return Of.allocation_command(expand_fwd | nothrow_allocation, Size, Got,
                               Block, 1, 1);
}
} // namespace

cosy_heap *cosy_heap_init(void *Memory, size_t Size) {
  return reinterpret_cast<cosy_heap *>(
      ::new (Memory, boost_container_new_t()) Heap(Size, 0));
}

void cosy_heap_grow(cosy_heap *H, size_t Size) { heapOf(H)->grow(Size); }

void *cosy_heap_alloc(cosy_heap *H, size_t Size, size_t Alignment) {
  if (Alignment <= Heap::Alignment)
    return heapOf(H)->allocate(Size);
  return heapOf(H)->allocate_aligned(Size, Alignment);
}

bool cosy_heap_expand(cosy_heap *H, void *Block, size_t Size) {
  return expand(*heapOf(H), static_cast<char *>(Block), Size, 0);
}

size_t cosy_heap_size(const cosy_heap *H, const void *Block) {
  return reinterpret_cast<const Heap *>(H)->size(Block);
}

size_t cosy_heap_unused(const cosy_heap *H) {
  return reinterpret_cast<const Heap *>(H)->get_free_memory();
}

void cosy_heap_free(cosy_heap *H, void *Block) { heapOf(H)->deallocate(Block); }
