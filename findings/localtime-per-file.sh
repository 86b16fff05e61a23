#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# genisoimage 1.1.11 and zip 3.0 on glibc 2.36: without TZ in the environment, each localtime() and
# mktime() of glibc gets the status of /etc/localtime. So genisoimage makes 4 such calls for each
# file of an image, more than it makes for the file itself, and zip makes 2. With TZ=:/etc/localtime
# glibc reads that file once and never looks at it again. The results are the same.

# shellcheck source=findings/common.sh
. "$(dirname -- "$(readlink -f -- "$0")")/common.sh"

unpack genisoimage=9:1.1.11-3.4 libmagic1=1:5.44-3 zip=3.0-13+deb12u1
mkdir tree
for ((i = 0; i < 100; i++)); do
	echo "$i" >"tree/file$i"
done
unset TZ

status_of_localtime() {
	traced %file "$@"
	calls 'stat.*"/etc/localtime"'
}

few() {
	local count
	count=$(status_of_localtime "$@")
	((count <= 5)) && echo few || echo "$count"
}

per_file() {
	local count
	count=$(status_of_localtime "$@")
	echo $((count / 100))
}

expect "genisoimage, for each file" 4 "$(per_file genisoimage -quiet -R -J -o image tree)"
expect "genisoimage, TZ set, in all" few "$(TZ=:/etc/localtime few genisoimage -quiet -R -J -o image tree)"
expect "zip, for each file" 2 "$(per_file zip -qr archive.zip tree)"
rm archive.zip
expect "zip, TZ set, in all" few "$(TZ=:/etc/localtime few zip -qr archive.zip tree)"
