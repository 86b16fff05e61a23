; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; Numbers that are no system call, for example to get ENOSYS: -1, -2, and 39 (getpid) in the low half.
; Memory that is not initialized contains garbage.
; RUN: MALLOC_PERTURB_=165 %opt -S -passes=cosy-recognise %s | FileCheck %s
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

define internal void @body() "cosy-state"="legal" {
; CHECK-LABEL: define internal void @body(
; CHECK-NEXT: call i64 (i64, ...) @syscall(i64 -1)
; CHECK-NEXT: call i64 (i64, ...) @syscall(i64 -2)
; CHECK-NEXT: call i64 (i64, ...) @syscall(i64 4294967335)
  %a = call i64 (i64, ...) @syscall(i64 -1)
  %b = call i64 (i64, ...) @syscall(i64 -2)
  %c = call i64 (i64, ...) @syscall(i64 4294967335)
  call void (i32, ...) @cosy.exit(i32 0, i64 %a, i64 %b, i64 %c)
  ret void
}

declare void @cosy.exit(i32, ...)
declare i64 @syscall(i64, ...)
