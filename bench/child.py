# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A command whose output is read while it runs, mostly a VM."""

import contextlib
import os
import signal
import subprocess


@contextlib.contextmanager
def running(command, **options):
    """Run a command for the block. If that is left early, end the command with all its processes: a VM would
    continue."""
    process = subprocess.Popen(command, text=True, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL,
                               process_group=0, **options)
    try:
        yield process
        process.wait()
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGTERM)
            process.wait()
        process.stdout.close()
