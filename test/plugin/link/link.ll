; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; The link step makes a compound of a body that was left to it, with the callees that are in the
; module by then. With ThinLTO these are available_externally.
; RUN: %opt -S -passes=cosy-link %s | FileCheck %s
; RUN: sed 's/define dso_local i32 @taken/define available_externally dso_local i32 @taken/' %s | %opt -S -passes=cosy-link - | FileCheck %s

target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"
@cosy.region.f = internal global [96 x i8] zeroinitializer, align 8 #0
@llvm.compiler.used = appending global [3 x ptr] [ptr @cosy.region.f, ptr @f.cosy.0, ptr @kept], section "llvm.metadata"
@kept = global i32 0

; Neither of the two is kept any more. The call in the callee belongs to the compound.
; CHECK: @llvm.compiler.used = appending global [1 x ptr] [ptr @kept], section "llvm.metadata"
; CHECK: @cosy.library = {{.*}} [ptr @getpid, ptr @

; The host writes the input into the frame, runs the compound, and reads the output. The call that
; represented it is removed.
; CHECK-LABEL: define i32 @f(i32 %n)
; CHECK: [[FRAME:%.*]] = alloca i64, i32 3
; CHECK: load atomic i32, ptr getelementptr inbounds (i8, ptr @cosy.regions, i64 4) monotonic
; CHECK: [[N:%.*]] = zext i32 %n to i64
; CHECK: store i64 [[N]]
; CHECK: [[EXIT:%.*]] = call i64 @cosy_region_run(ptr @cosy.regions, ptr [[FRAME]])
; CHECK: [[OUT:%.*]] = load i64
; CHECK: store i64 [[OUT]]
; CHECK: icmp sgt i64 [[EXIT]], -1
define i32 @f(i32 %n) {
  %outputs = alloca i64, align 8
  %mode = load atomic i32, ptr getelementptr inbounds (i8, ptr @cosy.region.f, i64 4) monotonic, align 4
  %off = icmp eq i32 %mode, 0
  br i1 %off, label %native, label %run
run:
  %exit = call i64 (ptr, ptr, ptr, ...) @__cosy_region_not_compiled__link_by_cosy_cc_with_flto(ptr @cosy.region.f, ptr @f.cosy.0, ptr %outputs, i32 %n)
  %ran = icmp sgt i64 %exit, -1
  br i1 %ran, label %done, label %native
done:
  %output = load i32, ptr %outputs, align 8
  br label %end
native:
  %called = call i32 @taken(i32 %n)
  br label %end
end:
  %r = phi i32 [ %output, %done ], [ %called, %native ]
  ret i32 %r
}

; As a function it is unchanged.
; CHECK-LABEL: define {{.*}}i32 @taken(i32 %n)
; CHECK-NEXT: call i32 @getpid()
; CHECK-NOT: @f.cosy.0
; CHECK-NOT: __cosy_region_not_compiled
define dso_local i32 @taken(i32 %n) {
  %p = call i32 @getpid()
  %r = add i32 %p, %n
  ret i32 %r
}

define internal void @f.cosy.0(i32 %n) #1 {
  br label %body
body:
  %r = call i32 @taken(i32 %n)
  br label %exit
exit:
  call void (i32, ...) @cosy.exit(i32 0, i32 %r)
  ret void
}

declare i32 @getpid()
declare void @cosy.exit(i32, ...)
declare i64 @__cosy_region_not_compiled__link_by_cosy_cc_with_flto(ptr, ptr, ptr, ...)
attributes #0 = { "cosy-descriptor" }
attributes #1 = { noinline optnone "cosy-body"="f" "cosy-deferred" "cosy-exits"="1" "cosy-optimized" "cosy-outputs"="1" "cosy-state"="body" "cosy-warnings"="-----" }
