# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# cmake -DIN=file -DOUT=file -P library.cmake: the bytes of a file as the
# initialiser of an array.
file(READ ${IN} Hex HEX)
string(REGEX REPLACE "(..)" "0x\\1," Bytes "${Hex}")
file(WRITE ${OUT} "${Bytes}\n")
