; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; The code between the markers is cloned into a body: the input is %a, the output %b. The host
; calls the body, and its own code stays.
; RUN: %opt -S -passes=cosy-extract %s | FileCheck %s

target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"
; CHECK-LABEL: define i64 @f(i64 %a)
; CHECK-NOT: __cosy_region_start
; CHECK: call i64 {{.*}}@__cosy_region_not_compiled__link_by_cosy_cc_with_flto(
; CHECK-SAME: @f.cosy.0
; CHECK: mul i64 %a, 3
; CHECK-LABEL: define internal void @f.cosy.0(i64 %a)
; CHECK: [[B:%.*]] = mul i64 %a, 3
; CHECK: call void (i32, ...) @cosy.exit(i32 0, i64 [[B]])
; CHECK: attributes {{.*}}"cosy-body"="f" "cosy-exits"="1"{{.*}}"cosy-outputs"="1"{{.*}}"cosy-state"="body"
define i64 @f(i64 %a) {
  call void @__cosy_region_start()
  %b = mul i64 %a, 3
  call void @__cosy_region_end()
  ret i64 %b
}
declare void @__cosy_region_start()
declare void @__cosy_region_end()
