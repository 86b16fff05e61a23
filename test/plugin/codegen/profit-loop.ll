; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; What a loop gains: each iteration makes one system call, and its operations cost a little.
; RUN: %opt -disable-output -passes=cosy-print-compound -pass-remarks-analysis=cosy %s 2>&1 | FileCheck %s
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

define internal void @body(i64 %n) "cosy-state"="recognised" "cosy-body"="f" "cosy-exits"="1" "cosy-outputs"="0" {
; CHECK: remark: {{.*}}the region makes at most 1 system call
; CHECK: remark: {{.*}}an iteration of this loop makes at most 1 system call
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %pid = call i32 @cosy.sys.getpid()
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, %n
  br i1 %more, label %loop, label %done
done:
  call void (i32, ...) @cosy.exit(i32 0)
  ret void
}

declare void @cosy.exit(i32, ...)
declare i32 @cosy.sys.getpid() "cosy-system-call"="39"
