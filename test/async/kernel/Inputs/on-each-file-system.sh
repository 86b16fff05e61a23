# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# shellcheck shell=bash
#
# on-each-file-system.sh PROGRAM - in the VM: run `PROGRAM DIRECTORY` as root for the roots of new
# file systems.

set -eu
# shellcheck source=test/fast/Inputs/file-systems
. "$(dirname "$0")/../../../fast/Inputs/file-systems"

overlay
for system in tmpfs ext4 overlayfs; do
	echo "$system"
	"$1" "$tmp/$system"
done
