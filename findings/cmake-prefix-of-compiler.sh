#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# CMake 3.25.1 and a compiler that is a script around gcc: the script's name decides whether link-time optimisation is
# offered. If the name is a word, a hyphen, and cc or gcc, CMake takes the word for the prefix of a cross compiler,
# and looks for the compiler's own archiver by the name WORD-gcc-ar only. As there is none, CMAKE_C_COMPILER_AR is
# NOTFOUND, and check_ipo_supported() says no, although -flto works. If the same script's name has no hyphen, or
# ends with another word, gcc-ar is found, and the answer is yes. CMAKE_AR is the usual ar in all cases, so nothing
# else tells that there is a prefix.

# shellcheck source=findings/common.sh
. "$(dirname -- "$(readlink -f -- "$0")")/common.sh"

unpack cmake=3.25.1-1 cmake-data=3.25.1-1 libarchive13 libjsoncpp25 librhash0 libuv1
mkdir project
cat >project/CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.9)
project(archive C)
include(CheckIPOSupported)
check_ipo_supported(RESULT supported OUTPUT reason)
get_filename_component(ar "${CMAKE_AR}" NAME)
get_filename_component(compiler_ar "${CMAKE_C_COMPILER_AR}" NAME)
string(REGEX REPLACE "-[0-9.]+$" "" compiler_ar "${compiler_ar}")
message("seen: ${ar}, ${compiler_ar}, ${supported}")
END

# archivers NAME - configure with a compiler of this name, and print CMAKE_AR, CMAKE_C_COMPILER_AR, and whether link-time
# optimisation is supported.
archivers() {
	printf '#!/bin/sh\nexec gcc "$@"\n' >"$1"
	chmod +x "$1"
	rm -rf build
	CC=$folder/$1 cmake -S project -B build 2>&1 | sed -n 's/^seen: //p'
}

for name in script scriptcc cc-script script-wrapper; do
	expect "$name" "ar, gcc-ar, YES" "$(archivers $name)"
done
for name in script-cc script-gcc; do
	expect "$name" "ar, CMAKE_C_COMPILER_AR-NOTFOUND, NO" "$(archivers $name)"
done
