; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; LLVM finds the functions that are called, in code that is not optimised: the contents of a structure
; that is never written, an argument, and all that a variable gets. A parameter of a function that other
; files call can be any function. The code is not changed.
; RUN: %opt -S -passes=cosy-callees %s | FileCheck %s
; RUN: %opt -S -passes=cosy-callees -cosy-max-analysed=5 %s | FileCheck --check-prefix=LARGE %s
; LARGE-NOT: !callees
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

@operations = internal global { ptr, ptr } { ptr @f0, ptr @f1 }
@chosen = internal global ptr null
@escapes = global ptr @f0

define i32 @f0(i32 %v) {
  ret i32 %v
}
define i32 @f1(i32 %v) {
  ret i32 %v
}
define i32 @f2(i32 %v) {
  ret i32 %v
}

; CHECK-LABEL: define i32 @structure(
; CHECK-NEXT: %f = load ptr, ptr getelementptr inbounds (i8, ptr @operations, i64 8)
; CHECK-NEXT: call i32 %f(i32 %v), !callees [[F1:![0-9]+]]
define i32 @structure(i32 %v) {
  %f = load ptr, ptr getelementptr inbounds (i8, ptr @operations, i64 8)
  %r = call i32 %f(i32 %v)
  ret i32 %r
}

; CHECK-LABEL: define internal i32 @argument(
; CHECK: call i32 %f(i32 %v), !callees [[F2:![0-9]+]]
define internal i32 @argument(ptr %g, i32 %v) noinline optnone {
  %slot = alloca ptr
  store ptr %g, ptr %slot
  %f = load ptr, ptr %slot
  %r = call i32 %f(i32 %v)
  ret i32 %r
}

; CHECK-LABEL: define i32 @variable(
; CHECK: call i32 %f(i32 %v), !callees [[F02:![0-9]+]]
define i32 @variable(i1 %c, i32 %v) {
  call i32 @argument(ptr @f2, i32 %v)
  br i1 %c, label %one, label %other
one:
  store ptr @f0, ptr @chosen
  br label %then
other:
  store ptr @f2, ptr @chosen
  br label %then
then:
  %f = load ptr, ptr @chosen
  %r = call i32 %f(i32 %v)
  ret i32 %r
}

; CHECK-LABEL: define i32 @any(
; CHECK-NEXT: call i32 %f(i32 %v)
; CHECK-NOT: callees
; CHECK: ret
define i32 @any(ptr %f, i32 %v) {
  %r = call i32 %f(i32 %v)
  ret i32 %r
}

; CHECK-LABEL: define i32 @written(
; CHECK-NEXT: load
; CHECK-NEXT: call i32 %f(i32 %v)
; CHECK-NOT: callees
; CHECK: ret
define i32 @written(i32 %v) {
  %f = load ptr, ptr @escapes
  %r = call i32 %f(i32 %v)
  ret i32 %r
}

; CHECK-NOT: cosy.call
; CHECK-DAG: [[F1]] = !{ptr @f1}
; CHECK-DAG: [[F2]] = !{ptr @f2}
; CHECK-DAG: [[F02]] = !{ptr @f0, ptr @f2}
