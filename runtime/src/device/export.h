/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * export.h - what libcosy.so exports, and where its thread-local variables are.
 *
 * libcosy.a exports nothing: a shared library that is linked with it has a copy of its own. No
 * copy in another library replaces it at run time.
 */
#ifndef COSY_EXPORT_H
#define COSY_EXPORT_H

#ifdef COSY_SHARED
#define COSY_EXPORT __attribute__((visibility("default")))
#else
#define COSY_EXPORT
#endif

/*
 * For thread-local variables: their offset is known when libcosy is loaded. Other models allocate
 * memory when a thread first uses a variable of a library. A signal handler must not do that.
 */
#define COSY_TLS __attribute__((tls_model("initial-exec")))

#endif /* COSY_EXPORT_H */
