// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A key-value store that appends to a log. Each record is a header, the key and the value. The
// last record of a key is valid. A record without a value deletes the key.
// RUN: %cosy-cc -O2 -D_GNU_SOURCE %s -o %t
// RUN: (for i in $(seq 1 300); do echo "set key$((i %% 50)) value$i"; done; echo "del key7"; \
// RUN:  echo "get key8"; echo "get key7"; echo "get none"; echo count; echo compact; \
// RUN:  echo "get key49"; echo count) >%t.1
// RUN: (echo "get key0"; echo "set key0 last"; echo "get key0"; echo count) >%t.2
// RUN: %run-all --file %t.db %t %t.db <%t.1 | FileCheck --check-prefix=FIRST %s
// FIRST: value258
// FIRST-NEXT: not found
// FIRST-NEXT: not found
// FIRST-NEXT: 49 keys, 301 records
// FIRST-NEXT: value299
// FIRST-NEXT: 49 keys, 49 records
// RUN: cp %t.db %t.saved
// RUN: %run-all --before 'cp %t.saved %t.db' %t %t.db <%t.2 | FileCheck --check-prefix=SECOND %s
// SECOND: value300
// SECOND-NEXT: last
// SECOND-NEXT: 49 keys, 50 records
#include <cosy.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#define SLOTS 1024
#define KEY_MAX 64

struct header {
	uint32_t sum;
	uint16_t key_length, value_length;
};

static struct slot {
	char key[KEY_MAX];
	off_t at; /* offset of the value; 0: the slot is free, -1: deleted */
	uint16_t length;
} table[SLOTS];

static int fd = -1;
static off_t end;
static unsigned long keys, records;

static uint32_t sum_of(uint32_t sum, const char *p, size_t n)
{
	while (n--)
		sum = (sum ^ (unsigned char)*p++) * 16777619u;
	return sum;
}

static struct slot *find(const char *key)
{
	uint32_t i = sum_of(2166136261u, key, strlen(key)) % SLOTS;

	while (table[i].at && strcmp(table[i].key, key))
		i = (i + 1) % SLOTS;
	return &table[i];
}

static void index_record(const char *key, off_t at, uint16_t length)
{
	struct slot *slot = find(key);

	keys -= slot->at > 0;
	strcpy(slot->key, key);
	slot->at = length ? at : -1;
	slot->length = length;
	keys += length > 0;
	records++;
}

/* Read the log from its start. An incomplete record at its end is cut off. */
static int load(const char *name)
{
	struct header h;
	char key[KEY_MAX], value[4096];

	fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
	if (fd < 0)
		return -1;
	memset(table, 0, sizeof(table));
	keys = records = 0;
	end = 0;
	COSY_START;
	while (pread(fd, &h, sizeof(h), end) == sizeof(h)) {
		off_t at = end + (off_t)sizeof(h);

		if (h.key_length >= KEY_MAX || h.value_length > sizeof(value))
			break;
		if (pread(fd, key, h.key_length, at) != h.key_length ||
		    pread(fd, value, h.value_length, at + h.key_length) != h.value_length)
			break;
		key[h.key_length] = 0;
		if (sum_of(sum_of(1, key, h.key_length), value, h.value_length) != h.sum)
			break;
		index_record(key, at + h.key_length, h.value_length);
		end = at + h.key_length + h.value_length;
	}
	ftruncate(fd, end);
	COSY_END;
	return 0;
}

static int append(const char *key, const char *value)
{
	struct header h = { .key_length = strlen(key), .value_length = strlen(value) };
	struct iovec parts[3] = {
		{ &h, sizeof(h) },
		{ (char *)key, h.key_length },
		{ (char *)value, h.value_length },
	};
	ssize_t size = sizeof(h) + h.key_length + h.value_length;

	h.sum = sum_of(sum_of(1, key, h.key_length), value, h.value_length);
	COSY_START;
	if (pwritev(fd, parts, 3, end) != size || fdatasync(fd))
		return -1;
	index_record(key, end + size - h.value_length, h.value_length);
	end += size;
	COSY_END;
	return 0;
}

static int get(const char *key, char *value)
{
	struct slot *slot = find(key);

	if (slot->at <= 0 || pread(fd, value, slot->length, slot->at) != slot->length)
		return -1;
	value[slot->length] = 0;
	return slot->length;
}

/* Write the valid records to a new log, which replaces the old one. */
static int compact(const char *name)
{
	char fresh[4096], value[4096];
	struct header h;
	int to;

	snprintf(fresh, sizeof(fresh), "%s.new", name);
	to = open(fresh, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (to < 0)
		return -1;
	COSY_START;
	for (int i = 0; i < SLOTS; i++) {
		const struct slot *slot = &table[i];

		if (slot->at <= 0)
			continue;
		if (pread(fd, value, slot->length, slot->at) != slot->length)
			return -1;
		h.key_length = strlen(slot->key);
		h.value_length = slot->length;
		h.sum = sum_of(sum_of(1, slot->key, h.key_length), value, h.value_length);
		if (write(to, &h, sizeof(h)) < 0 || write(to, slot->key, h.key_length) < 0 ||
		    write(to, value, h.value_length) < 0)
			return -1;
	}
	if (fsync(to) || rename(fresh, name))
		return -1;
	COSY_END;
	close(to);
	close(fd);
	return load(name);
}

int main(int argc, char *argv[])
{
	char line[5000], value[4096 + 1];

	if (argc != 2 || load(argv[1])) {
		perror("kv");
		return 1;
	}
	while (fgets(line, sizeof(line), stdin)) {
		char *command = strtok(line, " \n"), *key = strtok(NULL, " \n");
		char *rest = strtok(NULL, "\n");
		int bad = 0;

		if (!command)
			continue;
		if (!strcmp(command, "compact"))
			bad = compact(argv[1]);
		else if (!strcmp(command, "count"))
			printf("%lu keys, %lu records\n", keys, records);
		else if (!key || strlen(key) >= KEY_MAX)
			bad = 1;
		else if (!strcmp(command, "set"))
			bad = !rest || append(key, rest);
		else if (!strcmp(command, "del"))
			bad = append(key, "");
		else
			puts(get(key, value) < 0 ? "not found" : value);
		if (bad) {
			perror(line);
			return 1;
		}
	}
	return 0;
}
