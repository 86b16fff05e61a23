; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; Without launder.invariant.group, a load after it has the same address. It does not have the same result.
; RUN: %opt -S -passes=cosy-legalize %s | FileCheck %s
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

define internal void @body(ptr %p) "cosy-state"="body" {
; CHECK-LABEL: define internal void @body(
; CHECK-NEXT: load ptr, ptr %p, align 8{{$}}
; CHECK-NEXT: call void @change(ptr %p)
; CHECK-NEXT: load ptr, ptr %p, align 8{{$}}
  %a = load ptr, ptr %p, align 8, !invariant.group !0
  call void @change(ptr %p)
  %q = call ptr @llvm.launder.invariant.group.p0(ptr %p)
  %b = load ptr, ptr %q, align 8, !invariant.group !0
  call void (i32, ...) @cosy.exit(i32 0, ptr %a, ptr %b)
  ret void
}

declare void @change(ptr)
declare void @cosy.exit(i32, ...)
declare ptr @llvm.launder.invariant.group.p0(ptr)

!0 = !{}
