; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; Leaving the kernel costs more than one addition.
; RUN: %opt -S -passes=cosy-outline %s | FileCheck %s
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

define internal void @body(i64 %a) "cosy-state"="recognised" {
; CHECK-LABEL: define internal void @body(
; CHECK: call i32 @cosy.sys.getpid()
; CHECK: add i64 %a, 1
; CHECK-NOT: define
  %pid = call i32 @cosy.sys.getpid()
  %b = add i64 %a, 1
  call void (i32, ...) @cosy.exit(i32 0, i64 %b)
  ret void
}

declare void @cosy.exit(i32, ...)
declare i32 @cosy.sys.getpid() "cosy-system-call"="39"
