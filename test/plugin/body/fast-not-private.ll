; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; The descriptor is stored, so other code may use it. There is no hint, but a note with the reason.
; RUN: %opt -S -passes=cosy-fast-paths %s | FileCheck %s
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

define internal void @body(ptr %name, ptr %p) "cosy-state"="grouped" {
; CHECK-LABEL: define internal void @body(
; CHECK-SAME: !cosy.note ![[NOTE:[0-9]+]]
; CHECK: call i32 @cosy.sys.openat(i64 -100, ptr %name, i32 0, i64 0){{$}}
; CHECK: ![[NOTE]] = !{{[{]}}{{.*}}i1 false, !"the descriptor is not private: it is stored in memory"}
  %fd = call i32 @cosy.sys.openat(i64 -100, ptr %name, i32 0, i64 0)
  store i32 %fd, ptr %p
  %c = call i32 @cosy.sys.close(i32 %fd)
  call void (i32, ...) @cosy.exit(i32 0)
  ret void
}

declare void @cosy.exit(i32, ...)
declare i32 @cosy.sys.openat(i64, ptr, i32, i64) "cosy-system-call"="257"
declare i64 @cosy.sys.read(i32, ptr, i64) "cosy-system-call"="0"
declare i64 @cosy.sys.lseek(i32, i64, i32) "cosy-system-call"="8"
declare i32 @cosy.sys.close(i32) "cosy-system-call"="3"
