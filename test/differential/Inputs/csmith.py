# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Programs of csmith with regions: source(seed) is a program whose main is main_SEED.
#
# csmith prints one statement per line and the braces of each block on separate lines. So its
# programs are marked line by line: in each function the body becomes a region, or a block in it
# that no goto can enter.

import os
import random
import re
import subprocess
import tempfile

HEADER = "#include <cosy.h>\n#include <csmith.h>\n"
# csmith does not limit numbers that it converts to integers, which is undefined without the last
# flag.
# It also passes float * as char *, which is an error without an option since clang 20.
FLAGS = ["-isystem", "/usr/include/csmith", "-w", "-Wno-incompatible-pointer-types",
         "-fno-strict-float-cast-overflow"]
# Programs that take longer natively are skipped, because some are endless.
NATIVE_CPU_MS = 100


def options(rng):
    """Options for small programs of many kinds."""
    flags = ["--concise", "--max-funcs", rng.randint(3, 7), "--max-block-depth", rng.randint(2, 4),
             "--max-block-size", rng.randint(3, 6), "--max-expr-complexity", rng.randint(3, 10),
             "--max-array-dim", rng.randint(1, 3), "--max-array-len-per-dim", rng.randint(2, 6),
             "--max-pointer-depth", rng.randint(1, 3), "--max-struct-fields", rng.randint(2, 6),
             "--strict-float"]
    for flag, chance in (("--inline-function", .3), ("--float", .1), ("--no-packed-struct", .5),
                         ("--no-volatiles", .3), ("--no-unions", .3),
                         ("--no-bitfields", .3), ("--no-pointers", .1), ("--no-jumps", .3)):
        if rng.random() < chance:
            flags.append(flag)
    return [str(flag) for flag in flags]


def blocks(lines, begin):
    """The blocks of the function whose body opens at line begin: (open, close, depth)."""
    stack, found = [], []
    for n in range(begin, len(lines)):
        text = lines[n].strip()
        if text.startswith("{") and not text.endswith("}"):
            stack.append(n)
        elif text == "}":
            found.append((stack.pop(), n, len(stack)))
            if not stack:
                return found
    raise ValueError("csmith's output has braces that are not understood")


def mark(lines, rng):
    """Make a region in each function except main."""
    starts, ends = set(), set()
    for n, line in enumerate(lines):
        if not line.startswith("{") or "main" in lines[n - 1]:
            continue
        found = blocks(lines, n)
        whole = found[-1]
        inner = [b for b in found[:-1] if b[1] > b[0] + 1 and
                 not any(re.match(r"\s*lbl_\w+:", text) for text in lines[b[0]:b[1]])]
        # The functions that main calls are separate regions, so that every program runs one.
        chosen = whole
        if inner and "func_1(" not in lines[n - 1] and rng.random() < .5:
            chosen = rng.choice(inner)
        starts.add(chosen[0])
        last = chosen[1]
        # COSY_END is before a final statement that leaves the block, unless this is a branch of
        # an if.
        if (re.match(r"\s*(return\b.*|break|continue|goto \w+);$", lines[last - 1]) and
                not re.match(r"\s*(if|else|for)\b", lines[last - 2])):
            last -= 1
        ends.add(last)
    out = []
    for n, line in enumerate(lines):
        if n in ends:
            out.append("COSY_END;")
        out.append(line)
        if n in starts:
            out.append("COSY_START;")
    return out


def generate(arguments):
    """csmith needs a file platform.info in the working directory, and creates it if there is
    none. If several start at the same time, some find an incomplete file, and fail."""
    with tempfile.TemporaryDirectory() as directory:
        with open(os.path.join(directory, "platform.info"), "w", encoding="ascii") as out:
            out.write("integer size = 4\npointer size = 8\n")
        return subprocess.run(["csmith"] + arguments, check=True, stdout=subprocess.PIPE,
                              text=True, timeout=600, cwd=directory).stdout


def source(seed):
    rng = random.Random(seed)
    text = generate(["--seed", str(seed)] + options(rng))
    text = text.replace('#include "csmith.h"', "")
    lines = mark(text.splitlines(), rng)
    # The programs of a batch are in one file, so file-scope names get the seed.
    text = re.sub(r"\b(g_\d+|func_\d+|[SU]\d+|__undefined|main)\b", rf"\1_{seed}",
                  "\n".join(lines))
    return f"/* csmith, seed {seed}: {' '.join(options(random.Random(seed)))} */\n{text}\n"
