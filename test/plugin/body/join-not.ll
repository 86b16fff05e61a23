; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; Another thread may see a store between them before the read, so they stay two calls.
; RUN: %opt -S -passes=cosy-join %s | FileCheck %s
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

define internal void @body(i32 %fd, ptr %buf, ptr %p) "cosy-state"="recognised" {
; CHECK-LABEL: define internal void @body(
; CHECK: call i64 @cosy.sys.lseek(i32 %fd, i64 0, i32 0){{$}}
; CHECK-NEXT: store i64 1, ptr %p
; CHECK: !"not joined with a call after it: something else is done between them"
  %o = call i64 @cosy.sys.lseek(i32 %fd, i64 0, i32 0)
  store i64 1, ptr %p
  %r = call i64 @cosy.sys.read(i32 %fd, ptr %buf, i64 8)
  call void (i32, ...) @cosy.exit(i32 0, i64 %r)
  ret void
}

declare void @cosy.exit(i32, ...)
declare i32 @cosy.sys.openat(i64, ptr, i32, i64) "cosy-system-call"="257"
declare i64 @cosy.sys.read(i32, ptr, i64) "cosy-system-call"="0"
declare i64 @cosy.sys.lseek(i32, i64, i32) "cosy-system-call"="8"
declare i32 @cosy.sys.close(i32) "cosy-system-call"="3"
