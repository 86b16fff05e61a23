/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * open-files.h - compounds of several calls: the resources of one are released when another one fails.
 */
#ifndef OPEN_FILES_H
#define OPEN_FILES_H

#include "calls.h"

static void several_begin(void)
{
	run_begins();
	if (lseek(file, 0, SEEK_SET) || lseek(copy, 0, SEEK_SET))
		die("lseek");
	frame[1] = (uintptr_t)buffer;
}

#define HINTED(d, nr, n, hint) OP(SYS, .dst = d, .width = n, .imm = nr, .c = hint)

static void load_private(void)
{
	handle = must_load(dev, 7,
			   HINTED(0, SYS_openat, 4, COSY_HINT_PRIVATE), ARGI(AT_FDCWD),
			   ARGI(P(FILE_NAME)), ARGI(O_RDONLY), ARGI(0),
			   HINTED(5, SYS_read, 3, COSY_HINT_PRIVATE), ARG(0), ARG(1), ARGI(4096),
			   HINTED(6, SYS_close, 1, COSY_HINT_PRIVATE), ARG(0), EXIT(0));
}

/* It is left while the file is open and not in the table. */
static void load_private_left(void)
{
	handle = must_load(dev, 7,
			   HINTED(0, SYS_openat, 4, COSY_HINT_PRIVATE), ARGI(AT_FDCWD),
			   ARGI(P(FILE_NAME)), ARGI(O_RDONLY), ARGI(0), UPCALL(1),
			   HINTED(5, SYS_read, 3, COSY_HINT_PRIVATE), ARG(0), ARG(1), ARGI(4096),
			   HINTED(6, SYS_close, 1, COSY_HINT_PRIVATE), ARG(0), EXIT(0));
}

static void load_borrow(void)
{
	handle = must_load(dev, 7,
			   HINTED(0, SYS_read, 3, COSY_HINT_BORROW), ARGI(file), ARG(1),
			   ARGI(FILE_SIZE),
			   HINTED(5, SYS_write, 3, COSY_HINT_BORROW), ARGI(copy), ARG(1), ARG(0),
			   EXIT(0));
}

static void load_borrow_left(void)
{
	handle = must_load(dev, 7,
			   HINTED(0, SYS_read, 3, COSY_HINT_BORROW), ARGI(file), ARG(1),
			   ARGI(FILE_SIZE), UPCALL(1),
			   HINTED(5, SYS_write, 3, COSY_HINT_BORROW), ARGI(copy), ARG(1), ARG(0),
			   EXIT(0));
}

static void load_joined(void)
{
	handle = must_load(dev, 7,
			   HINTED(0, SYS_lseek, 3, COSY_HINT_JOIN), ARGI(file), ARGI(100),
			   ARGI(SEEK_SET), SYS(5, SYS_read, 3), ARGI(file), ARG(1), ARGI(64),
			   SYS(6, SYS_write, 3), ARGI(copy), ARG(1), ARGI(64), EXIT(0));
}

static void try_several(void)
{
	static const struct {
		const char *name;
		void (*load)(void);
	} several[] = {
		{ "a private file", load_private },
		{ "a private file, left", load_private_left },
		{ "a borrowed read", load_borrow },
		{ "a borrowed read, left", load_borrow_left },
		{ "a joined read", load_joined },
	};

	recreate();
	file = open(FILE_NAME, O_RDWR | O_CLOEXEC);
	copy = open(COPY_NAME, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (file < 0 || copy < 0)
		die(FILE_NAME);
	for (size_t i = 0; i < sizeof(several) / sizeof(*several); i++) {
		several[i].load();
		try(&(struct operation)OPERATION(several[i].name, several_begin, run_it, NULL,
						 COSY_RUN_DONE));
		unload_it();
	}
	close(file);
	close(copy);
}

#endif /* OPEN_FILES_H */
