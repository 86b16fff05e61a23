# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# advice.sh COSY DIRECTORY: record programs for which only some advice is right, in a VM.

cosy=$1
cd "$2" || exit 1
unset TZ
mkdir /tmp/sizes
i=0
while [ $i -lt 1000 ]; do
	: >/tmp/sizes/file-$i
	i=$((i + 1))
done
for part in records answers copy times sizes reached names; do
	$cosy profile -a --json $part.json -o $part.txt ./advice $part >$part.out || exit 1
done
$cosy profile -a --json go.json -o go.txt ./as-go sizes >go.out || exit 1
$cosy profile -a --json stripped.json -o stripped.txt ./stripped sizes >stripped.out || exit 1
$cosy profile -a --json short.json -o short.txt \
	sh -c 'i=0; while [ $i -lt 20 ]; do /bin/true; i=$((i + 1)); done; exec ls -d /' >short.out
