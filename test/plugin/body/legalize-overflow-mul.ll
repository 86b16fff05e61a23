; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; A product of 32 bits is computed in 64, and overflows if the upper half counts:
; 65536 * 65536 is 0 in 32 bits, which is not 2^32.
; RUN: %opt -S -passes=cosy-legalize %s | FileCheck %s
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

define internal void @body(i32 %a, i32 %b) "cosy-state"="body" {
; CHECK-LABEL: define internal void @body(
; CHECK-DAG: [[A:%.*]] = zext i32 %a to i64
; CHECK-DAG: [[B:%.*]] = zext i32 %b to i64
; CHECK: [[WIDE:%.*]] = mul i64 [[A]], [[B]]
; CHECK-NEXT: [[LOW:%.*]] = trunc i64 [[WIDE]] to i32
; CHECK-NEXT: [[AGAIN:%.*]] = zext i32 [[LOW]] to i64
; CHECK-NEXT: [[OVERFLOW:%.*]] = icmp ne i64 [[AGAIN]], [[WIDE]]
; CHECK-NEXT: call void (i32, ...) @cosy.exit(i32 0, i32 [[LOW]], i1 [[OVERFLOW]])
  %pair = call { i32, i1 } @llvm.umul.with.overflow.i32(i32 %a, i32 %b)
  %low = extractvalue { i32, i1 } %pair, 0
  %overflow = extractvalue { i32, i1 } %pair, 1
  call void (i32, ...) @cosy.exit(i32 0, i32 %low, i1 %overflow)
  ret void
}

declare void @cosy.exit(i32, ...)
declare { i32, i1 } @llvm.umul.with.overflow.i32(i32, i32)
