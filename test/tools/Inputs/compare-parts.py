# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""compare-parts.py COSY-COMPARE: check parts of it that need no module."""

import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(__file__))
from compare_module import load

compare = load(sys.argv[1])

# Below `cosy run`, the native way has only the other libraries.
LIBRARY = "/opt/lib/cosy-preload/$LIB/libcosy-preload.so"
for value, others in ((LIBRARY, None), (f"libm.so.6:{LIBRARY}", "libm.so.6"),
                      (f"{LIBRARY} a.so", "a.so"), ("a.so:b.so", "a.so:b.so")):
    os.environ["LD_PRELOAD"] = value
    assert compare.plain_environment().get("LD_PRELOAD") == others, value
del os.environ["LD_PRELOAD"]
