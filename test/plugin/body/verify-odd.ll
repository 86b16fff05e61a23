; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; A legal body has no access of 24 bits.
; RUN: %not %opt -disable-output -passes=cosy-verify %s 2>&1 | FileCheck %s
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

define internal void @body(ptr %p) "cosy-state"="legal" {
; CHECK: error: cosy: body body is in the state legal: memory is accessed in 1, 2, 4 or 8 bytes: %v = load i24, ptr %p
  %v = load i24, ptr %p
  call void (i32, ...) @cosy.exit(i32 0)
  ret void
}

declare void @cosy.exit(i32, ...)
