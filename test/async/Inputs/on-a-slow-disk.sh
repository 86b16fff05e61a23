# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# shellcheck shell=bash
#
# on-a-slow-disk.sh PROGRAM - in the VM: run `PROGRAM IMAGE DIRECTORY` as root, for a new ext4 file
# system in IMAGE, and a folder to mount it at (slow-disk.h).

set -eu
tmp=$(mktemp -d /tmp/cosy-disk-XXXXXX)
# If the program fails, it does not unmount.
trap 'umount -l "$tmp/disk" 2>/dev/null || true; rm -rf "$tmp"' EXIT
# There is one device.
exec 9>/tmp/cosy-slow-disk.lock
flock 9
for release in "$COSY_BUILD"/kernel/*/release; do
	if [[ $(<"$release") == "$(uname -r)" ]]; then
		/sbin/modprobe -d "${release%/release}/root" -a nbd ext4
	fi
done
mkdir "$tmp/disk"
truncate -s 96M "$tmp/image"
/sbin/mkfs.ext4 -q -b 4096 -E lazy_itable_init=0 -O ^has_journal "$tmp/image"
# Otherwise a namespace that another test creates meanwhile would keep the file system mounted.
unshare --mount --propagation private "$1" "$tmp/image" "$tmp/disk"
