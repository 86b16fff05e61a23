# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# record.sh COSY DIRECTORY: the part of the tests of `cosy profile` that runs in a VM of its own,
# because compounds run natively while it records. DIRECTORY has the programs; what is recorded
# and printed goes there.

cosy=$1
cd "$2" || exit 1

# The second program has neither a dynamic linker nor debug information, and ends like the first
# one.
$cosy profile --json known.json --html known.html -- \
	sh -c './static /etc/hostname; exec ./known /etc/hostname' >known.out 2>known.err
echo "command: $?"

# A program of Debian: stripped, with a C library that libcosy-preload.so knows.
$cosy profile du -s /etc >du.out 2>du.err
echo "du: $?"

# 64-bit code makes calls of 32-bit code.
$cosy profile --json compat.json ./compat >compat.out 2>compat.err
echo "compat: $?"

# The report may be read on a terminal, which names must not control.
name=$(printf '/tmp/x\033[31my')
cp ./static "$name"
$cosy profile "$name" /etc/hostname >name.out 2>name.err

# What is not a regular file any more is not opened: a pipe would block.
cp ./static /tmp/replaced
timeout 300 $cosy profile sh -c '/tmp/replaced /etc/hostname; rm /tmp/replaced; mkfifo /tmp/replaced' >replaced.out 2>replaced.err
echo "replaced: $?"

# Debug information in other files.
for name in linked split piped; do
	echo go | timeout 300 $cosy profile --json $name.json ./$name /etc/hostname calls >$name.out 2>$name.err
	echo "$name: $?"
done

# The report cannot be written, and does not get into the other file.
$cosy profile --json closed.json true 2>&-
echo "closed: $?"

# until_in FILE TEXT - wait until the recorder, or the process, has written TEXT to FILE.
until_in() {
	until grep -q "$2" "$1"; do
		kill -0 $recorder && kill -0 $process || { cat "$1"; exit 1; }
		sleep 0.1
	done
}

# record_process NAME COMMAND... - run it while `-p` records it; the recorder is $recorder.
record_process() {
	rm -f /tmp/go "$1".*
	mkfifo /tmp/go
	( name=$1; shift; exec "$@" </tmp/go >"$name.out" ) &
	process=$!
	exec 3>/tmp/go
	$cosy profile --json "$1.json" -o "$1.txt" -p $process 2>"$1.err" 3>&- &
	recorder=$!
	until_in "$1.err" 'recording process'
	echo go >&3
}

# It ends with the process.
record_process process ./known /etc/hostname calls
exec 3>&-
wait $recorder
echo "process: $?"

# Programs that the process executes are recorded as other ones.
record_process executes sh -c 'read line; ./known /etc/hostname again; ./known /etc/hostname again; :'
exec 3>&-
wait $recorder
echo "executes: $?"

# It also ends by Ctrl-C, and the process continues.
record_process interrupted ./known /etc/hostname calls
until_in interrupted.out called
kill -INT $recorder
wait $recorder
echo "interrupted: $?"
exec 3>&-
wait $process
echo "went on: $?"
