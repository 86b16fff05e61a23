; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; A stage rejects bodies in another state, and does not change other functions.
; RUN: %not %opt -disable-output -passes=cosy-legalize %s 2>&1 | FileCheck %s
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

define internal void @body() "cosy-state"="legal" {
; CHECK: error: cosy: body body is in the state legal: cosy-legalize takes bodies in the state body
  call void (i32, ...) @cosy.exit(i32 0)
  ret void
}

declare void @cosy.exit(i32, ...)
