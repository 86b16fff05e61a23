; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; A sum of doubles has no operation; registers contain doubles, so copies and stores have.
; RUN: %opt -S -passes=cosy-group-upcalls %s | FileCheck %s
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

define internal void @body(double %a, ptr %p) "cosy-state"="recognised" {
; CHECK-LABEL: define internal void @body(
; CHECK-NEXT: [[V:%.*]] = load double, ptr %p, align 8{{$}}
; CHECK-NEXT: [[SUM:%.*]] = fadd double %a, [[V]], !cosy.upcall
; CHECK-NEXT: store double [[SUM]], ptr %p, align 8{{$}}
  %v = load double, ptr %p, align 8
  %sum = fadd double %a, %v
  store double %sum, ptr %p, align 8
  call void (i32, ...) @cosy.exit(i32 0)
  ret void
}

declare void @cosy.exit(i32, ...)
