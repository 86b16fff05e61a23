; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; A legal body has only sums of an address and bytes.
; RUN: %not %opt -disable-output -passes=cosy-verify %s 2>&1 | FileCheck %s
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

define internal void @body(ptr %p, i64 %i) "cosy-state"="legal" {
; CHECK: error: cosy: body body is in the state legal: an address is a sum of an address and bytes: %at = getelementptr i64, ptr %p, i64 %i
  %at = getelementptr i64, ptr %p, i64 %i
  call void (i32, ...) @cosy.exit(i32 0, ptr %at)
  ret void
}

declare void @cosy.exit(i32, ...)
