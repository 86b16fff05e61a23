; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; open() is openat() from the working directory, -100. A mode that is not given is 0.
; RUN: %opt -S -passes=cosy-recognise %s | FileCheck %s
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

define internal void @body(ptr %name) "cosy-state"="legal" {
; CHECK-LABEL: define internal void @body(
; CHECK-NEXT: call i32 @cosy.sys.openat(i64 -100, ptr %name, i32 0, i64 0)
  %fd = call i32 (ptr, i32, ...) @open(ptr %name, i32 0)
  call void (i32, ...) @cosy.exit(i32 0, i32 %fd)
  ret void
}

declare void @cosy.exit(i32, ...)
declare i32 @open(ptr, i32, ...)
