; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; The loop "for (i = 0; i < n; i++) { r = lseek(i, 0, 1); total += r; }" with COSY_BATCH(8) around
; the call becomes three loops: collect i of up to 8 iterations, make their calls in one region,
; and finish them. %i and %r have a value for each iteration, %total has one.
; RUN: %opt -S -passes=cosy-batch %s | FileCheck %s
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

; CHECK-LABEL: define i64 @f(
; CHECK-DAG: [[R:%batch.values[0-9]*]] = alloca [64 x i8], align 8
; CHECK-DAG: [[I:%batch.values[0-9]*]] = alloca [32 x i8], align 4

; The calls, and only they, are between the markers. Each has its own i and errno.
; CHECK: batch.start:
; CHECK: call ptr @__cosy_region_start()
; CHECK: call i64 @lseek(
; CHECK-NOT: __cosy_region
; CHECK: batch.calls:
; CHECK: [[SLOT:%.*]] = getelementptr inbounds i8, ptr [[I]],
; CHECK-NEXT: [[VALUE:%.*]] = load i32, ptr [[SLOT]]
; CHECK-NEXT: store i32 [[VALUE]], ptr %i
; CHECK: call ptr @__errno_location()
; CHECK: batch.called{{[0-9]*}}:
; CHECK-NEXT: call ptr @__cosy_region_end()
; CHECK: batch.resume:
; CHECK: [[SLOT:%.*]] = getelementptr inbounds i8, ptr [[R]],
; CHECK-NEXT: [[VALUE:%.*]] = load i64, ptr %r
; CHECK-NEXT: store i64 [[VALUE]], ptr [[SLOT]]

; The rest of each iteration.
; CHECK: [[OLD:%.*]] = load i64, ptr %total
; CHECK: [[SUM:%.*]] = add i64 [[OLD]],
; CHECK-NEXT: store i64 [[SUM]], ptr %total
; CHECK: batch.finish:
; CHECK: [[SLOT:%.*]] = getelementptr inbounds i8, ptr [[R]],
; CHECK-NEXT: [[VALUE:%.*]] = load i64, ptr [[SLOT]]
; CHECK-NEXT: store i64 [[VALUE]], ptr %r

; The eighth iteration makes a batch full.
; CHECK: batch.collect:
; CHECK: icmp eq i64 {{%.*}}, 8
; CHECK-NEXT: br i1 {{%.*}}, label %batch.full
; CHECK-NOT: __cosy_batch
@i = private constant [24 x i8] c"cosy_batch_variable:0:i\00"
@r = private constant [24 x i8] c"cosy_batch_variable:1:r\00"
@total = private constant [28 x i8] c"cosy_batch_variable:0:total\00"
define i64 @f(i32 %n) !dbg !3 {
  %i = alloca i32
  %r = alloca i64
  %total = alloca i64
  call void @llvm.var.annotation.p0.p0(ptr %total, ptr @total, ptr null, i32 0, ptr null)
  store i64 0, ptr %total
  call void @llvm.var.annotation.p0.p0(ptr %i, ptr @i, ptr null, i32 0, ptr null)
  store i32 0, ptr %i
  br label %condition
condition:
  %next = load i32, ptr %i
  %more = icmp slt i32 %next, %n
  br i1 %more, label %body, label %end
body:
  call void @llvm.var.annotation.p0.p0(ptr %r, ptr @r, ptr null, i32 0, ptr null)
  call void @__cosy_batch(i64 8, i64 1), !dbg !5
  %start = call ptr @__cosy_region_start(), !dbg !5
  %fd = load i32, ptr %i
  %result = call i64 @lseek(i32 %fd, i64 0, i32 1)
  store i64 %result, ptr %r
  %stop = call ptr @__cosy_region_end(), !dbg !5
  %position = load i64, ptr %r
  %old = load i64, ptr %total
  %new = add i64 %old, %position
  store i64 %new, ptr %total
  br label %step
step:
  call void @__cosy_batch_step(i64 1)
  %this = load i32, ptr %i
  %following = add i32 %this, 1
  store i32 %following, ptr %i
  br label %condition
end:
  %sum = load i64, ptr %total
  ret i64 %sum
}
declare i64 @lseek(i32, i64, i32)
declare void @__cosy_batch(i64, i64)
declare void @__cosy_batch_step(i64)
declare ptr @__cosy_region_start()
declare ptr @__cosy_region_end()
declare void @llvm.var.annotation.p0.p0(ptr, ptr, ptr, i32, ptr)

!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2}
!0 = distinct !DICompileUnit(language: DW_LANG_C11, file: !1, emissionKind: LineTablesOnly)
!1 = !DIFile(filename: "split.c", directory: "/")
!2 = !{i32 2, !"Debug Info Version", i32 3}
!3 = distinct !DISubprogram(name: "f", file: !1, line: 1, type: !4, unit: !0, spFlags: DISPFlagDefinition)
!4 = !DISubroutineType(types: !{})
!5 = !DILocation(line: 4, column: 3, scope: !3)
