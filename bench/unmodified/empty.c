// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* An empty shared object, to measure the costs of preloading alone. */
