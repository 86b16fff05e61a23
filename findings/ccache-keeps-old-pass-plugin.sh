#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ccache 4.7.5 and clang 19.1.7: ccache knows that a file named by -fplugin= changes what clang does, and compiles again when
# that file has changed. A plugin named by -fpass-plugin=, which can change the code as much, counts as a word of the command
# line. After it has been built anew, or upgraded, ccache returns the objects of the old one, as direct hits. If both options
# name the same file, ccache compiles again. The plugins here rename a function.
#
# Besides what README.md says, this needs g++.

# shellcheck source=findings/common.sh
. "$(dirname -- "$(readlink -f -- "$0")")/common.sh"

version=1:19.1.7-3~deb12u1
unpack clang-19=$version libclang-cpp19=$version libllvm19=$version libclang-common-19-dev=$version \
	llvm-19-dev=$version ccache=4.8+really4.7.5-1 libhiredis0.14

cat >plugin.cpp <<'END'
#include "llvm/IR/Module.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Passes/PassPlugin.h"

using namespace llvm;

namespace {
struct Rename : PassInfoMixin<Rename> {
  PreservedAnalyses run(Module &M, ModuleAnalysisManager &) {
    if (Function *F = M.getFunction("function"))
      F->setName(NAME);
    return PreservedAnalyses::none();
  }
  static bool isRequired() { return true; }
};
} // namespace

extern "C" PassPluginLibraryInfo llvmGetPassPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "rename", "1", [](PassBuilder &PB) {
            PB.registerPipelineStartEPCallback(
                [](ModulePassManager &MPM, OptimizationLevel) { MPM.addPass(Rename()); });
          }};
}
END
for name in old new; do
	g++ -std=c++17 -w -shared -fPIC "-DNAME=\"$name\"" -Iroot/usr/include/llvm-19 -Iroot/usr/include/llvm-c-19 \
		plugin.cpp -o $name.so
done
echo 'void function(void) {}' >function.c
export CCACHE_DIR=$folder/cache

# names OPTION... - compile with the options and the old plugin, then with the new one, which takes its place, and print what
# the function is called.
names() {
	local name
	ccache -C -z >/dev/null
	for name in old new; do
		rm -f plugin.so
		cp $name.so plugin.so
		ccache clang-19 "$@" -c function.c -o function.o
		readelf -sW function.o | awk '$4 == "FUNC" { print $8 }'
	done | paste -sd " "
}

expect "without ccache" "old new" "$(CCACHE_DISABLE=1 names "-fpass-plugin=$folder/plugin.so")"
expect "-fpass-plugin" "old old" "$(names "-fpass-plugin=$folder/plugin.so")"
expect "-fpass-plugin, hits" 1 "$(ccache --print-stats | awk '$1 == "direct_cache_hit" { print $2 }')"
expect "-fplugin, -fpass-plugin" "old new" "$(names "-fplugin=$folder/plugin.so" "-fpass-plugin=$folder/plugin.so")"
