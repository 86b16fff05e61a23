; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; The pointer is compared with the system calls that LLVM says it can point to, and with those of its
; type whose addresses are used. @getuid has another type, @chmod is not used, @symlink may be missing,
; @link is the program's own, and @compare is no system call. The table of a region's functions is no use.
; In code compiled with -fno-pie none is compared.
; RUN: %opt -S -passes=cosy-inline %s | FileCheck %s
; RUN: sed 's/"PIC Level", i32 2/"PIC Level", i32 0/' %s | %opt -S -passes=cosy-inline - | FileCheck --check-prefix=NO-PIE %s
; NO-PIE-NOT: icmp
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

@table = global [5 x ptr] [ptr @getuid, ptr @symlink, ptr @link, ptr @compare, ptr @access]
@cosy.library = private global { i64, [2 x ptr] } { i64 1, [2 x ptr] [ptr @mkdir, ptr null] }

define internal void @body(ptr %f, ptr %g, ptr %h, ptr %name, ptr %st) "cosy-state"="body" {
; CHECK-LABEL: define internal void @body(
; CHECK: icmp eq ptr %f, @stat
; CHECK: call i32 @stat(ptr %name, ptr %st)
; CHECK: icmp eq ptr %f, @lstat
; CHECK: call i32 @lstat(ptr %name, ptr %st)
; CHECK-NOT: icmp
; CHECK: call i32 %f(ptr %name, ptr %st), !{{.*}}!cosy.compared
  %r = call i32 %f(ptr %name, ptr %st), !callees !0
; CHECK: icmp eq ptr %g, @access
; CHECK-NOT: icmp
; CHECK: call i32 %g(ptr %name, i32 4)
  %s = call i32 %g(ptr %name, i32 4)
; The call is in a function compiled with -fno-builtin.
; CHECK-NOT: icmp
; CHECK: call i32 %h(ptr %name, i32 4)
  %t = call i32 %h(ptr %name, i32 4) #0
  call void (i32, ...) @cosy.exit(i32 0, i32 %r, i32 %s, i32 %t)
  ret void
}

declare i32 @stat(ptr, ptr)
declare i32 @lstat(ptr, ptr)
declare extern_weak i32 @symlink(ptr, ptr)
declare i32 @link(ptr, ptr) #0
declare i32 @compare(ptr, ptr)
declare i32 @access(ptr, i32)
declare i32 @chmod(ptr, i32)
declare i32 @mkdir(ptr, i32)
declare i32 @getuid()
declare void @cosy.exit(i32, ...)
attributes #0 = { nobuiltin }
!llvm.module.flags = !{!1}
!0 = !{ptr @stat, ptr @lstat}
!1 = !{i32 8, !"PIC Level", i32 2}
