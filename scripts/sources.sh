# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# shellcheck shell=bash
#
# Fetch the sources of scripts/sources.list.  Sourced, after common.sh.

sources=$COSY_BUILD/fetched/sources

# source_lists - fetch the lists of Debian's source packages. The file `complete` says that all are there.
source_lists() {
	apt_lists "$sources/apt" "deb-src http://deb.debian.org/debian bookworm main"
	: >"$sources/apt/complete"
}

# download_source PACKAGE VERSION SHA256 FILE - write the package's sources to FILE, a tar.
download_source() {
	local package=$1 version=$2 sum=$3 file=$4 fetched
	rm -rf "$sources/fetch"
	mkdir -p "$sources/fetch"
	cd "$sources/fetch" || return
	APT_CONFIG=$sources/apt/apt.conf apt-get -q -o APT::Sandbox::User=root source \
		--download-only --tar-only "$package"
	# Some packages have a second archive, which sources.list does not contain.
	fetched=$(echo "${package}_$version".orig.tar.?z)
	[[ -f $fetched ]] || die "Debian 12 has another version of $package than $version"
	[[ $(sha256sum <"$fetched") == "$sum "* ]] || die "$fetched has another checksum than scripts/sources.list"
	mv "$fetched" "$file"
	cd "$sources" || return
	rm -r "$sources/fetch"
}

# fetch_source PACKAGE VERSION SHA256 FILE - the same as download_source, unless FILE exists. With the lock.
fetch_source() {
	[[ ! -f $4 ]] || return 0
	[[ -f $sources/apt/complete ]] || stage "lists of source packages" source_lists
	stage "source of $1 $2" download_source "$@"
}

# source_archive PACKAGE - print the name of the file that contains the package's sources; fetch it
# first unless it exists. Tests that run at the same time may need the same lists.
source_archive() {
	local package=$1 version sum file
	read -r version sum < <(awk -v package="$1" '$1 == package { print $2, $3 }' \
		"$COSY_ROOT/scripts/sources.list")
	file=$sources/$package-$version.tar
	if [[ ! -f $file ]]; then
		mkdir -p "$sources"
		locked "$sources/.lock" "another download of sources" fetch_source "$package" "$version" "$sum" "$file"
	fi
	echo "$file"
}
