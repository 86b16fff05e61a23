; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; The loop "for (i = 0; i < n; i++) { r = access(names[i], 4); total += r; }" without COSY_BATCH. Its iterations
; are independent, so it is split. The loop as written remains for the case that the region runs natively.
; errno passes from call to call, and is not stored for each iteration.
; RUN: %opt -S -passes=cosy-batch %s | FileCheck %s
; The second access is volatile.
; RUN: sed 's/old = load i64/old = load volatile i64/' %s | %opt -S -passes=cosy-batch - | FileCheck --check-prefix=NOT %s
; NOT-NOT: batch.
; NOT: call ptr @__cosy_region_start()
; NOT-NOT: batch.
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

; CHECK-LABEL: define i64 @f(
; CHECK-NOT: @__errno_location
; CHECK: br label %batch.gate
; CHECK-NOT: @__errno_location
; CHECK: call ptr @__cosy_region_start(){{.*}}, !cosy.split [[NODE:![0-9]+]]

; As written, with a call that may go through the module:
; CHECK: [[WRITTEN:condition.batch[0-9]*]]:
; CHECK-NOT: __cosy_region
; CHECK: call i32 @access({{.*}}) #[[SINGLE:[0-9]+]]
; CHECK-NOT: __cosy_region
; CHECK: batch.gate:
; CHECK-NEXT: [[RUNS:%.*]] = call i1 @cosy.split.runs(){{.*}}, !cosy.split [[NODE]]
; CHECK-NEXT: br i1 [[RUNS]], label %batch.enter, label %[[WRITTEN]]

; Split:
; CHECK: call i32 @access(
; CHECK: batch.again:
; CHECK: call ptr @__cosy_region_end()
; CHECK-NOT: @__errno_location
; CHECK: attributes #[[SINGLE]] = { "cosy-single" }
@i = private constant [24 x i8] c"cosy_batch_variable:0:i\00"
@r = private constant [24 x i8] c"cosy_batch_variable:1:r\00"
@total = private constant [28 x i8] c"cosy_batch_variable:0:total\00"
define i64 @f(ptr %names, i64 %n) {
  %i = alloca i64
  %r = alloca i32
  %total = alloca i64
  call void @llvm.var.annotation.p0.p0(ptr %total, ptr @total, ptr null, i32 0, ptr null)
  store i64 0, ptr %total
  call void @llvm.var.annotation.p0.p0(ptr %i, ptr @i, ptr null, i32 0, ptr null)
  store i64 0, ptr %i
  br label %condition
condition:
  %next = load i64, ptr %i
  %more = icmp slt i64 %next, %n
  br i1 %more, label %body, label %end
body:
  call void @llvm.var.annotation.p0.p0(ptr %r, ptr @r, ptr null, i32 0, ptr null)
  %start = call ptr @__cosy_region_start()
  %index = load i64, ptr %i
  %slot = getelementptr inbounds ptr, ptr %names, i64 %index
  %name = load ptr, ptr %slot
  %result = call i32 @access(ptr %name, i32 4)
  store i32 %result, ptr %r
  %stop = call ptr @__cosy_region_end()
  %this = load i32, ptr %r
  %wide = sext i32 %this to i64
  %old = load i64, ptr %total, align 8
  %new = add i64 %old, %wide
  store i64 %new, ptr %total
  br label %step
step:
  call void @__cosy_batch_step(i64 1)
  %last = load i64, ptr %i
  %following = add i64 %last, 1
  store i64 %following, ptr %i
  br label %condition
end:
  %sum = load i64, ptr %total
  ret i64 %sum
}
declare i32 @access(ptr, i32)
declare void @__cosy_batch_step(i64)
declare ptr @__cosy_region_start()
declare ptr @__cosy_region_end()
declare void @llvm.var.annotation.p0.p0(ptr, ptr, ptr, i32, ptr)
