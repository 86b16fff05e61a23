# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""compare-suite.py COSY-COMPARE FIND: run its suite over few files, on a machine without git and grep,
and with another program instead of find."""

import json
import os
import shutil
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(__file__))
from compare_module import load

compare = load(sys.argv[1])
compare.FILES, compare.FOLDERS = 16, 2

with tempfile.TemporaryDirectory() as top:
    programs, files = os.path.join(top, "programs"), os.path.join(top, "files")
    os.mkdir(programs)
    os.mkdir(files)
    for name in ("du", "tar", "ls", "cp", "rm", "stat"):
        os.symlink(shutil.which(name), os.path.join(programs, name))
    shutil.copy(sys.argv[2], os.path.join(programs, "find"))
    os.environ["PATH"] = programs
    figures = os.path.join(top, "figures.json")
    sys.argv = [sys.argv[1], "--suite", "--runs", "1", "--directory", files, "--json", figures]
    try:
        compare.main()
    except SystemExit as end:
        assert end.code == 0, f"status {end.code}"
    with open(figures, encoding="utf-8") as file:
        results = json.load(file)
    for kind, key in (("measured", "ways"), ("skipped", "skipped")):
        names = ", ".join(name for name, result in results.items() if key in result)
        print(f"{kind}: {names}", file=sys.stderr)
    print(f"left: {os.listdir(files)}", file=sys.stderr)
