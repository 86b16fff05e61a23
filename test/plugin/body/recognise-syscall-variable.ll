; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; The system call is not known, so it remains a call of libc, an up-call.
; RUN: %opt -S -passes=cosy-recognise %s | FileCheck %s
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

define internal void @body(i64 %number) "cosy-state"="legal" {
; CHECK-LABEL: define internal void @body(
; CHECK-NEXT: call i64 (i64, ...) @syscall(i64 %number)
  %result = call i64 (i64, ...) @syscall(i64 %number)
  call void (i32, ...) @cosy.exit(i32 0, i64 %result)
  ret void
}

declare void @cosy.exit(i32, ...)
declare i64 @syscall(i64, ...)
