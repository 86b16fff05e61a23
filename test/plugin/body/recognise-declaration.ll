; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; A function declared differently than in glibc's headers is not libc's: dup() takes an int.
; RUN: %opt -S -passes=cosy-recognise %s | FileCheck %s
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

define internal void @body(i64 %fd) "cosy-state"="legal" {
; CHECK-LABEL: define internal void @body(
; CHECK-NEXT: call i32 @dup(i64 %fd)
  %a = call i32 @dup(i64 %fd)
  call void (i32, ...) @cosy.exit(i32 0)
  ret void
}

declare void @cosy.exit(i32, ...)
declare i32 @dup(i64)
