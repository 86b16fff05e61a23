# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# shellcheck shell=bash
# shellcheck disable=SC2016 # other programs expand these
#
# The programs of bench/{profile,reach}/programs: their files, in the current directory, and their commands.
# Sourced after processes.sh. Programs that are not installed are left out.

scripts=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../unmodified" && pwd)

# program NAME [-p PREPARE] COMMAND... - call each_program's function if this one has to be measured, and is
# installed.
program() {
	local command=$2
	if [[ $command == -p ]]; then
		command=$4
	fi
	if wants "$1" && command -v "$command" >/dev/null; then
		attempt "$1" "$function" "$@"
	fi
}

make_checkout() {
	export HOME=$PWD USER=bench
	cp -r tree checkout
	{
		fossil init repository.fossil
		cd checkout
		fossil open -f ../repository.fossil
		fossil add .
		fossil commit -m all --no-warnings
	} >fossil.log 2>&1 || fail "fossil: $(tail -n 1 fossil.log)"
}

make_subversion() {
	svnadmin create repository.svn
	svn -q import tree "file://$PWD/repository.svn/tree" -m all
	svn -q checkout "file://$PWD/repository.svn/tree" subversion
}

make_mercurial() {
	cp -r tree mercurial
	hg -q init mercurial
	hg -q -R mercurial commit -A -u bench -m all
}

make_cpio() {
	find tree | cpio -o --quiet >archive.cpio
}

# files NAMES COMMAND... - make files with it for these programs, if one is measured.
files() {
	local -a names
	read -ra names <<<"$1"
	if wants "${names[@]}"; then
		attempt "$@"
	fi
}

make_files() {
	export BORG_BASE_DIR=$PWD/borg BORG_RELOCATED_REPO_ACCESS_IS_OK=yes
	export BORG_UNKNOWN_UNENCRYPTED_REPO_ACCESS_IS_OK=yes RESTIC_PASSWORD=bench CCACHE_DIR=$PWD/cache
	make_tree
	files "ninja make" make_build
	files "link ld gold lld" make_objects
	files clamscan make_signatures
	files "git git-gc git-add git-checkout git-clone" make_repository
	files npm make_packages
	files "gcc-c clang-c ccache" make_headers
	files "rsync rsync-copy diff" cp -rp tree copy
	files cpio-i make_cpio
	files "tar-x bsdtar-x 7z-x" tar cf archive.tar tree
	if command -v fossil >/dev/null; then
		files fossil make_checkout
	fi
	if command -v svn >/dev/null; then
		files "svn svn-checkout" make_subversion
	fi
	if command -v hg >/dev/null; then
		files "hg hg-clone" make_mercurial
	fi
	if command -v borg >/dev/null; then
		files borg borg init -e none backup
	fi
	if command -v zip >/dev/null; then
		files unzip zip -qr archive.zip tree
	fi
	if command -v mksquashfs >/dev/null; then
		files unsquashfs mksquashfs tree image.squashfs -quiet -no-progress
	fi
}

# each_program FUNCTION - call it with each program that has to be measured: NAME [-p PREPARE] COMMAND...
each_program() {
	local function=$1 uutils=/usr/lib/cargo/bin/coreutils
	program du du -s tree
	program find find tree -newer reference
	program ls ls -lR tree
	program grep grep -rc "file 1" tree
	program git git -C repository -c core.preloadIndex=false status -uno
	program git-add -p "rm -rf new && cp -r tree new && git -C new init -q" git -C new add .
	program git-checkout -p "rm -rf repository/folder-*" git -C repository checkout -q .
	program git-clone -p "rm -rf new" git clone -q -l repository new
	program cp -p "rm -rf new" cp -r tree new
	program tar tar cf - tree
	program tar-x -p "rm -rf new && mkdir new" tar xf archive.tar -C new
	program rm -p "rm -rf new; cp -r tree new" rm -r new
	program chmod chmod -R go-w tree
	program chown chown -R 0:0 tree
	program diff diff -r tree copy
	program sha256sum sha256sum -- tree/*/*
	program wc wc -- tree/*/*
	program touch touch -- tree/*/*
	program cp-link -p "rm -rf new" cp -rl tree new
	program find-exec find tree -name "*7.txt" -exec stat -c %s {} +
	program rsync-copy -p "rm -rf new" rsync -a tree/ new/
	program rsync rsync -an tree/ copy/
	program cpio-o sh -c "find tree | cpio -o --quiet >new.cpio"
	program cpio-i -p "rm -rf new && mkdir new" sh -c "cd new && cpio -id --quiet <../archive.cpio"
	program perl perl -MFile::Find -e 'find(sub { $n += -s }, "tree"); print $n'
	program python /usr/bin/python3 -c 'import os
print(sum(os.stat(os.path.join(d, f)).st_size for d, _, fs in os.walk("tree") for f in fs))'
	program ninja ninja -C build
	program make make -rs -C build all
	program bfs bfs tree
	program bfs-newer bfs tree -newer reference
	program ncdu ncdu -o - tree
	program fd fdfind . tree
	program fd-size fdfind -S +1k . tree
	program tree tree -s tree
	program uutils-ls "$uutils/ls" -lR tree
	program uutils-du "$uutils/du" -s tree
	program uutils-cp -p "rm -rf new" "$uutils/cp" -r tree new
	program busybox-find busybox find tree -newer reference
	program busybox-du busybox du -s tree
	program busybox-ls busybox ls -lR tree
	program rg rg -c "file 1" tree
	program rg-files rg --files tree
	program exa exa -R tree
	program exa-long exa -lR tree
	program lsd lsd -R tree
	program php php -r '$s = 0; foreach (new RecursiveIteratorIterator(new RecursiveDirectoryIterator("tree")) as $f) $s += $f->getSize(); echo $s;'
	program tcl tclsh "$scripts/files.tcl" tree
	program tcl-absolute tclsh "$scripts/files.tcl" "$PWD/tree"
	program node node "$scripts/files.js" tree
	program npm npm ls --all --offline --prefix packages
	program ruby-glob ruby -e 'puts Dir.glob("tree/*/*").sum { |file| File.size(file) }'
	program lua lua5.4 "$scripts/files.lua" tree
	program link -p "rm -f linked" gcc -o linked "$PWD"/objects/main.o "$PWD"/objects/[0-9]*.o
	program ld ld -r -o linked "$PWD"/objects/main.o "$PWD"/objects/[0-9]*.o
	program gold ld.gold -r -o linked "$PWD"/objects/main.o "$PWD"/objects/[0-9]*.o
	program lld ld.lld-19 -r -o linked "$PWD"/objects/main.o "$PWD"/objects/[0-9]*.o
	program gcc-c gcc -c -I headers -o all.o headers/all.c
	program clang-c clang-19 -c -I headers -o all.o headers/all.c
	program ccache ccache gcc -c -I headers -o all.o headers/all.c
	program git-gc -p "rm -rf new && cp -r repository new" git -C new gc -q
	program fossil fossil status --chdir checkout
	program svn svn status subversion
	program svn-checkout -p "rm -rf new" svn -q checkout "file://$PWD/repository.svn/tree" new
	program hg hg -R mercurial status
	program hg-clone -p "rm -rf new" hg -q clone mercurial new
	program unzip -p "rm -rf new" unzip -q archive.zip -d new
	program zip -p "rm -f new.zip" zip -qr new.zip tree
	program 7z -p "rm -f new.7z" 7z a -bd -mx1 new.7z tree
	program 7z-x -p "rm -rf new" 7z x -bd -onew archive.tar
	program bsdtar bsdtar cf new.tar tree
	program bsdtar-x -p "rm -rf new && mkdir new" bsdtar xf archive.tar -C new
	program mksquashfs -p "rm -f new.squashfs" mksquashfs tree new.squashfs -quiet -no-progress -processors 1
	program unsquashfs -p "rm -rf new" unsquashfs -q -n -d new image.squashfs
	program genisoimage genisoimage -quiet -R -o new.iso tree
	program genisoimage-tz env TZ=:/etc/localtime genisoimage -quiet -R -o new.iso tree
	program xorriso -p "rm -f new.iso" xorriso -as mkisofs -quiet -R -o new.iso tree
	program borg -p "rm -rf new && cp -r backup new" borg create new::all tree
	program clamscan clamscan -d signatures.hdb --no-summary -r tree
	program gdu gdu -n tree
	program rclone rclone size tree
	program restic -p "rm -rf new && restic -q init -r new" restic -q backup -r new tree
	program fdupes fdupes -rq tree
	program jdupes jdupes -rq tree
	program rdfind rdfind -dryrun true -makeresultsfile false tree
	program duff duff -r tree
	program hashdeep hashdeep -j0 -r tree
	program file file -- tree/*/*
	program symlinks symlinks -rv tree
	program detox detox -nr tree
	program rename -p "rm -rf new && cp -r tree new" sh -c "rename s/txt/data/ new/*/*"
	program ruby ruby -e 1
	program dpkg dpkg -V coreutils
	program updatedb updatedb -l 0 -o new.db -U "$PWD/tree"
	program sh sh -c 'i=0; while [ $i -lt 30 ]; do /bin/true; i=$((i + 1)); done'
}
