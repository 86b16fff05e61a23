# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""hostile.py COSY-OBJDUMP FILE... - run COSY-OBJDUMP on damaged versions of FILE. It must not
crash."""
import random
import subprocess
import sys

tool = sys.argv[1]
dice = random.Random(19)
for name in sys.argv[2:]:
    good = open(name, "rb").read()
    for round in range(60):
        data = bytearray(good)
        if round % 3 == 0:
            data = data[:dice.randrange(len(data))]
        # Only the headers and tables are damaged. They are at the ends of the file.
        for _ in range(dice.randrange(1, 20)):
            span = min(len(data), dice.choice((64, 1024, len(data))))
            if not span:
                break
            at = dice.randrange(span)
            if dice.random() < 0.5:
                at = len(data) - 1 - at
            data[at] = dice.choice((0, 1, 0x7f, 0x80, 0xff, dice.randrange(256)))
        with open("hostile", "wb") as file:
            file.write(data)
        for option in ("-d", "-s"):
            status = subprocess.run([tool, option, "hostile"], timeout=200,
                                    stdout=subprocess.DEVNULL,
                                    stderr=subprocess.DEVNULL).returncode
            if status not in (0, 1):
                sys.exit(f"{tool} {option}: status {status} for round {round} of {name}")
