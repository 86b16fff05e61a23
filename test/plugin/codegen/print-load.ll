; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; A load and its constant offset are one operation.
; RUN: %opt -disable-output -passes=cosy-print-compound %s 2>&1 | FileCheck %s
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

define internal void @body(ptr %p) "cosy-state"="recognised" "cosy-body"="f" "cosy-exits"="1" "cosy-outputs"="1" {
; CHECK: .limit
; CHECK-NEXT: load.8 r1, [r0+24]
; CHECK-NEXT: exit 0
  %at = getelementptr i8, ptr %p, i64 24
  %v = load i64, ptr %at
  call void (i32, ...) @cosy.exit(i32 0, i64 %v)
  ret void
}

declare void @cosy.exit(i32, ...)
