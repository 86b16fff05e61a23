; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; A difference that does not go below zero: 3 - 5 is 0 because 3 < 5.
; RUN: %opt -S -passes=cosy-legalize %s | FileCheck %s
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

define internal void @body(i16 %a, i16 %b) "cosy-state"="body" {
; CHECK-LABEL: define internal void @body(
; CHECK-DAG: [[LESS:%.*]] = icmp ult i16 %a, %b
; CHECK-DAG: [[DIFFERENCE:%.*]] = sub i16 %a, %b
; CHECK: [[RESULT:%.*]] = select i1 [[LESS]], i16 0, i16 [[DIFFERENCE]]
; CHECK-NEXT: call void (i32, ...) @cosy.exit(i32 0, i16 [[RESULT]])
  %result = call i16 @llvm.usub.sat.i16(i16 %a, i16 %b)
  call void (i32, ...) @cosy.exit(i32 0, i16 %result)
  ret void
}

declare void @cosy.exit(i32, ...)
declare i16 @llvm.usub.sat.i16(i16, i16)
