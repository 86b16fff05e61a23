#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# inject-points.sh MODULE POINTS - check that points.def contains all imports of the module that
# allocate, copy, transfer or register.
set -u
module=$1 points=$2
asks='alloc|vmap|copy_(from|to|page|folio)|get_user_|put_user_|from_user|get_unused_fd|_getfile$|^(xa_store|__xa_cmpxchg)$|^sock_(send|recv)msg$|^register_|_register$'
# Names that look like allocations: caches are data, and the kernel's macros of tracepoints request
# perf's buffers for recording. A preempt notifier is registered without a result. Releasing a page of a
# device cannot fail.
not='^(kmalloc_caches|perf_trace_buf_alloc|preempt_notifier_register|(__put_)?devmap_managed_[a-z_]+)$'

missing=$(nm -u "$module" | awk '{ print $2 }' | grep -E "$asks" | grep -Ev "$not" | while read -r name; do
	grep -q "^POINT($name," "$points" || echo "$name"
done)
if [ -n "$missing" ]; then
	echo "FAILED: not in $points: $(echo "$missing" | paste -sd " ")"
	exit 1
fi
