; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; Operations between two calls also run natively, so the region is left once.
; RUN: %opt -S -passes=cosy-group-upcalls %s | FileCheck %s
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

define internal void @body(i64 %a) "cosy-state"="recognised" {
; CHECK-LABEL: define internal void @body(
; CHECK-NEXT: call i64 @f(i64 %a), !cosy.upcall ![[ZERO:[0-9]+]]
; CHECK-NEXT: add i64 {{%.*}}, 1, !cosy.upcall ![[ZERO]]
; CHECK-NEXT: call i64 @f(i64 {{%.*}}), !cosy.upcall ![[ZERO]]
; CHECK-NEXT: mul i64 {{%.*}}, 3{{$}}
  %x = call i64 @f(i64 %a)
  %y = add i64 %x, 1
  %z = call i64 @f(i64 %y)
  %w = mul i64 %z, 3
  call void (i32, ...) @cosy.exit(i32 0, i64 %w)
  ret void
}

declare void @cosy.exit(i32, ...)
declare i64 @f(i64)
