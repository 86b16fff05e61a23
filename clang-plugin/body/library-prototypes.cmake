# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# cmake -DIN=file.ll -DOUT=file.inc -P library-prototypes.cmake: a line
# COSY_PROTOTYPE(name, "types") for each function that the IR declares. A letter
# for each type, the result first: v nothing, i 32-bit, l 64-bit, p pointer; '.'
# stands for variable arguments.
file(STRINGS ${IN} Lines REGEX "^declare ")
foreach(Line IN LISTS Lines)
  if(NOT Line MATCHES "^declare (.*)@([A-Za-z_0-9]+)\\(([^)]*)\\)")
    message(FATAL_ERROR "not a declaration: ${Line}")
  endif()
  set(Result "${CMAKE_MATCH_1}")
  set(Name ${CMAKE_MATCH_2})
  string(REPLACE "," ";" Types "${CMAKE_MATCH_3}")
  list(PREPEND Types "${Result}")
  set(Letters "")
  foreach(Type IN LISTS Types)
    if(Type MATCHES "\\.\\.\\.")
      string(APPEND Letters .)
    elseif(Type MATCHES "(^| )(void|i32|i64|ptr)( |$)")
      string(REPLACE void v Letter ${CMAKE_MATCH_2})
      string(REPLACE i32 i Letter ${Letter})
      string(REPLACE i64 l Letter ${Letter})
      string(REPLACE ptr p Letter ${Letter})
      string(APPEND Letters ${Letter})
    else()
      message(FATAL_ERROR "a type that has no letter: ${Line}")
    endif()
  endforeach()
  list(APPEND Table "COSY_PROTOTYPE(${Name}, \"${Letters}\")\n")
endforeach()
list(SORT Table)
list(JOIN Table "" Text)
file(WRITE ${OUT} "${Text}")
