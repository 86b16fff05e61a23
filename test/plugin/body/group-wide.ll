; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; A number of 128 bits that two up-calls need goes through memory between them: no register
; can contain it.
; RUN: %opt -S -passes=cosy-group-upcalls %s | FileCheck %s
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

define internal void @body(ptr %p) "cosy-state"="recognised" {
; CHECK-LABEL: define internal void @body(
; CHECK-NEXT: [[SLOT:%.*]] = alloca i128
; CHECK: [[WIDE:%.*]] = load i128, ptr %p, align 16, !cosy.upcall ![[ZERO:[0-9]+]]
; CHECK: store i128 [[WIDE]], ptr [[SLOT]], align {{[0-9]+}}, !cosy.upcall ![[ZERO]]
; CHECK: call i32 @cosy.sys.getpid(){{$}}
; CHECK: [[AGAIN:%.*]] = load i128, ptr [[SLOT]], align {{[0-9]+}}, !cosy.upcall ![[ONE:[0-9]+]]
; CHECK: store i128 [[AGAIN]], ptr %p, align 16, !cosy.upcall ![[ONE]]
  %wide = load i128, ptr %p, align 16
  %pid = call i32 @cosy.sys.getpid()
  store i128 %wide, ptr %p, align 16
  call void (i32, ...) @cosy.exit(i32 0)
  ret void
}

declare void @cosy.exit(i32, ...)
declare i32 @cosy.sys.getpid() "cosy-system-call"="39"
