; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; Two variables of 4 and 8 bytes are one of 16: the second is aligned to 8.
; RUN: %opt -S -passes=cosy-merge-locals %s | FileCheck %s
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

define internal void @body() "cosy-state"="legal" {
; CHECK-LABEL: define internal void @body(
; CHECK-NEXT: [[ALL:%.*]] = alloca [16 x i8], align 8
; CHECK-NEXT: [[B:%.*]] = getelementptr i8, ptr [[ALL]], i64 8
; CHECK-NEXT: store i32 1, ptr [[ALL]]
; CHECK-NEXT: store i64 2, ptr [[B]]
  %a = alloca i32, align 4
  %b = alloca i64, align 8
  store i32 1, ptr %a
  store i64 2, ptr %b
  call void (i32, ...) @cosy.exit(i32 0)
  ret void
}

declare void @cosy.exit(i32, ...)
