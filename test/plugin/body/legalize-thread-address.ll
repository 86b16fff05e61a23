; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; The address of a thread-local variable is that of the thread that runs the region. It is
; computed once, in the entry block, for the host.
; RUN: %opt -S -passes=cosy-legalize %s | FileCheck %s
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

define internal void @body(i1 %again) "cosy-state"="body" {
; CHECK-LABEL: define internal void @body(
; CHECK-NEXT: entry:
; CHECK-NEXT: [[AT:%.*]] = call ptr @llvm.threadlocal.address.p0(ptr @v)
; CHECK-NEXT: br i1 %again
; CHECK-NOT: threadlocal
; CHECK: store i64 1, ptr [[AT]]
; CHECK: store i64 2, ptr [[AT]]
entry:
  br i1 %again, label %one, label %two
one:
  %p = call ptr @llvm.threadlocal.address.p0(ptr @v)
  store i64 1, ptr %p
  br label %two
two:
  %q = call ptr @llvm.threadlocal.address.p0(ptr @v)
  store i64 2, ptr %q
  call void (i32, ...) @cosy.exit(i32 0)
  ret void
}

declare void @cosy.exit(i32, ...)
declare ptr @llvm.threadlocal.address.p0(ptr)
@v = internal thread_local global i64 0
