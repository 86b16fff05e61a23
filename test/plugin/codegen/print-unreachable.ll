; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; Code that is never reached faults, if it is reached after all. After an exit there is no such code.
; RUN: %opt -disable-output -passes=cosy-print-compound %s 2>&1 | FileCheck %s
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

define internal void @body(i64 %a) "cosy-state"="recognised" "cosy-body"="f" "cosy-exits"="1" "cosy-outputs"="0" {
; CHECK-COUNT-1: load.8
; CHECK-NOT: load.8
entry:
  %c = icmp ult i64 %a, 7
  br i1 %c, label %x, label %y
x:
  call void (i32, ...) @cosy.exit(i32 0)
  ret void
y:
  unreachable
}

declare void @cosy.exit(i32, ...)
