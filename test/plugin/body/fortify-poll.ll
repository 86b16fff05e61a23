; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; The size is that of an array of struct pollfd of 8 bytes: 4 of them fit into 32 bytes.
; RUN: %opt -S -passes=cosy-fortify %s | FileCheck %s
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

define internal void @body(ptr %fds, i64 %n) "cosy-state"="body" {
; CHECK-LABEL: define internal void @body(
; CHECK-NEXT: icmp ugt i64 %n, 4
  %r = call i32 @__poll_chk(ptr %fds, i64 %n, i32 0, i64 32)
  call void (i32, ...) @cosy.exit(i32 0, i32 %r)
  ret void
}

declare void @cosy.exit(i32, ...)
declare i32 @__poll_chk(ptr, i64, i32, i64)
