; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; A switch on an integer that fits no register tests the number of the case, which one up-call
; finds.
; RUN: %opt -S -passes=cosy-narrow-switches %s | FileCheck %s
; RUN: %opt -S -passes='cosy-narrow-switches,cosy-recognise,cosy-group,cosy-verify' %s | FileCheck --check-prefix=GROUP %s
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

define internal void @body(ptr %p, i64 %n) "cosy-state"="legal" {
; CHECK-LABEL: define internal void @body(
; CHECK: %[[FIRST:[0-9]+]] = icmp eq i128 %wide, 5
; CHECK: %[[A:[0-9]+]] = select i1 %[[FIRST]], i32 1, i32 0
; CHECK: %[[SECOND:[0-9]+]] = icmp eq i128 %wide, 18446744073709551616
; CHECK: %[[B:[0-9]+]] = select i1 %[[SECOND]], i32 2, i32 %[[A]]
; CHECK: switch i32 %[[B]], label %other [
; CHECK-NEXT: i32 1, label %one
; CHECK-NEXT: i32 2, label %two
; A narrow one stays.
; CHECK: switch i64 %n, label %one [
; CHECK-NEXT: i64 7, label %two
; GROUP: icmp eq i128 {{.*}} !cosy.upcall ![[UPCALL:[0-9]+]]
; GROUP-NEXT: select i1 {{.*}} !cosy.upcall ![[UPCALL]]
; GROUP-NEXT: icmp eq i128 {{.*}} !cosy.upcall ![[UPCALL]]
; GROUP-NEXT: select i1
; GROUP-NEXT: switch i32
entry:
  %wide = load i128, ptr %p
  switch i128 %wide, label %other [
    i128 5, label %one
    i128 18446744073709551616, label %two
  ]
other:
  switch i64 %n, label %one [ i64 7, label %two ]
one:
  call void (i32, ...) @cosy.exit(i32 0)
  ret void
two:
  call void (i32, ...) @cosy.exit(i32 1)
  ret void
}

declare void @cosy.exit(i32, ...)
