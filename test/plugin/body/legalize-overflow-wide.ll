; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; A sum of 128 bits fits no register. It is not changed, and becomes a part of an up-call.
; RUN: %opt -S -passes=cosy-legalize %s | FileCheck %s
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

define internal void @body(i128 %a, i128 %b) "cosy-state"="body" {
; CHECK-LABEL: define internal void @body(
; CHECK-NEXT: call { i128, i1 } @llvm.uadd.with.overflow.i128(i128 %a, i128 %b)
  %pair = call { i128, i1 } @llvm.uadd.with.overflow.i128(i128 %a, i128 %b)
  %overflow = extractvalue { i128, i1 } %pair, 1
  call void (i32, ...) @cosy.exit(i32 0, i1 %overflow)
  ret void
}

declare void @cosy.exit(i32, ...)
declare { i128, i1 } @llvm.uadd.with.overflow.i128(i128, i128)
