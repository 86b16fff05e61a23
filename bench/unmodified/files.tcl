# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# files.tcl DIRECTORY - print the sum of the sizes of the files in all folders of DIRECTORY, by
# glob and "file stat".

set sum 0
foreach folder [glob -directory [lindex $argv 0] *] {
	foreach file [glob -directory $folder *] {
		file stat $file status
		incr sum $status(size)
	}
}
puts $sum
