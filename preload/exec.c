// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * exec.c - executes programs without this library that are short, or would not find it.
 *
 * LD_PRELOAD is left out of the environment of short programs (short.h), unless it names other
 * libraries, too.
 *
 * In a container, or after chroot(), the dynamic linker may not be able to load the library. Then it
 * would print a message.
 */
#include <asm/unistd.h>
#include <linux/errno.h>
#include <linux/fcntl.h>
#include <linux/mman.h>
#include <stddef.h>
#include <unistd.h>

#include "device/sys.h"
#include "next.h"
#include "reader.h"
#include "short.h"
#include "watched.h"

#define EXPORTED __attribute__((visibility("default")))

/* A larger environment is copied to memory of its own: threads and handlers of signals may have little stack. */
#define MAX_ON_STACK	96
#define MAX_ENVIRONMENT	8192

typedef int execve_function(const char *path, char *const argv[], char *const envp[]);
typedef int execv_function(const char *path, char *const argv[]);

/*
 * Return true if the dynamic linker of the program would not be able to load the library: its path
 * names no file after chroot() or in another mount namespace, the rights of the process do not
 * suffice, Landlock or another security module denies it, or its file system is mounted noexec. The
 * dynamic linker makes the same calls, so a seccomp filter below which programs are executed allows
 * them. access() uses the real IDs, as the program may after it has lost privileges; only root keeps its
 * capabilities (capabilities.c).
 */
static bool is_missing(void)
{
	const char *path = cosy_own_path();
	long fd, map;

	if (!path)
		return false;
	if (__atomic_load_n(&cosy_needs_capabilities, __ATOMIC_RELAXED))
		return true;
	if (cosy_sys(__NR_access, (long)path, R_OK, 0) < 0)
		return true;
	fd = cosy_sys(__NR_openat, AT_FDCWD, (long)path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return fd != -EMFILE && fd != -ENFILE && fd != -ENOMEM;
	map = cosy_sys6(__NR_mmap, 0, COSY_PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	if (map > 0)
		cosy_sys(__NR_munmap, map, COSY_PAGE, 0);
	cosy_sys(__NR_close, fd, 0, 0);
	return map < 0 && map != -ENOMEM;
}

/* Return true if @value of LD_PRELOAD names this library, and no other one. */
static bool is_only_this(struct reader *reader, const char *value)
{
	const char *name = last_component(reader, value);

	for (; value != name; value++) {
		if (*value == ':' || *value == ' ')
			return false;
	}
	return is_string(reader, name, "libcosy-preload.so");
}

/* Return true if a variable LD_PRELOAD in @envp contains the name of this library. */
static bool names_this(struct reader *reader, char *const *envp)
{
	const char *value, *variable;

	for (; (variable = read_pointer(reader, envp)); envp++) {
		value = after(reader, variable, "LD_PRELOAD=");
		for (; value && read_char(reader, value); value++)
			if (after(reader, value, "libcosy-preload.so"))
				return true;
	}
	return false;
}

static void say(struct reader *reader, const char *text)
{
	const char *end = text;

	while (read_char(reader, end))
		end++;
	cosy_sys(__NR_write, 2, (long)text, end - text);
}

/*
 * Print that this program executes another one without the library, although the library has not
 * left itself out: some programs replace LD_PRELOAD (mold -run), others clear the environment.
 */
static void report_loss(struct reader *reader, const char *path, char *const *envp)
{
	if (names_this(reader, envp) || reader->failed)
		return;
	say(reader, "cosy: ");
	say(reader, path);
	say(reader, ": executed with an LD_PRELOAD without Cosy's library: its calls are native\n");
}

/*
 * Return the number of pointers of a copy of @envp without LD_PRELOAD, with that at its end; 0 if there
 * is nothing to leave out, or if that is not possible, as with more than @max variables.
 */
static size_t size_without(struct reader *reader, char *const *envp, size_t max)
{
	const char *value;
	bool found = false;
	char *variable;

	for (size_t i = 0; i <= max; i++) {
		variable = read_pointer(reader, &envp[i]);
		if (!variable)
			return found && !reader->failed ? i : 0;
		value = after(reader, variable, "LD_PRELOAD=");
		if (value && (found || !is_only_this(reader, value)))
			return 0;
		if (value)
			found = true;
	}
	return 0;
}

static bool is_preload(const char *variable)
{
	const char *name = "LD_PRELOAD=";

	while (*name && *variable == *name) {
		variable++;
		name++;
	}
	return !*name;
}

/*
 * Copy the pointers of @envp to @copy, which has @size of them, without LD_PRELOAD. They have been
 * read before.
 */
static char *const *copy_without(char *const *envp, char **copy, size_t size)
{
	size_t n = 0;

	for (; *envp && n < size - 1; envp++) {
		if (!is_preload(*envp))
			copy[n++] = *envp;
	}
	copy[n] = NULL;
	return copy;
}

/* Return memory for @size pointers, or NULL. */
static char **map_copy(size_t size)
{
	long copy = cosy_sys6(__NR_mmap, 0, (long)(size * sizeof(char *)), PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return copy > 0 ? (char **)copy : NULL;
}

/* After a call with the environment @with: unmap it if it is a copy of @envp that was mapped. */
static void release(char *const *with, char *const *envp)
{
	size_t size = 1;

	if (with == envp)
		return;
	while (with[size - 1])
		size++;
	if (size > MAX_ON_STACK)
		cosy_sys(__NR_munmap, (long)with, (long)(size * sizeof(char *)), 0);
}

/*
 * Return the size of the copy of the environment with which to execute a program, as size_without();
 * 0 to execute it with @envp itself. With COSY_EXECUTOR=kernel, short programs use the module, too.
 * A copy that was mapped is unmapped if the function @returns. Exec does not, and the child of vfork()
 * would leave the copy in its parent. So it executes short programs with the library then.
 */
static size_t copy_size(const char *path, char *const *argv, char *const *envp, bool returns)
{
	struct reader reader = READER;
	size_t size = 0;

	if (cosy_prints_messages())
		report_loss(&reader, path, envp);
	if (!cosy_opens_at_first_call() && cosy_is_short_program(&reader, path, argv))
		size = size_without(&reader, envp, returns ? MAX_ENVIRONMENT : MAX_ON_STACK);
	if (!size && is_missing())
		size = size_without(&reader, envp, MAX_ENVIRONMENT);
	return reader.failed ? 0 : size;
}

/*
 * The environment with which to execute a program, for release(): @envp, or a copy without LD_PRELOAD.
 * A small one is on the stack of the caller, because the child of vfork() shares all other memory with
 * its parent.
 */
#define ENVIRONMENT(path, argv, envp, returns)						\
	({										\
		size_t size_ = copy_size(path, argv, envp, returns);			\
		char **copy_ = size_ > MAX_ON_STACK ?					\
				       map_copy(size_) :				\
				       __builtin_alloca(size_ * sizeof(char *));	\
											\
		size_ && copy_ ? copy_without(envp, copy_, size_) : (envp);		\
	})

/*
 * Define a function that executes the program @path: it calls the function that @find returns, with the
 * environment @with.
 */
#define EXECUTES(function, find, returns, path, params, ...)			\
	EXPORTED int function params						\
	{									\
		int (*next) params = find;					\
		char *const *with = ENVIRONMENT(path, argv, envp, returns);	\
		int result = next(__VA_ARGS__);					\
										\
		release(with, envp);						\
		return result;							\
	}

EXECUTES(execve, cosy_next_named("execve"), false, path,
	 (const char *path, char *const argv[], char *const envp[]), path, argv, with)
EXECUTES(execvpe, cosy_next_named("execvpe"), false, file,
	 (const char *file, char *const argv[], char *const envp[]), file, argv, with)
EXECUTES(execveat, cosy_next_named("execveat"), false, path,
	 (int dir, const char *path, char *const argv[], char *const envp[], int flags),
	 dir, path, argv, with, flags)
EXECUTES(fexecve, cosy_next_named("fexecve"), false, "",
	 (int fd, char *const argv[], char *const envp[]), fd, argv, with)

/*
 * Execute a program with the environment of the process: by @with if LD_PRELOAD has to be left
 * out, else by @function. A library that interposes one of them must see the same calls as
 * natively.
 */
static int execute(const char *function, const char *with, const char *path, char *const *argv)
{
	execv_function *libc = cosy_preload_next(function), *next;
	execve_function *libc_with = cosy_preload_next(with);
	char *const *envp = __environ, *const *new;
	int result;

	if (!libc || !libc_with) {
		next = cosy_next_named(function);
		return next(path, argv);
	}
	new = ENVIRONMENT(path, argv, envp, false);
	if (new == envp)
		return libc(path, argv);
	result = libc_with(path, argv, new);
	release(new, envp);
	return result;
}

EXPORTED int execv(const char *path, char *const argv[])
{
	return execute("execv", "execve", path, argv);
}

EXPORTED int execvp(const char *file, char *const argv[])
{
	return execute("execvp", "execvpe", file, argv);
}

/* What execl() and its like have saved: see stubs.S. */
static char *list_argument(char *const *saved, size_t i)
{
	return i < 6 ? saved[6 - i] : saved[8 + i - 6];
}

/* execl() and its like return this after an attempt to execute the program. */
static int fail(void)
{
	return -1;
}

void *cosy_before_list(enum cosy_list function, char *const *saved)
{
	static const char names[][8] = { "execl", "execle", "execlp" };
	static const char withs[][8] = { "execve", "execve", "execvpe" };
	void *libc = cosy_preload_next(names[function]);
	execve_function *libc_with = cosy_preload_next(withs[function]);
	const char *path = list_argument(saved, 0);
	char *const *envp = __environ, *const *new;
	size_t count = 0;
	char **argv;

	if (!libc || !libc_with)
		return cosy_next_named(names[function]);
	while (list_argument(saved, 1 + count))
		count++;
	argv = __builtin_alloca((count + 1) * sizeof(*argv));
	for (size_t i = 0; i <= count; i++)
		argv[i] = list_argument(saved, 1 + i);
	if (function == COSY_LIST_execle)
		envp = (char *const *)list_argument(saved, count + 2);
	new = ENVIRONMENT(path, argv, envp, false);
	if (new == envp)
		return libc;
	libc_with(path, argv, new);
	release(new, envp);
	return fail;
}

/*
 * The C library executes the shell with the environment of the process, so that is replaced by a
 * copy. It stays, because another thread may read it at any time.
 */
void cosy_before_shell(void)
{
	struct reader reader = READER;
	char **envp = __environ;
	size_t size;
	char **copy;

	if (!is_missing())
		return;
	size = size_without(&reader, envp, MAX_ENVIRONMENT);
	copy = size ? map_copy(size) : NULL;
	if (copy)
		__atomic_store_n(&__environ, (char **)copy_without(envp, copy, size),
				 __ATOMIC_RELEASE);
}

#define SPAWNS(function, find)								\
	EXECUTES(function, find, true, path,						\
		 (int *pid, const char *path, const void *actions, const void *attributes,	\
		  char *const argv[], char *const envp[]),				\
		 pid, path, actions, attributes, argv, with)

SPAWNS(posix_spawn, cosy_before(COSY_FN_posix_spawn, 0, 0))
SPAWNS(posix_spawnp, cosy_before(COSY_FN_posix_spawnp, 0, 0))

/* Programs look for these functions, so they exist only where the C library has them. */
#ifdef COSY_HAVE_PIDFD_SPAWN
static void *before_pidfd_spawn(const char *name)
{
	cosy_before_fork();
	return cosy_next_named(name);
}

SPAWNS(pidfd_spawn, before_pidfd_spawn("pidfd_spawn"))
SPAWNS(pidfd_spawnp, before_pidfd_spawn("pidfd_spawnp"))
#endif
