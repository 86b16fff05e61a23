# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Build the extension with the libcosy-batch that pkg-config finds.

PKG_CONFIG is the command, by default pkg-config.
"""

import os
import re
import shlex
import subprocess
import sys
import tempfile

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext


def pkg_config(*arguments):
    command = [*shlex.split(os.environ.get("PKG_CONFIG", "pkg-config")), *arguments, "cosy-batch"]
    try:
        return shlex.split(subprocess.run(command, check=True, text=True,
                                          stdout=subprocess.PIPE).stdout)
    except (OSError, subprocess.CalledProcessError) as error:
        raise SystemExit(
            f"cannot find libcosy-batch by pkg-config: {error}\n"
            "  HINT: run `./cosy install`, or set PKG_CONFIG_PATH to the directory of cosy-batch.pc"
        ) from None


class BuildExtension(build_ext):
    """Ask for the library only to compile, not to make a source distribution."""

    def build_extension(self, ext):
        ext.extra_compile_args += pkg_config("--cflags")
        ext.extra_link_args += pkg_config("--libs")
        # The dynamic linker searches some directories by default.
        sysroot = os.environ.get("PKG_CONFIG_SYSROOT_DIR", "")
        for directory in pkg_config("--variable=libdir"):
            directory = directory.removeprefix(sysroot)
            if not re.fullmatch(r"/usr/lib(64|/[^/]*-linux-gnu)?", directory):
                ext.runtime_library_dirs.append(directory)
        super().build_extension(ext)


# pip builds in the source tree. Nothing is left there; a source distribution contains the metadata.
with tempfile.TemporaryDirectory() as work:
    setup(
        ext_modules=[Extension("cosy._cosy", ["src/cosy/_cosy.c"], extra_compile_args=["-std=gnu11"])],
        cmdclass={"build_ext": BuildExtension},
        options={} if "sdist" in sys.argv else {
            "build": {"build_base": work}, "egg_info": {"egg_base": work}})
