; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; A seek from the end (whence 2) is needed to compute the offset, so it is not joined.
; RUN: %opt -S -passes=cosy-join %s | FileCheck %s
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

define internal void @body(i32 %fd, ptr %buf) "cosy-state"="recognised" {
; CHECK-LABEL: define internal void @body(
; CHECK-NEXT: call i64 @cosy.sys.lseek(i32 %fd, i64 0, i32 2){{$}}
  %o = call i64 @cosy.sys.lseek(i32 %fd, i64 0, i32 2)
  %r = call i64 @cosy.sys.read(i32 %fd, ptr %buf, i64 8)
  call void (i32, ...) @cosy.exit(i32 0, i64 %r)
  ret void
}

declare void @cosy.exit(i32, ...)
declare i32 @cosy.sys.openat(i64, ptr, i32, i64) "cosy-system-call"="257"
declare i64 @cosy.sys.read(i32, ptr, i64) "cosy-system-call"="0"
declare i64 @cosy.sys.lseek(i32, i64, i32) "cosy-system-call"="8"
declare i32 @cosy.sys.close(i32) "cosy-system-call"="3"
