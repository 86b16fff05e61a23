# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Build the extension with the libcosy-batch that pkg-config finds.

PKG_CONFIG is the command, by default pkg-config.
"""

import os
import shlex
import subprocess
import sys
import tempfile

from setuptools import Extension, setup


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


# pip builds in the source tree. Nothing is left there; a source distribution contains the metadata.
with tempfile.TemporaryDirectory() as work:
    setup(
        ext_modules=[Extension(
            "cosy._cosy", ["src/cosy/_cosy.c"],
            extra_compile_args=["-std=gnu11", *pkg_config("--cflags")],
            extra_link_args=pkg_config("--libs"),
            runtime_library_dirs=pkg_config("--variable=libdir"))],
        options={} if "sdist" in sys.argv else {
            "build": {"build_base": work}, "egg_info": {"egg_base": work}})
