; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; Results of an up-call fit into a register.
; RUN: %not %opt -disable-output -passes=cosy-verify %s 2>&1 | FileCheck %s
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

define internal void @body(ptr %p) "cosy-state"="grouped" {
; CHECK: error: cosy: body body is in the state grouped: a register can contain what leaves an up-call: %w = load i128, ptr %p
  %w = load i128, ptr %p, !cosy.upcall !{i32 0}
  %pid = call i32 @cosy.sys.getpid()
  store i128 %w, ptr %p, !cosy.upcall !{i32 1}
  call void (i32, ...) @cosy.exit(i32 0)
  ret void
}

declare void @cosy.exit(i32, ...)
declare i32 @cosy.sys.getpid() "cosy-system-call"="39"
