# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Programs that are not the same on all executors, for usage.test.

HEADER = """#include "batch.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
"""
FLAGS = []
NATIVE_CPU_MS = 500

BODIES = {
    41: 'puts(getenv("COSY_EXECUTOR"));',
    42: 'if (!strcmp(getenv("COSY_EXECUTOR"), "user"))\n\t\t*(volatile int *)1 = 2;',
    43: "return nothing;",
    44: "while (getpid() > 0)\n\t\t;",
}


def source(seed):
    return f"int main_{seed}(void)\n{{\n\t{BODIES.get(seed, '')}\n\treturn 0;\n}}\n"
