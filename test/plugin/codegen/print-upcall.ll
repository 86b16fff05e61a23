; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; A call of a function is an up-call. It needs two registers from r0 on: the argument
; in r0, the result in r1.
; RUN: %opt -disable-output -passes=cosy-print-compound %s 2>&1 | FileCheck %s
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

define internal void @body(i64 %a) "cosy-state"="recognised" "cosy-body"="f" "cosy-exits"="1" "cosy-outputs"="1" {
; CHECK: .upcalls 1
; CHECK: upcall 0, r0, 2
; CHECK-NEXT: exit 0
  %r = call i64 @f(i64 %a)
  call void (i32, ...) @cosy.exit(i32 0, i64 %r)
  ret void
}

declare void @cosy.exit(i32, ...)
declare i64 @f(i64)
