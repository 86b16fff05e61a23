; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; strncpy() copies what is before the zero, at most 8 bytes, and fills the rest with zeros.
; RUN: %opt -S -passes=cosy-strings %s | FileCheck %s
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

define internal void @body(ptr %to, ptr %from) "cosy-state"="body" {
; CHECK-LABEL: define internal void @body(
; CHECK: [[LENGTH:%.*]] = call i64 @{{.*}}strnlen{{.*}}(ptr %from, i64 8)
; CHECK: call void @llvm.memcpy.p0.p0.i64(ptr {{.*}}%to, ptr {{.*}}%from, i64 [[LENGTH]], i1 false)
; CHECK: [[END:%.*]] = getelementptr i8, ptr %to, i64 [[LENGTH]]
; CHECK: [[REST:%.*]] = sub i64 8, [[LENGTH]]
; CHECK: call void @llvm.memset.p0.i64(ptr {{.*}}[[END]], i8 0, i64 [[REST]], i1 false)
; CHECK: call void (i32, ...) @cosy.exit(i32 0, ptr %to)
  %r = call ptr @strncpy(ptr %to, ptr %from, i64 8)
  call void (i32, ...) @cosy.exit(i32 0, ptr %r)
  ret void
}

declare void @cosy.exit(i32, ...)
declare ptr @strncpy(ptr, ptr, i64)
