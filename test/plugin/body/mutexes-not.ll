; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; Calls that stay: the mutexes of another C library, and functions that are not the C library's.
; RUN: %opt -S -passes=cosy-mutexes %s | FileCheck --check-prefix=GLIBC %s
; RUN: sed 's/linux-gnu/linux-musl/' %s | %opt -S -passes=cosy-mutexes | FileCheck --check-prefix=MUSL %s
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

; GLIBC-LABEL: define internal void @own(
; GLIBC-NEXT: call i32 @pthread_mutex_unlock(ptr %m)
; GLIBC-NEXT: @cosy.exit
define internal void @own(ptr %m) "cosy-state"="body" {
  %r = call i32 @pthread_mutex_unlock(ptr %m) nobuiltin
  call void (i32, ...) @cosy.exit(i32 0, i32 %r)
  ret void
}

; GLIBC-LABEL: define internal void @plain(
; GLIBC: cosy.cmpxchg
; MUSL-LABEL: define internal void @plain(
; MUSL-NEXT: call i32 @pthread_mutex_unlock(ptr %m)
; MUSL-NEXT: @cosy.exit
define internal void @plain(ptr %m) "cosy-state"="body" {
  %r = call i32 @pthread_mutex_unlock(ptr %m)
  call void (i32, ...) @cosy.exit(i32 0, i32 %r)
  ret void
}

declare void @cosy.exit(i32, ...)
declare i32 @pthread_mutex_unlock(ptr)
