/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * export.h - what libcosy.so exports.
 *
 * In libcosy.a nothing is: a shared library that is linked with the archive has
 * a copy of its own, which no other module's copy replaces at run time.
 */
#ifndef COSY_EXPORT_H
#define COSY_EXPORT_H

#ifdef COSY_SHARED
#define COSY_EXPORT __attribute__((visibility("default")))
#else
#define COSY_EXPORT
#endif

#endif /* COSY_EXPORT_H */
