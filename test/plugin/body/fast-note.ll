; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; Notes contain the place of a call, but no DILocation: LLVM's verifier allows none there. A later
; pass reports the note at this place.
; RUN: %opt -S -passes=cosy-fast-paths,verify %s | FileCheck %s
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

define internal void @body(ptr %name, ptr %buf) "cosy-state"="grouped" !dbg !4 {
; CHECK-LABEL: define internal void @body(
; CHECK-SAME: !cosy.note ![[NOTE:[0-9]+]]
; CHECK-DAG: ![[NOTE]] = !{![[PLACE:[0-9]+]], i1 true, !"the descriptor is private: it is closed here and passed to no other code"}
; CHECK-DAG: ![[PLACE]] = !{i32 7, i32 12, ![[SCOPE:[0-9]+]], ![[CALLER:[0-9]+]]}
; CHECK-DAG: ![[CALLER]] = !{i32 3, i32 2, ![[HOST:[0-9]+]], null}
; CHECK-DAG: ![[SCOPE]] = distinct !DISubprogram(name: "opener"
; CHECK-DAG: ![[HOST]] = distinct !DISubprogram(name: "host"
  %fd = call i32 @cosy.sys.openat(i64 -100, ptr %name, i32 0, i64 0), !dbg !6
  %n = call i64 @cosy.sys.read(i32 %fd, ptr %buf, i64 64), !dbg !7
  %c = call i32 @cosy.sys.close(i32 %fd), !dbg !7
  call void (i32, ...) @cosy.exit(i32 0, i64 %n), !dbg !7
  ret void, !dbg !7
}

declare void @cosy.exit(i32, ...)
declare i32 @cosy.sys.openat(i64, ptr, i32, i64) "cosy-system-call"="257"
declare i64 @cosy.sys.read(i32, ptr, i64) "cosy-system-call"="0"
declare i32 @cosy.sys.close(i32) "cosy-system-call"="3"

!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2}

!0 = distinct !DICompileUnit(language: DW_LANG_C11, file: !1, emissionKind: FullDebug)
!1 = !DIFile(filename: "f.c", directory: "/")
!2 = !{i32 2, !"Debug Info Version", i32 3}
!3 = !DISubroutineType(types: !{null})
!4 = distinct !DISubprogram(name: "host", file: !1, line: 1, type: !3, spFlags: DISPFlagDefinition, unit: !0)
!5 = distinct !DISubprogram(name: "opener", file: !1, line: 6, type: !3, spFlags: DISPFlagDefinition, unit: !0)
!6 = !DILocation(line: 7, column: 12, scope: !5, inlinedAt: !7)
!7 = distinct !DILocation(line: 3, column: 2, scope: !4)
