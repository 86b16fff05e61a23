#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# many-variables.py COUNT START - a program with a region, begun by START, that changes COUNT
# variables, which are used afterwards
import sys

count = int(sys.argv[1])
print("#include <cosy.h>\n#include <stdio.h>\n#include <unistd.h>\nint main(void)\n{\n\tint sum = 0;")
for n in range(count):
    print(f"\tint v{n} = 0;")
print(f"\tfor (int i = 0; i < 1; i++) {{\n\t{sys.argv[2]};")
for n in range(count):
    print(f"\tv{n} += getppid() > 0;" if n < 3 else f"\tv{n} += v{n - 1};")
print("\tCOSY_END;\n\t}")
for n in range(count):
    print(f"\tsum += v{n};")
print('\tprintf("%d\\n", sum);\n\treturn 0;\n}')
