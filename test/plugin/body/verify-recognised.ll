; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; After calls have been recognised, no call of libc is a system call.
; RUN: %not %opt -disable-output -passes=cosy-verify %s 2>&1 | FileCheck %s
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

define internal void @body(i32 %fd) "cosy-state"="recognised" {
; CHECK: error: cosy: body body is in the state recognised: this call is a system call: %c = call i32 @close(i32 %fd)
  %c = call i32 @close(i32 %fd)
  call void (i32, ...) @cosy.exit(i32 0)
  ret void
}

declare void @cosy.exit(i32, ...)
declare i32 @close(i32)
