; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; A called pointer is compared with the functions of its type that gain as single calls and whose addresses
; are used. A second run changes nothing. Of functions that the module defines none is compared.
; RUN: %opt -S -passes=cosy-auto,cosy-auto %s | FileCheck %s
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

@table = global [3 x ptr] [ptr @stat, ptr @own, ptr @compare]

; CHECK-LABEL: define i32 @f(
; CHECK-NEXT: icmp eq ptr %f, @stat
; CHECK-NEXT: br
; CHECK: call i32 @cosy_auto_stat(ptr %name, ptr %st)
; CHECK: call i32 %f(ptr %name, ptr %st)
; CHECK-NOT: icmp
; CHECK: ret
define i32 @f(ptr %f, ptr %name, ptr %st) {
  %r = call i32 %f(ptr %name, ptr %st)
  ret i32 %r
}

; CHECK-LABEL: define i32 @no_builtin(
; CHECK-NEXT: call
; CHECK-NEXT: ret
define i32 @no_builtin(ptr %f, ptr %name, ptr %st) {
  %r = call i32 %f(ptr %name, ptr %st) nobuiltin
  ret i32 %r
}

define dso_local i32 @own(ptr %a, ptr %b) {
  ret i32 0
}
declare i32 @stat(ptr, ptr)
declare i32 @compare(ptr, ptr)
