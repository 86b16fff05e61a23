// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* The code of a compound has a separate mapping, which is sealed. */
// RUN: %compile %s -o %t
// RUN: %vm %t
#include "compound.h"

/* Read all of a file; NULL if it does not exist. */
static char *read_all(const char *name)
{
	FILE *file = fopen(name, "r");
	char *text = NULL;
	size_t size = 0;

	if (!file)
		return NULL;
	if (getdelim(&text, &size, '\0', file) < 0)
		text = NULL;
	fclose(file);
	return text;
}

int main(void)
{
	int dev = open_device();
	char *loaded;

	must_load(dev, 1, EXIT(0));
	loaded = read_all("/proc/vmallocinfo");
	check(loaded && strstr(loaded, "cosy_sealed_seal"),
	      "the code of a compound is mapped read-only");
	free(loaded);
	close(dev);
	return finish();
}
