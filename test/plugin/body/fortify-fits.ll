; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; 16 bytes fit into 16, so there is no check.
; RUN: %opt -S -passes=cosy-fortify %s | FileCheck %s
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

define internal void @body(i32 %fd, ptr %buf) "cosy-state"="body" {
; CHECK-LABEL: define internal void @body(
; CHECK-NEXT: call i64 @"\01read"(i32 %fd, ptr %buf, i64 16)
; CHECK-NEXT: call void (i32, ...) @cosy.exit(
  %r = call i64 @__read_chk(i32 %fd, ptr %buf, i64 16, i64 16)
  call void (i32, ...) @cosy.exit(i32 0, i64 %r)
  ret void
}

declare void @cosy.exit(i32, ...)
declare i64 @__read_chk(i32, ptr, i64, i64)
