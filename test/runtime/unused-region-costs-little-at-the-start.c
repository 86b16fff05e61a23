// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * The cost of a region that never runs at the start of a program, from exec to exit: on one CPU
 * that counts instructions.
 */

// RUN: rm -rf %t && mkdir -p %t/plain %t/region
// RUN: %cosy-cc -O2 -Wall %s -DCOSY_START= -DCOSY_END= -o %t/plain/few && %cosy-cc -O2 -Wall %s -include cosy.h -o %t/region/few

// Before main() it makes only the calls that open the device, and none when it ends.
// RUN: for way in plain region; do COSY_EXECUTOR=native strace -o %t/$way.calls %t/$way/few && grep -c '' %t/$way.calls >%t/$way.count; done; cmp %t/plain.count %t/region.count

// Its variables are on the page of the program's variables.
// RUN: for way in plain region; do COSY_EXECUTOR=native %t/$way/few maps | grep -c few >%t/$way.maps; done; cmp %t/plain.maps %t/region.maps

// RUN: %root/scripts/vm/run --icount -- sh -c 'cp -r %t /tmp/start && cd /tmp/start && for by in native auto native auto native auto; do COSY_EXECUTOR=$by setarch -R %build/bench/unmodified-measure -n 21 -a PATH=plain -b PATH=region few || exit; done' >%t/figures
// The linker's placement of libcosy's code determines how many of its pages are mapped: up to
// 8,000. A timer tick takes 12,000, so the least difference of three counts. With the same programs it was
// 17,000 to 29,000 in five boots, by COSY_EXECUTOR=auto 37,000 to 42,000.
// RUN: awk '{ by = NR % 2; print "clang:", $1, "region:", $2; if (!$1) exit 1; if (!(by in least) || $2 - $1 < least[by]) least[by] = $2 - $1 } END { exit !(NR == 6 && least[1] <= 33000 && least[0] <= 48000) }' %t/figures

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static int print_mappings(void)
{
	char text[4096];
	int fd = open("/proc/self/maps", O_RDONLY);
	ssize_t n;

	while ((n = read(fd, text, sizeof(text))) > 0)
		fwrite(text, 1, (size_t)n, stdout);
	return fd < 0;
}

int main(int argc, char **argv)
{
	struct stat a, b;
	int failed = 0;

	if (argc > 1 && *argv[1] == 'm')
		return print_mappings();
	if (argc > 1) {
		COSY_START;
		failed = stat("/", &a);
		if (!failed)
			failed = stat(argv[1], &b);
		COSY_END;
	}
	puts(failed ? "failed" : "done");
	return failed;
}
