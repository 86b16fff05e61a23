; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; All exits of a region have the same outputs, in the same registers.
; RUN: %not %opt -disable-output -passes=cosy-verify %s 2>&1 | FileCheck %s
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

define internal void @body(i1 %c) "cosy-state"="body" {
; CHECK: error: cosy: body body is in the state body: all exits have the same outputs: call void (i32, ...) @cosy.exit(i32 1)
entry:
  br i1 %c, label %a, label %b
a:
  call void (i32, ...) @cosy.exit(i32 0, i64 7)
  ret void
b:
  call void (i32, ...) @cosy.exit(i32 1)
  ret void
}

declare void @cosy.exit(i32, ...)
