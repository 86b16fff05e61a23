// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * A loop is made with a valid number of entries, and mapped as it is: shared, and not executable.
 * It is entered only by its own lseek.
 */
// RUN: %compile %s -o %t
// RUN: %vm timeout 900 %t

#include "Inputs/entries.h"

static void creating(void)
{
	struct cosy_async_create c = { .size = sizeof(c), .nentries = 64 };
	static const unsigned int wrong[] = { 0, 1, 63, 65, 32, 3 << 10, COSY_ASYNC_MAX_ENTRIES * 2,
					      ~0u };
	struct cosy_info info = { .size = sizeof(info) };
	struct loop loop;

	check(!ioctl(device, COSY_IOC_INFO, &info) && info.features & COSY_FEATURE_ASYNC,
	      "the module says that it makes loops");
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		c.nentries = wrong[i];
		check(ioctl(device, COSY_IOC_ASYNC, &c) == -1 && errno == EINVAL,
		      "%u entries are invalid", wrong[i]);
	}
	c.nentries = 64;
	c.flags = 1;
	check(ioctl(device, COSY_IOC_ASYNC, &c) == -1 && errno == EINVAL, "unknown flags");
	c.flags = 0;
	c.size = 4;
	check(ioctl(device, COSY_IOC_ASYNC, &c) == -1 && errno == EINVAL, "too small a structure");
	check(ioctl(device, COSY_IOC_ASYNC, NULL) == -1 && errno == EFAULT, "no structure");
	check(create(&loop, COSY_ASYNC_MAX_ENTRIES) == -EDQUOT, "more than a user may have");

	/*
	 * The answer cannot be written. There must be no descriptor that the process does not
	 * know.
	 */
	int next = dup(0);

	close(next);
	struct cosy_async_create *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
					      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	*page = (struct cosy_async_create){ .size = sizeof(*page), .nentries = 64 };
	mprotect(page, 4096, PROT_READ);
	check(ioctl(device, COSY_IOC_ASYNC, page) == -1 && errno == EFAULT, "read-only");
	check(dup(0) == next, "no descriptor is left behind");
	close(next);

	check(!create(&loop, 64), "a loop");
	check(fcntl(loop.fd, F_GETFD) == FD_CLOEXEC, "close-on-exec");
	check(loop.page->size == sizeof(*loop.page) && loop.page->version == COSY_ASYNC_VERSION &&
	      loop.page->nentries == 64 && loop.page->entries % 64 == 0 &&
	      loop.page->features & COSY_ASYNC_WAITS, "the page's header");
	check(mmap(NULL, loop.size, PROT_READ | PROT_WRITE, MAP_PRIVATE, loop.fd, 0) == MAP_FAILED,
	      "no private mapping");
	check(mmap(NULL, loop.size, PROT_READ | PROT_EXEC, MAP_SHARED, loop.fd, 0) == MAP_FAILED,
	      "no executable mapping");
	check(mprotect(loop.page, loop.size, PROT_READ | PROT_EXEC) == -1, "nor later");
	check(mmap(NULL, loop.size + 4096, PROT_READ, MAP_SHARED, loop.fd, 0) == MAP_FAILED,
	      "not more than there is");
	check(mmap(NULL, loop.size, PROT_READ, MAP_SHARED, loop.fd, 4096) == MAP_FAILED,
	      "nothing behind it");
	check(mremap(loop.page, loop.size, loop.size * 2, MREMAP_MAYMOVE) == MAP_FAILED,
	      "it does not grow");
	check(enter_loop(&loop, 0) == -EINVAL && enter_loop(&loop, COSY_ASYNC_MAX_DONE + 1) == -EINVAL,
	      "the number of completions");
	check(lseek(loop.fd, 0, SEEK_SET) == -1 && errno == ESPIPE, "an ordinary lseek");
	check(lseek(loop.fd, 1, COSY_RUN_WHENCE) == -1 && errno == ESPIPE, "one without the tag");
	check(read(loop.fd, &c, 1) == -1 && write(loop.fd, &c, 1) == -1, "neither read nor written");
	destroy(&loop);
}

int main(void)
{
	device = open_device();
	creating();
	return finish();
}
