; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; A seek and the read after it are made at once (hint 8). The code between them is moved before
; both.
; RUN: %opt -S -passes=cosy-join %s | FileCheck %s
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

define internal void @body(i32 %fd, ptr %buf, i64 %n) "cosy-state"="recognised" {
; CHECK-LABEL: define internal void @body(
; CHECK-NEXT: [[SIZE:%.*]] = mul i64 %n, 2
; CHECK-NEXT: call i64 @cosy.sys.lseek(i32 %fd, i64 0, i32 0), !cosy.hints ![[HINTS:[0-9]+]]
; CHECK-NEXT: call i64 @cosy.sys.read(i32 %fd, ptr %buf, i64 [[SIZE]])
; CHECK: ![[HINTS]] = !{i32 8}
  %o = call i64 @cosy.sys.lseek(i32 %fd, i64 0, i32 0)
  %size = mul i64 %n, 2
  %r = call i64 @cosy.sys.read(i32 %fd, ptr %buf, i64 %size)
  call void (i32, ...) @cosy.exit(i32 0, i64 %r)
  ret void
}

declare void @cosy.exit(i32, ...)
declare i32 @cosy.sys.openat(i64, ptr, i32, i64) "cosy-system-call"="257"
declare i64 @cosy.sys.read(i32, ptr, i64) "cosy-system-call"="0"
declare i64 @cosy.sys.lseek(i32, i64, i32) "cosy-system-call"="8"
declare i32 @cosy.sys.close(i32) "cosy-system-call"="3"
