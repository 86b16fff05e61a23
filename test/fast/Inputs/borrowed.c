// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * borrowed.c - copies by a user with much or little memory for compounds: the charge for pages
 * that are borrowed from the page cache, and correct copies.
 *
 * Must run in a separate VM, because it traces the module and changes the limits of users.
 */
#include <cosy.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TRACING "/sys/kernel/tracing/"
#define SIZE (3 << 20)
#define COPIES 20

static char contents[SIZE], found[SIZE];

static void put(const char *name, const char *text)
{
	int fd = open(name, O_WRONLY | O_TRUNC);

	if (fd < 0 || write(fd, text, strlen(text)) < 0) {
		printf("%s: %s\n", name, strerror(errno));
		exit(1);
	}
	close(fd);
}

static void copy(int in, int out, size_t size)
{
	static char buffer[1 << 20];
	ssize_t n;

	COSY_START;
	while ((n = read(in, buffer, size)) > 0 && write(out, buffer, (size_t)n) == n)
		;
	COSY_END;
}

static int open_new(const char *name)
{
	int fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);

	if (fd < 0)
		exit(1);
	return fd;
}

/* The number of charges, and of refusals. */
static void read_trace(int *charged, int *refused)
{
	FILE *trace = fopen(TRACING "trace", "r");
	char line[500];

	*charged = *refused = 0;
	while (trace && fgets(line, sizeof(line), trace)) {
		*charged += strstr(line, " ret=0") != NULL;
		*refused += strstr(line, " ret=-122") != NULL;
	}
	if (trace)
		fclose(trace);
}

static void try(const char *most, size_t size)
{
	int in = open_new("/tmp/from"), out = open_new("/tmp/to"), charged, refused, right = 0;

	if (write(in, contents, SIZE) != SIZE)
		exit(1);
	close(in);
	/* Pages of a file that is open for writing are not borrowed. */
	in = open("/tmp/from", O_RDONLY);
	if (in < 0)
		exit(1);
	/* The compound itself is charged once, in the first run. */
	copy(in, out, size);
	put("/sys/module/cosy/parameters/user_memory", most);
	put(TRACING "trace", "");
	if (seteuid(65534))
		exit(1);
	for (int i = 0; i < COPIES; i++) {
		lseek(in, 0, SEEK_SET);
		lseek(out, 0, SEEK_SET);
		if (ftruncate(out, 0))
			exit(1);
		copy(in, out, size);
		right += pread(out, found, SIZE, 0) == SIZE && !memcmp(contents, found, SIZE);
	}
	if (seteuid(0))
		exit(1);
	read_trace(&charged, &refused);
	printf("%s MiB, by %zu: %d right, %d charged, %d refused\n", most, size, right, charged, refused);
	close(in);
	close(out);
}

int main(void)
{
	for (size_t i = 0; i < SIZE; i++)
		contents[i] = (char)(i * 7 + i / 4096);
	put(TRACING "kprobe_events", "r:charge cosy:cosy_quota_charge ret=$retval:s32");
	put(TRACING "events/kprobes/charge/enable", "1");
	put(TRACING "tracing_on", "1");
	try("256", 65536);
	try("256", 73728);
	try("256", 1 << 20);
	try("2", 1 << 20);
	try("1", 1 << 20);
	try("1", 73728);
	put(TRACING "events/kprobes/charge/enable", "0");
	put(TRACING "kprobe_events", "");
	put("/sys/module/cosy/parameters/user_memory", "256");
	unlink("/tmp/from");
	unlink("/tmp/to");
	return 0;
}
