; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; A loop of 1,000 iterations that makes no system call is a native function: as operations it
; would take several times as long.
; RUN: %opt -S -passes=cosy-outline %s | FileCheck %s
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

define internal void @body(ptr %p) "cosy-state"="recognised" {
; CHECK-LABEL: define internal void @body(
; CHECK-NOT: phi
; CHECK: call i64 @body.native.0(ptr %p)
; CHECK: call i32 @cosy.sys.getpid()
; CHECK-LABEL: define internal i64 @body.native.0(ptr
; CHECK: phi i64
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %sum = phi i64 [ 0, %entry ], [ %more, %loop ]
  %at = getelementptr i8, ptr %p, i64 %i
  %v = load i8, ptr %at
  %w = zext i8 %v to i64
  %more = add i64 %sum, %w
  %next = add i64 %i, 1
  %again = icmp ult i64 %next, 1000
  br i1 %again, label %loop, label %done
done:
  %pid = call i32 @cosy.sys.getpid()
  call void (i32, ...) @cosy.exit(i32 0, i64 %more)
  ret void
}

declare void @cosy.exit(i32, ...)
declare i32 @cosy.sys.getpid() "cosy-system-call"="39"
