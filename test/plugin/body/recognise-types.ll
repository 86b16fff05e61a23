; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; Two wrappers of one system call with different results have separate declarations.
; RUN: %opt -S -passes=cosy-recognise %s | FileCheck %s
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

define internal void @body(i32 %fd, ptr %buf) "cosy-state"="legal" {
; CHECK-LABEL: define internal void @body(
; CHECK-NEXT: call i32 @cosy.sys.close(i32 %fd)
; CHECK-NEXT: call i64 @cosy.sys.close.1(i64 7)
; CHECK-NEXT: call i32 @cosy.sys.close(i32 8)
  %a = call i32 @close(i32 %fd)
  %b = call i64 (i64, ...) @syscall(i64 3, i64 7)
  %c = call i32 @close(i32 8)
  call void (i32, ...) @cosy.exit(i32 0)
  ret void
}

declare void @cosy.exit(i32, ...)
declare i32 @close(i32)
declare i64 @syscall(i64, ...)
