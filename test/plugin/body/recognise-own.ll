; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; A function with libc's name that is defined here, or a call that is marked as not libc's, is an
; ordinary call.
; RUN: %opt -S -passes=cosy-recognise %s | FileCheck %s
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

define internal void @body(i32 %fd) "cosy-state"="legal" {
; CHECK-LABEL: define internal void @body(
; CHECK-NEXT: call i32 @close(i32 %fd) #
; CHECK-NEXT: call i32 @dup(i32 %fd)
  %a = call i32 @close(i32 %fd) nobuiltin
  %b = call i32 @dup(i32 %fd)
  call void (i32, ...) @cosy.exit(i32 0)
  ret void
}

declare void @cosy.exit(i32, ...)
declare i32 @close(i32)
define i32 @dup(i32 %fd) {
  ret i32 %fd
}
