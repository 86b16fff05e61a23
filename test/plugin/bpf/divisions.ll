; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; A division by zero ends a user function: natively it raises SIGFPE. So does the smallest number
; divided by -1.
; RUN: %opt -S -passes=cosy-bpf-divisions %s | FileCheck %s
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

; CHECK-LABEL: define i64 @f(
; CHECK: icmp eq i64 %b, 0
; CHECK: call void @cosy.trap(
; CHECK: sdiv i64 %a, %b
define i64 @f(i64 %a, i64 %b) {
  %q = sdiv i64 %a, %b
  ret i64 %q
}
