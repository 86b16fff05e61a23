// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cosy.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

int count(const char *name)
{
	char buf[512];
	int n, total = 0;
	int fd;

	COSY_START;
	fd = open(name, O_RDONLY);
	do {
		n = read(fd, buf, sizeof(buf));
		if (n > 0)
			total += n;
	} while (n > 0);
	close(fd);
	COSY_END;
	return total;
}

int pids(int n)
{
	int i, sum = 0;

	COSY_START;
	for (i = 0; i < n; i++)
		sum += getpid() > 0;
	COSY_END;
	return sum;
}

#ifndef LIBRARY
int main(void)
{
	printf("%d %d\n", count("/proc/self/cmdline") > 0, pids(10));
	return 0;
}
#endif
