; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; Functions that are not bodies are not changed.
; RUN: %opt -S -passes=cosy-legalize %s | FileCheck %s
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

; CHECK-LABEL: define i64 @f(
; CHECK-NEXT: call i64 @llvm.umin.i64(
define i64 @f(i64 %a, i64 %b) {
  %min = call i64 @llvm.umin.i64(i64 %a, i64 %b)
  ret i64 %min
}
declare i64 @llvm.umin.i64(i64, i64)
