; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; strlen() is one operation.
; RUN: %opt -disable-output -passes=cosy-print-compound %s 2>&1 | FileCheck %s
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

define internal void @body(ptr %s) "cosy-state"="recognised" "cosy-body"="f" "cosy-exits"="1" "cosy-outputs"="1" {
; CHECK: strlen r1, r0
; CHECK-NEXT: exit 0
  %n = call i64 @strlen(ptr %s)
  call void (i32, ...) @cosy.exit(i32 0, i64 %n)
  ret void
}

declare void @cosy.exit(i32, ...)
declare i64 @strlen(ptr)
