; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; A system call with the register of an input and two constants.
; RUN: %opt -disable-output -passes=cosy-print-compound %s 2>&1 | FileCheck %s
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

define internal void @body(i32 %fd) "cosy-state"="recognised" "cosy-body"="f" "cosy-exits"="1" "cosy-outputs"="1" {
; CHECK: libc r1, lseek, r0, 8, 0
; CHECK-NEXT: exit 0
  %o = call i64 @cosy.sys.lseek(i32 %fd, i64 8, i32 0)
  call void (i32, ...) @cosy.exit(i32 0, i64 %o)
  ret void
}

declare void @cosy.exit(i32, ...)
declare i32 @cosy.sys.openat(i64, ptr, i32, i64) "cosy-system-call"="257"
declare i64 @cosy.sys.read(i32, ptr, i64) "cosy-system-call"="0"
declare i64 @cosy.sys.lseek(i32, i64, i32) "cosy-system-call"="8"
declare i32 @cosy.sys.close(i32) "cosy-system-call"="3"
