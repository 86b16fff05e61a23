// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* An empty shared object: what preloading costs in itself. */
