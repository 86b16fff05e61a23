# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""damage.py IN OUT - change the first compound in IN so that it has too many registers."""
import sys

data = bytearray(open(sys.argv[1], "rb").read())
at = data.index(b"COSY\x01\x00")
data[at + 6:at + 8] = b"\xff\xff"
open(sys.argv[2], "wb").write(data)
