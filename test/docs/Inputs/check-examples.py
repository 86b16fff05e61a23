#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles the C examples of documents and man pages.

usage: check-examples.py FRAMES SCRATCH CLANG CLANG++ DOCUMENT...      (from the root of the checkout)

An example is a ```c block, or a block between .Bd and .Ed of which a line ends in a semicolon. The
examples of a document are numbered from 1. One that FRAMES does not name is compiled as it is. FRAMES
has sections:

    == common                  what is before each frame in C
    == DOCUMENT N              what is around a fragment
    == DOCUMENT N alone        the same, without what is common
    == DOCUMENT N C++          the same, in C++
    == DOCUMENT N warns GROUP  the same, and the plugin warns by -WGROUP
    == DOCUMENT N skip REASON  not compiled

In a frame, these lines stand for the example, of which a line `...` is left out:

    EXAMPLE
    EXAMPLE until TEXT         the lines before the first one that begins with TEXT
    EXAMPLE from TEXT          that line and those after it
"""

import os
import re
import subprocess
import sys

OPTIONS = ["-O2", "-Wall", "-Wno-unused", "-Iruntime/include", "-Ikernel/cosy/uapi", "-Icompound-ir/include",
           "-Ibindings/cpp/include", "-I.", "-c", "-o", "/dev/null"]


def examples(path):
    """Return the examples of a document."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    if path.endswith(".md"):
        return re.findall(r"^```c\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    blocks = re.findall(r"^\.Bd .*?\n(.*?)^\.Ed$", text, re.MULTILINE | re.DOTALL)
    return [re.sub(r"\\&", "", block).replace(r"\e", "\\") for block in blocks
            if re.search(r";$", block, re.MULTILINE)]


def sections(path):
    """Return the sections of FRAMES: (document, number) -> (options, text), and what is before each."""
    with open(path, encoding="utf-8") as file:
        parts = re.split(r"^== (.*)\n", file.read(), flags=re.MULTILINE)[1:]
    frames, common = {}, ""
    for title, text in zip(parts[::2], parts[1::2]):
        if title == "common":
            common = text
            continue
        document, number, *options = title.split(None, 3)
        frames[document, int(number)] = (" ".join(options).split(None, 1) or [""], text)
    return frames, common


def fill(frame, example):
    """Return a frame with its example."""
    lines = [line for line in example.splitlines() if line.strip() != "..."]
    out = []
    for line in frame.splitlines():
        found = re.fullmatch(r"EXAMPLE(?: (until|from) (.*))?", line)
        if not found:
            out.append(line)
            continue
        at = len(lines)
        if found[1]:
            at = next((i for i, text in enumerate(lines) if text.lstrip().startswith(found[2])), None)
            if at is None:
                raise ValueError(f"no line begins with {found[2]!r}")
        out += lines[at:] if found[1] == "from" else lines[:at]
    return "\n".join(out) + "\n"


def compile_example(compiler, name, source):
    """Return: exit status, what the compiler said."""
    with open(name, "w", encoding="utf-8") as file:
        file.write(source)
    done = subprocess.run([*compiler, *OPTIONS, name], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, check=False)
    return done.returncode, done.stdout


def check(scratch, compilers, name, options, source):
    """Return what is wrong with an example, or an empty string."""
    language = options[0] == "C++"
    path = os.path.join(scratch, name.replace("/", "-").replace(" ", "-") + (".cpp" if language else ".c"))
    status, said = compile_example(compilers[language], path, source)
    group = options[1] if options[0] == "warns" else None
    warned = set(re.findall(r"\[-W([\w-]+)\]", said))
    if status or warned - {group}:
        return f"{name}: does not compile without a warning\n{said}"
    if group and group not in warned:
        return f"{name}: -W{group} does not warn\n"
    return ""


def main(frames_path, scratch, clang, clangxx, *documents):
    frames, common = sections(frames_path)
    compilers = (clang.split(), [*clangxx.split(), "-std=c++20"])
    count, wrong = 0, ""
    for document in documents:
        for number, example in enumerate(examples(document), 1):
            options, frame = frames.pop((document, number), ([""], None))
            if options[0] == "skip":
                continue
            name = f"{document} {number}"
            try:
                source = fill(frame if options[0] in ("alone", "C++") else common + frame, example) if frame else example
            except ValueError as error:
                wrong += f"{name}: {error}\n"
                continue
            count += 1
            wrong += check(scratch, compilers, name, options, source)
    for document, number in frames:
        if document in documents:
            wrong += f"{document} {number}: there is no such example\n"
    print(wrong + f"{count} examples")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
