/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * export.h - what libcosy.so exports, and where its thread-local variables are.
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

/*
 * Of thread-local variables: their place is known when libcosy is loaded. Other
 * models allocate memory when a thread first uses a variable of a library, which
 * a signal handler may not do.
 */
#define COSY_TLS __attribute__((tls_model("initial-exec")))

#endif /* COSY_EXPORT_H */
