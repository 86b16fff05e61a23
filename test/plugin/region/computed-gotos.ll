; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; A computed goto is a switch: labels are numbers from 1 on, so that none is a null pointer.
; RUN: %opt -S -passes=cosy-computed-gotos %s | FileCheck %s
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

; CHECK-LABEL: define void @f(ptr %p)
; CHECK: [[N:%.*]] = ptrtoint ptr %p to i64
; CHECK: switch i64 [[N]], label %{{.*}} [
; CHECK-DAG: i64 1, label %{{one|two}}
; CHECK-DAG: i64 2, label %{{one|two}}
; CHECK-NOT: indirectbr
@labels = internal constant [2 x ptr] [ptr blockaddress(@f, %one), ptr blockaddress(@f, %two)]
define void @f(ptr %p) {
  indirectbr ptr %p, [label %one, label %two]
one:
  store volatile i8 1, ptr null
  ret void
two:
  store volatile i8 2, ptr null
  ret void
}
