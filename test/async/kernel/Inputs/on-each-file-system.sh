# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# shellcheck shell=bash
#
# on-each-file-system.sh PROGRAM - in the VM: run `PROGRAM DIRECTORY` as root for the roots of new
# file systems. For overlays, also give it the directory of the layer to which they write.

set -eu
# shellcheck source=test/fast/Inputs/file-systems
. "$(dirname "$0")/../../../fast/Inputs/file-systems"

for system in tmpfs ext4; do
	echo "$system"
	"$1" "$tmp/$system"
done
echo "overlay on tmpfs"
overlay
"$1" "$tmp/overlayfs" "$tmp/layers/upper"
echo "overlay on ext4"
mkdir "$tmp/disk" "$tmp/ext4/lower" "$tmp/ext4/upper" "$tmp/ext4/work"
mount -t overlay disk "$tmp/disk" -o \
	"lowerdir=$tmp/ext4/lower,upperdir=$tmp/ext4/upper,workdir=$tmp/ext4/work"
"$1" "$tmp/disk" "$tmp/ext4/upper"
