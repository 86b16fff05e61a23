; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; A system call between two calls is made by the kernel: there are two up-calls.
; RUN: %opt -S -passes=cosy-group-upcalls %s | FileCheck %s
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

define internal void @body(i64 %a) "cosy-state"="recognised" {
; CHECK-LABEL: define internal void @body(
; CHECK-NEXT: call i64 @f(i64 %a), !cosy.upcall ![[ZERO:[0-9]+]]
; CHECK-NEXT: call i32 @cosy.sys.getpid(){{$}}
; CHECK-NEXT: call i64 @f(i64 %a), !cosy.upcall ![[ONE:[0-9]+]]
; CHECK-DAG: ![[ZERO]] = !{i32 0}
; CHECK-DAG: ![[ONE]] = !{i32 1}
  %x = call i64 @f(i64 %a)
  %pid = call i32 @cosy.sys.getpid()
  %z = call i64 @f(i64 %a)
  call void (i32, ...) @cosy.exit(i32 0, i32 %pid)
  ret void
}

declare void @cosy.exit(i32, ...)
declare i64 @f(i64)
declare i32 @cosy.sys.getpid() "cosy-system-call"="39"
