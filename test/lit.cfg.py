# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Configuration of lit, the test runner. Each test is a file with RUN lines, which bash executes.
# test/README.md explains what they may use.

import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.dirname(__file__))

import cosy_format

config.name = "cosy"
config.test_format = cosy_format.Test()
# Limits in seconds, for an emulated VM on a busy machine: the slowest test takes 120 on an idle one.
# A command in a VM ends first, and tells what it was doing.
checkers = os.environ.get("COSY_KERNEL") in ("debug", "kcsan", "rt")
vm_seconds = 3000 if checkers or "COSY_CHECK_LONG" in os.environ else 1200
config.maxIndividualTestTime = vm_seconds + 600
try:
    lit_config.maxIndividualTestTime = config.maxIndividualTestTime
except AttributeError:
    pass  # Since LLVM 23, lit reads only the suite's.
# For how long tests race or try at random: longer where the kernel or the user asks for it.
race_seconds = 15 if checkers or "COSY_CHECK_LONG" in os.environ else 5
config.suffixes = [".c", ".cpp", ".cir", ".ll", ".test"]
config.excludes = ["Inputs"]
# A folder's lit.local.cfg may define substitutions that use those below.
config.recursiveExpansionLimit = 4
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.build_root, "test")

bin_dir = os.path.join(config.build_root, "bin")
lib_dir = os.path.join(config.build_root, "lib")
include_dir = os.path.join(config.source_root, "runtime", "include")
scripts = os.path.join(config.source_root, "scripts")

# A test's result must not depend on the user who runs it. Only the variables for finding programs
# and the VM are passed on. In the VM, programs start in half the time without a locale, whose files
# they read from the host.
config.environment = {
    "PATH": os.pathsep.join(
        [bin_dir, config.llvm_tools, "/usr/local/sbin", "/usr/local/bin",
         "/usr/sbin", "/usr/bin", "/sbin", "/bin"]),
    "HOME": os.environ.get("HOME", "/"),
    "LC_ALL": "C",
    "TZ": "UTC",
    "COSY_BUILD": config.build_root,
    "COSY_LLVM": config.llvm,
    "COSY_VM_RETRY": "yes",
    "COSY_VM_TIMEOUT": str(vm_seconds),
}
for name in ("COSY_VM_DIR", "COSY_KERNEL", "COSY_CHECK_LONG", "TMPDIR"):
    if name in os.environ:
        config.environment[name] = os.environ[name]

# A test of the library: by the user executor here, and by all executors in the VM, if there is one.
runs = ["COSY_EXECUTOR=user %bounded %t"]
if "COSY_VM_DIR" in os.environ:
    runs += [f"%vm env COSY_EXECUTOR={executor} %t" for executor in ("user", "auto", "kernel")]

plugin = "-fplugin=" + os.path.join(lib_dir, "cosy-plugin.so")
# Longer names first: they are replaced in this order.
config.substitutions += [(name + r"\b", value) for name, value in [
    ("%cosy-cc", os.path.join(bin_dir, "cosy-cc")),
    ("%cosy-as", os.path.join(bin_dir, "cosy-as")),
    ("%cosy-dis", os.path.join(bin_dir, "cosy-dis")),
    ("%cosy-run", os.path.join(bin_dir, "cosy-run")),
    ("%cosy-objdump", os.path.join(bin_dir, "cosy-objdump")),
    ("%cosy", os.path.join(config.source_root, "cosy")),
    ("%llvm", config.llvm),
    ("%clangxx", f"{config.clangxx} {plugin} -I{include_dir}"),
    ("%clang", f"{config.clang} {plugin} -I{include_dir}"),
    ("%cc", config.clang),
    # The stages of the plugin one by one.  opt has no clang, so this is the plugin of lld,
    # which contains the same stages.
    ("%opt", os.path.join(config.llvm_tools, "opt") + " -load-pass-plugin=" +
     os.path.join(lib_dir, "cosy-lto.so") + " -cosy-verify-each"),
    ("%FileCheck", os.path.join(config.llvm_tools, "FileCheck")),
    ("%not", os.path.join(config.llvm_tools, "not")),
    ("%run-all", os.path.join(scripts, "run-all")),
    ("%vm", os.path.join(bin_dir, "cosy-vm-exec") + f" -T {vm_seconds}"),
    ("%everywhere", " && ".join(runs)),
    # On this machine. A command in the VM has a limit by %vm.
    ("%bounded", os.path.join(scripts, "bounded") + " 600"),
    ("%seconds", str(race_seconds)),
    ("%root", config.source_root),
    ("%build", config.build_root),
    ("%lib", lib_dir),
    ("%include", include_dir),
]]

if "COSY_VM_DIR" in os.environ:
    config.available_features.add("vm")
# Tests that only ./cosy check --long runs (README.md)
if os.environ.get("COSY_CHECK_LONG"):
    config.available_features.add("long")
# The kernels of ./cosy check --debug, for tests that only they can run.
config.available_features.add("kernel-" + os.environ.get("COSY_KERNEL", "6.12"))
# Debian 13 has no gold in binutils.
if shutil.which("ld.gold"):
    config.available_features.add("gold")
# examples/cp and examples/ls do what these programs do in Debian 12, whose later versions differ in details.
version = subprocess.run(["ls", "--version"], stdout=subprocess.PIPE, text=True).stdout.split("\n")[0]
config.available_features.add("coreutils-" + version.split()[-1])
# Built only where llhttp and libsodium-dev are installed.
for name in ("httpd", "cryptserve"):
    if os.path.exists(os.path.join(config.build_root, "examples", name)):
        config.available_features.add(name)
for name in ("debootstrap", "bazel"):
    if shutil.which(name):
        config.available_features.add(name)
if os.geteuid() == 0:
    config.available_features.add("root")
# Not in a chroot whose directory is no mount.
if not subprocess.run(["unshare", "--mount", "true"], stderr=subprocess.DEVNULL).returncode:
    config.available_features.add("mount-namespace")
