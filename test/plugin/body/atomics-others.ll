; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; These stay: fences that need no instruction, accesses that are not aligned, and types that a
; register cannot contain.
; RUN: %opt -S -passes=cosy-atomics %s | FileCheck %s
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

define internal void @body(ptr %p) "cosy-state"="body" {
; CHECK-LABEL: define internal void @body(
; CHECK-NEXT: fence acq_rel
; CHECK-NEXT: fence syncscope("singlethread") seq_cst
; CHECK-NEXT: atomicrmw add ptr %p, i32 1 seq_cst, align 2
; CHECK-NEXT: atomicrmw xchg ptr %p, i128 1 seq_cst, align 16
; CHECK-NEXT: atomicrmw fadd ptr %p, double 1.000000e+00 seq_cst, align 8
; CHECK-NEXT: store atomic i64 1, ptr %p release, align 8
; CHECK-NEXT: load atomic i64, ptr %p seq_cst, align 8
; CHECK-NOT: cosy.cmpxchg
  fence acq_rel
  fence syncscope("singlethread") seq_cst
  %a = atomicrmw add ptr %p, i32 1 seq_cst, align 2
  %b = atomicrmw xchg ptr %p, i128 1 seq_cst, align 16
  %c = atomicrmw fadd ptr %p, double 1.0 seq_cst, align 8
  store atomic i64 1, ptr %p release, align 8
  %d = load atomic i64, ptr %p seq_cst, align 8
  call void (i32, ...) @cosy.exit(i32 0, i32 %a, i64 %d)
  ret void
}

declare void @cosy.exit(i32, ...)
