; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; In a grouped body, an instruction without an operation belongs to an up-call.
; RUN: %not %opt -disable-output -passes=cosy-verify %s 2>&1 | FileCheck %s
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

define internal void @body(double %a) "cosy-state"="grouped" {
; CHECK: error: cosy: body body is in the state grouped: what is no operation belongs to an up-call: %b = fadd double %a, %a
  %b = fadd double %a, %a
  call void (i32, ...) @cosy.exit(i32 0, double %b)
  ret void
}

declare void @cosy.exit(i32, ...)
