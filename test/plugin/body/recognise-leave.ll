; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; fork() cannot be made inside another system call, and printf() is not one: both stay.
; RUN: %opt -S -passes=cosy-recognise %s | FileCheck %s
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

define internal void @body(ptr %format) "cosy-state"="legal" {
; CHECK-LABEL: define internal void @body(
; CHECK-NEXT: call i32 @fork()
; CHECK-NEXT: call i32 (ptr, ...) @printf(ptr %format)
  %pid = call i32 @fork()
  %n = call i32 (ptr, ...) @printf(ptr %format)
  call void (i32, ...) @cosy.exit(i32 0)
  ret void
}

declare void @cosy.exit(i32, ...)
declare i32 @fork()
declare i32 @printf(ptr, ...)
