; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; A call that is not libc's stays.
; RUN: %opt -S -passes=cosy-strings %s | FileCheck %s
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

define internal void @body(ptr %to, ptr %from) "cosy-state"="body" {
; CHECK-LABEL: define internal void @body(
; CHECK-NEXT: call ptr @strncpy(ptr %to, ptr %from, i64 8)
  %r = call ptr @strncpy(ptr %to, ptr %from, i64 8) nobuiltin
  call void (i32, ...) @cosy.exit(i32 0, ptr %r)
  ret void
}

declare void @cosy.exit(i32, ...)
declare ptr @strncpy(ptr, ptr, i64)
