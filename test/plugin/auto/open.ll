; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; A call of open() goes through libcosy, the call of a function of the program does not.
; RUN: %opt -S -passes=cosy-auto %s | FileCheck %s
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

; CHECK-LABEL: define i32 @f(
; CHECK: call i32 (ptr, i32, ...) @cosy_auto_open(ptr %name, i32 0)
; CHECK: call i32 @own(ptr %name)
define i32 @f(ptr %name) {
  %fd = call i32 (ptr, i32, ...) @open(ptr %name, i32 0)
  %x = call i32 @own(ptr %name)
  ret i32 %fd
}
declare i32 @open(ptr, i32, ...)
declare i32 @own(ptr)
