; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; A bit-field of 24 bits is loaded as 2 bytes and 1 byte, which is shifted by 16.
; RUN: %opt -S -passes=cosy-legalize %s | FileCheck %s
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

define internal void @body(ptr %p) "cosy-state"="body" {
; CHECK-LABEL: define internal void @body(
; CHECK: [[LOW:%.*]] = load i16, ptr %p, align 1
; CHECK: [[AT2:%.*]] = getelementptr i8, ptr %p, i64 2
; CHECK: [[HIGH:%.*]] = load i8, ptr [[AT2]], align 1
; CHECK: shl i64 {{%.*}}, 16
; CHECK: trunc i64 {{%.*}} to i24
  %v = load i24, ptr %p, align 4
  %w = zext i24 %v to i32
  call void (i32, ...) @cosy.exit(i32 0, i32 %w)
  ret void
}

declare void @cosy.exit(i32, ...)
