# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# gdb.sh COSY PROGRAM: let gdb attach to a process whose fopen() waits in a call of the module, and print its
# stack. Then let the process go on, and print its status.

"$1" run "$2" changed gdb >/dev/null &
pid=$!
until [ "$(cat /proc/$pid/wchan)" = wait_for_partner ]; do
	if grep -q '^State:.*zombie' /proc/$pid/status; then
		exit 1
	fi
	sleep 0.1
done
read -r number _ </proc/$pid/syscall
echo "in system call $number"
gdb -batch -nx -iex 'set debuginfod enabled off' -p $pid -ex backtrace 2>&1
echo text >/tmp/libc-$pid/fifo
wait $pid
echo "status $?"
