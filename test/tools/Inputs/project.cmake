# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
cmake_minimum_required(VERSION 3.20)
project(user LANGUAGES C)
find_package(Cosy REQUIRED)

add_executable(two two.c)
cosy_add_regions(two)

add_executable(two-shared two.c)
cosy_add_regions(two-shared SHARED)

# It would not be linked without the second plugin.
add_executable(two-lto two.c)
cosy_add_regions(two-lto AUTO LTO)
