; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; The number of operations of one entry, from COSY_START_WITH.
; RUN: %opt -disable-output -passes=cosy-print-compound %s 2>&1 | FileCheck %s
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

define internal void @body() "cosy-state"="recognised" "cosy-body"="f" "cosy-exits"="1" "cosy-outputs"="0" "cosy-limit"="1000" {
; CHECK: .limit 1000
  call void (i32, ...) @cosy.exit(i32 0)
  ret void
}

declare void @cosy.exit(i32, ...)
