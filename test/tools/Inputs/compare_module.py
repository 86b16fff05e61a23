# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""cosy-compare as a module."""

import importlib.machinery
import importlib.util


def load(path):
    """Return the program cosy-compare as a module."""
    loader = importlib.machinery.SourceFileLoader("compare", path)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("compare", loader))
    loader.exec_module(module)
    return module
