; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; A sum of an input and 5, which is an output.
; RUN: %opt -disable-output -passes=cosy-print-compound %s 2>&1 | FileCheck %s
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

define internal void @body(i64 %a) "cosy-state"="recognised" "cosy-body"="f" "cosy-exits"="1" "cosy-outputs"="1" {
; CHECK: add.8 r1, r0, 5
; CHECK-NEXT: exit 0
  %b = add i64 %a, 5
  call void (i32, ...) @cosy.exit(i32 0, i64 %b)
  ret void
}

declare void @cosy.exit(i32, ...)
