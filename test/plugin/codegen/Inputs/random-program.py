# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Prints a C program whose region is SIZE random statements: arithmetic of all widths, memory,
# branches, loops, switches, calls, system calls. It prints the values of its variables. Needs
# -fwrapv.
#
# usage: random-program.py SEED SIZE

import random
import sys

random.seed(int(sys.argv[1]))
size = int(sys.argv[2])
types = ["signed char", "unsigned char", "short", "unsigned short", "int",
         "unsigned", "long", "unsigned long", "_Bool"]
variables = [(f"x{i}", random.choice(types)) for i in range(24)]


def var():
    return random.choice(variables)[0]


def value(depth=2):
    kind = random.randrange(12 if depth else 3)
    if kind < 2:
        return var()
    if kind == 2:
        return random.choice(["0", "1", "-1", "7", "255", "65536", "-128",
                              "0x123456789abcL", str(random.randrange(1000))])
    a, b = value(depth - 1), value(depth - 1)
    if kind < 7:
        return f"({a} {random.choice('+ - * & | ^'.split())} {b})"
    if kind == 7:
        return f"({a} {random.choice('/ %'.split())} ((({b}) & 63) + 1))"
    if kind == 8:
        return f"((long)({a}) {random.choice(['<<', '>>'])} (({b}) & 63))"
    if kind == 9:
        return f"({a} {random.choice('< <= > >= == != && ||'.split())} {b})"
    if kind == 10:
        return f"({a} ? {b} : {value(depth - 1)})"
    return f"{random.choice('- ~ !'.split())}({a})"


def statement(depth=2):
    kind = random.randrange(20 if depth else 10)
    if kind < 6:
        return f"{var()} {random.choice(['=', '=', '+=', '-=', '^=', '*='])} {value()};"
    if kind == 6:
        return f"memory[({value()}) & 31] = {value()};"
    if kind == 7:
        return f"{var()} += memory[({value()}) & 31];"
    if kind == 8:
        return f"{var()} += helper({value(1)}, &memory[({value(1)}) & 31]);"
    if kind == 9:
        return random.choice([
            f"{var()} += close(-1 - (int)(({value(1)}) & 7)) + errno;",
            f"{var()} ^= getpid() > 0;",
            f"{var()} += lseek(-1, {value(1)}, 0);",
            f"{var()} += dup(1000000 + ({value(1)} & 255)) * errno;"])
    inner = " ".join(statement(depth - 1) for _ in range(random.randrange(1, 4)))
    if kind < 14:
        other = f" else {{ {statement(depth - 1)} }}" if kind == 13 else ""
        return f"if ({value()}) {{ {inner} }}{other}"
    if kind < 17:
        jump = random.choice(["", "", f"if ({value(1)}) break;", f"if ({value(1)}) continue;"])
        n = random.randrange(1, 6)
        return (f"for (int i{depth} = 0; i{depth} < {n}; i{depth}++) "
                f"{{ {jump} {inner} }}")
    if kind == 17:
        cases = " ".join(f"case {n}: {statement(0)} {random.choice(['', 'break;'])}"
                         for n in random.sample(range(8), random.randrange(1, 7)))
        return f"switch (({value()}) & 7) {{ {cases} default: {statement(0)} }}"
    if kind == 18:
        return f"if ((({value()}) & 511) == 77) goto out;"
    return f"{{ int n = 3; do {{ {inner} }} while (n-- > 0 && ({value(1)})); }}"


print("""#include <cosy.h>
#include <errno.h>
#include <stdio.h>
#include <unistd.h>
static long memory[32];
static int helper(int n, long *p)
{
	int r = 0;
	for (int i = 0; i < (n & 3); i++)
		r = r * 5 + (*p ^= i * n);
	return r;
}
int main(void)
{""")
for name, ty in variables:
    print(f"\t{ty} {name} = {random.randrange(-300, 300)};")
print("\tCOSY_START;")
for _ in range(size):
    print("\t" + statement())
print("\tCOSY_END;\nout:")
for name, _ in variables:
    print(f'\tprintf("{name} %ld\\n", (long){name});')
print('\tfor (int i = 0; i < 32; i++)\n\t\tprintf("%lx ", memory[i]);\n'
      '\tputs("");\n\treturn 0;\n}')
