// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * A loop is made with a valid number of entries, and mapped as it is: shared, and not executable.
 * It is entered only by its own lseek.
 */
// RUN: %compile %s -o %t
// RUN: %vm %t

#include "Inputs/entries.h"

/* The memory of loops counts from their creation on. What their entries keep counts when they do. */
static void largest(void)
{
	static struct loop loops[64];
	unsigned int n = 0;
	int err = 0;

	while (n < 64 && !(err = create(&loops[n], COSY_ASYNC_MAX_ENTRIES)))
		n++;
	check(n && n < 64 && err == -EDQUOT, "EDQUOT: %u loops of the largest size reach the quota of a user", n);
	while (n--)
		destroy(&loops[n]);
}

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
		      "EINVAL: a loop cannot have %u entries", wrong[i]);
	}
	c.nentries = 64;
	c.flags = 1;
	check(ioctl(device, COSY_IOC_ASYNC, &c) == -1 && errno == EINVAL,
	      "EINVAL: the flags are unknown");
	c.flags = 0;
	c.size = 4;
	check(ioctl(device, COSY_IOC_ASYNC, &c) == -1 && errno == EINVAL,
	      "EINVAL: the structure is too small");
	check(ioctl(device, COSY_IOC_ASYNC, NULL) == -1 && errno == EFAULT,
	      "EFAULT: the structure is unmapped");
	largest();

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
	check(ioctl(device, COSY_IOC_ASYNC, page) == -1 && errno == EFAULT,
	      "EFAULT: the structure is read-only");
	check(dup(0) == next, "a loop that failed leaves no descriptor");
	close(next);

	check(!create(&loop, 64), "a loop is created");
	check(fcntl(loop.fd, F_GETFD) == FD_CLOEXEC, "its descriptor is closed by exec()");
	check(loop.page->size == sizeof(*loop.page) && loop.page->version == COSY_ASYNC_VERSION &&
	      loop.page->nentries == 64 && loop.page->entries % 64 == 0 &&
	      loop.page->features & COSY_ASYNC_RING, "the page's header");
	check(mmap(NULL, loop.size, PROT_READ | PROT_WRITE, MAP_PRIVATE, loop.fd, 0) == MAP_FAILED,
	      "the page cannot be mapped as private");
	check(mmap(NULL, loop.size, PROT_READ | PROT_EXEC, MAP_SHARED, loop.fd, 0) == MAP_FAILED,
	      "the page cannot be mapped as executable");
	check(mprotect(loop.page, loop.size, PROT_READ | PROT_EXEC) == -1,
	      "the page cannot be made executable later");
	check(mmap(NULL, loop.size + 4096, PROT_READ, MAP_SHARED, loop.fd, 0) == MAP_FAILED,
	      "no more than the page can be mapped");
	check(mmap(NULL, loop.size, PROT_READ, MAP_SHARED, loop.fd, 4096) == MAP_FAILED,
	      "nothing after the page can be mapped");
	check(mremap(loop.page, loop.size, loop.size * 2, MREMAP_MAYMOVE) == MAP_FAILED,
	      "the mapping cannot grow");
	check(enter_loop(&loop, 0) == -EINVAL && enter_loop(&loop, COSY_ASYNC_MAX_DONE + 1) == -EINVAL,
	      "EINVAL: the number of completions is 0 or too large");
	check(lseek(loop.fd, 0, SEEK_SET) == -1 && errno == ESPIPE, "ESPIPE: an ordinary lseek()");
	check(lseek(loop.fd, 1, COSY_RUN_WHENCE) == -1 && errno == ESPIPE,
	      "ESPIPE: the offset has no tag");
	check(read(loop.fd, &c, 1) == -1 && write(loop.fd, &c, 1) == -1,
	      "the loop can be neither read nor written");
	destroy(&loop);
}

int main(void)
{
	device = open_device();
	/* One that no other test has, because this reaches its quota. */
	become_user(61004);
	creating();
	return finish();
}
