; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; The bits of a byte change places in three steps: neighbours (masks 0x55 = 85), pairs
; (0x33 = 51), halves (0x0f = 15).
; RUN: %opt -S -passes=cosy-legalize %s | FileCheck %s
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

define internal void @body(i8 %a) "cosy-state"="body" {
; CHECK-LABEL: define internal void @body(
; CHECK: and i8 {{%.*}}, 85
; CHECK: and i8 {{%.*}}, 51
; CHECK: and i8 {{%.*}}, 15
; CHECK-NOT: bitreverse
; CHECK: call void (i32, ...) @cosy.exit(
  %reversed = call i8 @llvm.bitreverse.i8(i8 %a)
  call void (i32, ...) @cosy.exit(i32 0, i8 %reversed)
  ret void
}

declare void @cosy.exit(i32, ...)
