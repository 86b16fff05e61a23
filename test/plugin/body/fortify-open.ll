; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; open() with two arguments may not create a file. O_RDONLY does not; with O_CREAT (64)
; the checking function aborts.
; RUN: %opt -S -passes=cosy-fortify %s | FileCheck %s
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

define internal void @body(ptr %name) "cosy-state"="body" {
; CHECK-LABEL: define internal void @body(
; CHECK-NEXT: call i32 (ptr, i32, ...) @"\01open"(ptr %name, i32 0)
; CHECK-NEXT: call i32 @__open_2(ptr %name, i32 64)
  %a = call i32 @__open_2(ptr %name, i32 0)
  %b = call i32 @__open_2(ptr %name, i32 64)
  call void (i32, ...) @cosy.exit(i32 0)
  ret void
}

declare void @cosy.exit(i32, ...)
declare i32 @__open_2(ptr, i32)
