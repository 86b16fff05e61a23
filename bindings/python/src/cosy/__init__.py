# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Many file operations in one crossing into the kernel.

scandir() replaces os.scandir(); its entries already have their status. stat_many(),
read_many() and unlink_many() take any number of paths and return a list with a result for
each. If a path fails, its result is the OSError, which is not raised. copy_file() copies
one regular file.

Without the Cosy kernel module they make the same system calls one by one.
"""

from ._cosy import (DirEntry, ScandirIterator, copy_file, read_many, scandir, stat_many,
                    unlink_many)

__all__ = ["DirEntry", "ScandirIterator", "copy_file", "read_many", "scandir", "stat_many",
           "unlink_many"]
