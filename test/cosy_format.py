# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The format of the tests. It is a separate module, because lit passes it to other processes by
name."""

import hashlib
import os
import re
import resource

import lit.formats
import lit.Test

# The text of a test that runs a command in the VM, or in a separate VM.
NEEDS_VM = re.compile(r"%vm\b|%run-all\b(?!.*--only native,user\b)|vm/run\b|vm-exec|"
                      r"--executor [a-z,]*kernel|REQUIRES: vm")

# The text of a test that uses scripts, programs or inputs of the source tree.
USES_SOURCES = re.compile(r"%(root|run-all|S)\b|%cosy\b(?!-)")


def cpu_seconds():
    """Return the CPU time of all children that have ended. A process of lit runs one test at a time."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def passed_line(test):
    """
    Return what COSY_CHECK_PASSED contains of a test that has passed: it is another one if the test
    changes, or what it uses of the source tree, of which scripts/check-long sets COSY_CHECK_SOURCES.
    """
    with open(test.getSourcePath(), errors="replace") as file:
        text = file.read()
    if USES_SOURCES.search(text):
        text += os.environ.get("COSY_CHECK_SOURCES", "")
    return f"{hashlib.sha256(text.encode()).hexdigest()} {test.getFullName()}\n"


class Test(lit.formats.ShTest):
    """
    A test with RUN lines.  Without a VM, a test that needs one is reported as not run.  With
    COSY_CHECK_PASSED, neither is one that passed before scripts/check-long was interrupted.  The report
    has the CPU time of its commands and of VMs of its own, which depends less on the machine's load
    than the elapsed time does.
    """

    def __init__(self):
        super().__init__()
        # bash executes the RUN lines. The parameter for that has another name since LLVM 23.
        self.execute_external = True

    def execute(self, test, lit_config):
        if "vm" not in test.config.available_features:
            with open(test.getSourcePath(), errors="replace") as text:
                if NEEDS_VM.search(text.read()):
                    return lit.Test.Result(lit.Test.UNSUPPORTED, "needs a VM")
        record = os.environ.get("COSY_CHECK_PASSED")
        if record and os.path.exists(record):
            with open(record, encoding="utf-8") as lines:
                if passed_line(test) in lines:
                    return lit.Test.Result(lit.Test.PASS, "passed earlier")
        before = cpu_seconds()
        result = super().execute(test, lit_config)
        if record and result.code is lit.Test.PASS:
            with open(record, "a", encoding="utf-8") as lines:
                lines.write(passed_line(test))
        result.addMetric("cpu", lit.Test.RealMetricValue(round(cpu_seconds() - before, 2)))
        return result
