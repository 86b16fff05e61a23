# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""compare-main.py COSY-COMPARE ARGUMENT...: execute it without the module, so that all calls are native."""

import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(__file__))
from compare_module import load

compare = load(sys.argv[1])
compare.need_module = lambda: None
del sys.argv[0]
compare.main()
