; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; Code after a loop is executed once, although the loop iterates 4 times and not as often as LLVM
; expects. Leaving the kernel costs more than these 48 operations.
; RUN: %opt -S -passes=cosy-outline %s | FileCheck %s
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

define internal void @body(i64 %sum) "cosy-state"="recognised" {
; CHECK-LABEL: define internal void @body(
; CHECK: call i32 @cosy.sys.getpid()
; CHECK-NOT: define
; CHECK: mul i64
; CHECK-NOT: define
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %pid = call i32 @cosy.sys.getpid()
  %next = add i64 %i, 1
  %again = icmp ult i64 %next, 4
  br i1 %again, label %loop, label %done
done:
  %x0 = xor i64 %sum, 11
  %y0 = mul i64 %x0, 3
  %x1 = xor i64 %y0, 48
  %y1 = mul i64 %x1, 5
  %x2 = xor i64 %y1, 85
  %y2 = mul i64 %x2, 7
  %x3 = xor i64 %y2, 122
  %y3 = mul i64 %x3, 9
  %x4 = xor i64 %y3, 159
  %y4 = mul i64 %x4, 11
  %x5 = xor i64 %y4, 196
  %y5 = mul i64 %x5, 13
  %x6 = xor i64 %y5, 233
  %y6 = mul i64 %x6, 15
  %x7 = xor i64 %y6, 270
  %y7 = mul i64 %x7, 17
  %x8 = xor i64 %y7, 307
  %y8 = mul i64 %x8, 19
  %x9 = xor i64 %y8, 344
  %y9 = mul i64 %x9, 21
  %x10 = xor i64 %y9, 381
  %y10 = mul i64 %x10, 23
  %x11 = xor i64 %y10, 418
  %y11 = mul i64 %x11, 25
  %x12 = xor i64 %y11, 455
  %y12 = mul i64 %x12, 27
  %x13 = xor i64 %y12, 492
  %y13 = mul i64 %x13, 29
  %x14 = xor i64 %y13, 529
  %y14 = mul i64 %x14, 31
  %x15 = xor i64 %y14, 566
  %y15 = mul i64 %x15, 33
  %x16 = xor i64 %y15, 603
  %y16 = mul i64 %x16, 35
  %x17 = xor i64 %y16, 640
  %y17 = mul i64 %x17, 37
  %x18 = xor i64 %y17, 677
  %y18 = mul i64 %x18, 39
  %x19 = xor i64 %y18, 714
  %y19 = mul i64 %x19, 41
  %x20 = xor i64 %y19, 751
  %y20 = mul i64 %x20, 43
  %x21 = xor i64 %y20, 788
  %y21 = mul i64 %x21, 45
  %x22 = xor i64 %y21, 825
  %y22 = mul i64 %x22, 47
  %x23 = xor i64 %y22, 862
  %y23 = mul i64 %x23, 49
  br label %end
end:
  call void (i32, ...) @cosy.exit(i32 0, i64 %y23)
  ret void
}

declare void @cosy.exit(i32, ...)
declare i32 @cosy.sys.getpid() "cosy-system-call"="39"
