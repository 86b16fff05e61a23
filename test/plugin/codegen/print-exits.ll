; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; The attributes of a body have to fit its exits.
; RUN: %not %opt -disable-output -passes=cosy-print-compound %s 2>&1 | FileCheck %s
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

; CHECK: error: cosy: body no_outputs is in the state recognised: cosy-print-compound takes bodies with 1 exits and 0 outputs, as their attributes say
define internal void @no_outputs(i64 %a) "cosy-state"="recognised" "cosy-body"="f" "cosy-exits"="1" {
  call void (i32, ...) @cosy.exit(i32 0, i64 %a)
  ret void
}

declare void @cosy.exit(i32, ...)
