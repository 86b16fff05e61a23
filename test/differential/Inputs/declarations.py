# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Random declarations of functions with libc's names. The functions are of libc or of the program,
# in this or in another file. They are declared as in libc, as in their definition, without
# parameters, not at all, or twice in C++. Global variables change between their calls.
#
# source(seed) is a program whose main is main_SEED. WORLD consecutive programs have common
# declarations and the common file other(seed), because they may be built into one executable.

import random

WORLD = 5
MAY_BE_NATIVE = True  # regions whose functions are not libc's
NATIVE_CPU_MS = 2000
HEADER = """\
#include <cosy.h>
#include <stdint.h>
struct node { int value; struct node *next; };
struct pair { long a, b; };
"""

# Functions of libc that always have the same results, with their types and arguments.
LIBC = {
    "access": ("int", ["const char *", "int"], ['"/nothing/a"', "0"]),
    "alarm": ("unsigned int", ["unsigned int"], ["0"]),
    "fdatasync": ("int", ["int"], ["-1"]),
    "fsync": ("int", ["int"], ["-1"]),
    "getpgrp": ("int", [], []),
    "getppid": ("int", [], []),
    "link": ("int", ["const char *", "const char *"], ['"/nothing/a"', '"/nothing/b"']),
    "lockf": ("int", ["int", "int", "long"], ["-1", "1", "0"]),
    "pwrite": ("long", ["int", "const void *", "unsigned long", "long"],
               ["-1", "&state", "4ul", "0l"]),
    "pread": ("long", ["int", "void *", "unsigned long", "long"], ["-1", "&state", "4ul", "0l"]),
    "rename": ("int", ["const char *", "const char *"], ['"/nothing/a"', '"/nothing/b"']),
    "sched_yield": ("int", [], []),
    "symlink": ("int", ["const char *", "const char *"], ['"/nothing/a"', '"/nothing/b"']),
    "syncfs": ("int", ["int"], ["-1"]),
    "tee": ("long", ["int", "int", "unsigned long", "unsigned int"], ["-1", "-1", "1ul", "0u"]),
    "truncate": ("int", ["const char *", "long"], ['"/nothing/a"', "0l"]),
    "umask": ("unsigned int", ["unsigned int"], ["18u"]),
    "vmsplice": ("long", ["int", "const void *", "unsigned long", "unsigned int"],
                 ["-1", "0", "0ul", "0u"]),
}
# The value depends on the process. Only whether it is positive is the same.
VARIES = ("getpgrp", "getppid")

# Signatures of the program's own functions: types, body, arguments.
OWN = [
    ("int", ["struct node *", "struct node *"], "return a0->value + a1->value;",
     ["&nodes[i & 3]", "nodes"]),
    ("int", ["int", "int"], "return a0 * 3 + a1;", ["i", "state"]),
    ("int", [], "return 12;", []),
    ("long", ["long", "long", "long"], "return a0 + a1 * a2;", ["i", "sum & 255", "state"]),
    ("double", ["double"], "return a0 * 2;", ["(double)i"]),
    ("struct pair", ["struct pair"], "a0.a += a0.b; return a0;", ["both"]),
    ("int", ["const char *"], "return a0[1];", ['"text"']),
    ("unsigned char", ["unsigned char", "signed char"], "return a0 + a1;", ["i", "-3"]),
    ("const char *", ["const char *", "int"], "return a0 + a1;", ['"text"', "i & 3"]),
    ("void", ["int *"], "*a0 += 5;", ["&state"]),
]


class Function:
    def __init__(self, rng, name, cxx):
        self.name, self.call = name, name
        self.types = LIBC[name]
        modes = ["libc", "libc", "libc", "own", "same", "static", "asm", "opt", "pointer"]
        modes += ["namespace", "overload"] if cxx else ["knr", "implicit"]
        self.mode = rng.choice(modes)
        ret, params, args = self.types
        if self.mode == "implicit" and (ret != "int" or "long" in "".join(params)):
            self.mode = "knr"
        self.body = None
        if self.mode in ("own", "static", "opt", "namespace", "overload"):
            ret, params, self.body, args = rng.choice(OWN)
            if self.mode == "overload" and params in ([], LIBC[name][1]):
                ret, params, self.body, args = OWN[0]
        elif self.mode == "same":
            # Addresses differ from run to run.
            numbers = [f" + (int)a{n}" for n, p in enumerate(params) if "*" not in p]
            self.body = f"return 17{''.join(numbers)};"
        self.types = (ret, params, args)

    def signature(self, name):
        ret, params, _ = self.types
        return f"{ret} {name}(" + (", ".join(f"{p} a{n}" for n, p in enumerate(params)) or
                                   "void") + ")"

    def declaration(self, c_linkage):
        ret, _, _ = self.types
        libc_ret, libc_params, _ = LIBC[self.name]
        if self.mode == "implicit":
            return ""
        if self.mode == "knr":
            return f"{ret} {self.name}();\n"
        if self.mode == "static":
            return f"static {self.signature(self.name)} {{ {self.body} }}\n"
        if self.mode == "namespace":
            self.call = f"own::{self.name}"
            return f"namespace own {{ {self.signature(self.name)} {{ {self.body} }} }}\n"
        if self.mode == "overload":
            return (f"{c_linkage}{libc_ret} {self.name}({', '.join(libc_params) or 'void'});\n"
                    f"{self.signature(self.name)} {{ {self.body} }}\n")
        if self.mode == "asm":
            self.call = f"named_{self.name}"
            return f"{c_linkage}{self.signature(self.call)} __asm__(\"{self.name}\");\n"
        if self.mode == "opt":
            return f"{c_linkage}COSY_OWN {self.signature(self.name)};\n"
        if self.mode == "pointer":
            self.call = f"of_{self.name}"
            return (f"{c_linkage}{self.signature(self.name)};\n"
                    f"static __typeof__({self.name}) *const {self.call} = {self.name};\n")
        return f"{c_linkage}{self.signature(self.name)};\n"

    def definition(self):
        """In the other file, which is C."""
        if self.mode in ("own", "same", "opt"):
            return f"{self.signature(self.name)} {{ {self.body} }}\n"
        return ""

    def statement(self):
        ret, _, args = self.types
        call = f"{self.call}({', '.join(args)})"
        if ret == "void":
            return f"{call};"
        if ret == "struct pair":
            return f"both = {call}; both.a &= 0xffff; note(both.a);"
        if ret == "const char *":
            return f"note({call}[0]);"
        if self.body is None and self.name in VARIES:
            return f"note({call} > 0);"
        return f"note((long){call});"


class World:
    def __init__(self, seed):
        rng = random.Random(f"world {seed // WORLD}")
        self.cxx = rng.random() < .3
        self.functions = [Function(rng, name, self.cxx)
                          for name in rng.sample(sorted(LIBC), rng.randint(4, 9))]
        self.flags = ["-w", "-fwrapv"]
        self.flags += ["-xc++", "-std=c++17"] if self.cxx else \
            ["-std=gnu17", "-Wno-implicit-function-declaration"]
        if rng.random() < .1:
            self.flags.append(rng.choice(["-fno-builtin", "-fno-pic", "-fvisibility=hidden"]))
        c_linkage = 'extern "C" ' if self.cxx else ""
        self.declarations = "".join(f.declaration(c_linkage) for f in self.functions)

    def other(self):
        return HEADER + "".join(f.definition() for f in self.functions)


def flags(seed):
    """The options for compiling the programs of a world."""
    return World(seed).flags


def other(seed):
    """The other file of the programs of a world."""
    return World(seed).other()


def shared(seed):
    """The text before the first program of a world."""
    return World(seed).declarations


def source(seed):
    world, rng = World(seed), random.Random(seed)
    lines = []

    def block(indent, depth):
        for _ in range(rng.randint(2, 5)):
            kind = rng.random()
            if kind < .5:
                lines.append(indent + rng.choice(world.functions).statement())
            elif kind < .6 and depth < 2:
                lines.append(f"{indent}if ({rng.choice(['state & 1', 'i > 1', 'sum % 3 == 0'])}) {{")
                block(indent + "\t", depth + 1)
                lines.append(indent + "}")
            elif kind < .65 and depth:
                lines.append(f"{indent}{rng.choice(['continue', 'break'])};")
                return
            else:
                lines.append(indent + rng.choice([
                    "state = state * 5 + i;", "sum += state & 0xffff;", "last = state;",
                    "table[i & 7] = last + state;", "state += table[(i + 1) & 7];",
                    "nodes[i & 3].value = last & 255;", "flag = i; sum += flag;",
                    "note(state);", "sum = (unsigned int)(1 << (i & 15)) + last;",
                    "copy = state; note(copy);"]))

    def function(n, storage):
        lines.append(f"{storage} void part_{seed}_{n}(long sum)")
        lines.append("{")
        lines.append("\tint copy = 0;\n\n\tCOSY_START;")
        lines.append(f"\tfor (int i = 0; i < {rng.randint(1, 5)}; i++) {{")
        block("\t\t", 0)
        lines.append("\t}")
        lines.append("\tCOSY_END;\n\tnote(sum);\n\tnote(copy);\n}\n")

    lines.append("#undef state\n#undef table\n#undef last\n#undef flag\n#undef nodes\n#undef both")
    for name in ("state", "table", "last", "flag", "nodes", "both"):
        lines.append(f"#define {name} {name}_{seed}")
    lines.append("static int state = 3, table[8], last;\nstatic volatile int flag;")
    lines.append("static struct node nodes[4] = {{1, 0}, {2, 0}};\nstatic struct pair both = {1, 2};")
    parts = rng.randint(1, 3)
    for n in range(parts):
        function(n, "static")
    if world.cxx:
        lines.append('extern "C"')
    lines.append(f"int main_{seed}(int argc, char **argv)\n{{")
    for n in range(parts):
        lines.append(f"\tpart_{seed}_{n}({rng.randint(0, 9)});")
    lines.append("\treturn state & 127;\n}\n")
    return "\n".join(lines)
