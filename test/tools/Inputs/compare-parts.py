# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""compare-parts.py COSY-COMPARE: check parts of it that need no module."""

import os
import sys
import tempfile
import tracemalloc

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

# An output may be larger than the memory.
with tempfile.TemporaryFile() as output:
    output.truncate(64 << 20)
    tracemalloc.start()
    assert compare.digest(output)[0] == 64 << 20
    assert tracemalloc.get_traced_memory()[1] < 8 << 20
    tracemalloc.stop()

# If this program fails before the command is executed, it is not.
with tempfile.TemporaryDirectory() as directory:
    def no_counter(self, pid):
        raise OSError("no counter")

    compare.Counter.__init__, compare.Counter.missing = no_counter, lambda: None
    ran = os.path.join(directory, "ran")
    arguments = compare.argparse.Namespace(icount=False, prepare=None, input=None, files=[])
    comparison = compare.Comparison(["touch", ran], [compare.Way("native", {})], arguments)
    try:
        comparison.run_once(comparison.ways[0])
        assert False, "the command was executed without a counter"
    except OSError:
        pass
    assert os.waitstatus_to_exitcode(os.wait()[1]) == compare.OWN_FAILURE
    assert not os.path.exists(ran)
