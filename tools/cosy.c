// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * cosy - the command for users.
 *
 * `cosy run` executes a program with libcosy-preload.so in LD_PRELOAD. Each other command, such
 * as `cosy profile`, executes a program of its own, such as cosy-profile.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <linux/cosy.h>

#include "program.h"

/* Relative to the directory of this program: where it is installed, and where it is built. */
static const char *const directories[] = {
	COSY_LIB_FROM_BIN "/cosy-preload",
	"../lib/cosy-preload",
};

/* The dynamic linker splits the value of LD_PRELOAD at these. */
#define SEPARATORS ": "

static const char usage[] =
	"usage: cosy run [--] COMMAND [ARGUMENT...]\n"
	"       cosy run --print [[--] COMMAND [ARGUMENT...]]\n"
	"       cosy profile [OPTION...] [--] COMMAND [ARGUMENT...]\n"
	"       cosy compare [OPTION...] [--] COMMAND [ARGUMENT...]\n"
	"       cosy top [OPTION...]\n"
	"       cosy stat [OPTION...]\n"
	"       cosy uninstall\n"
	"       cosy --help | --version\n"
	"\n"
	"  run        execute COMMAND; the Cosy module makes its system calls that take\n"
	"             file names, and those of the programs that it starts, which is\n"
	"             faster; the programs and their results are not changed\n"
	"    --print  print the value of LD_PRELOAD, and do nothing else; with a COMMAND,\n"
	"             an empty line if it would not load the library\n"
	"  profile    record the system calls of COMMAND, and predict what `cosy run`,\n"
	"             markers or batch functions would gain; cosy profile -h lists its\n"
	"             options\n"
	"  compare    run COMMAND natively and with Cosy in turn, compare what it does,\n"
	"             and measure it; cosy compare --help lists its options\n"
	"  top        show which processes run compounds, and why these leave the\n"
	"             kernel; cosy top --help lists its options\n"
	"  stat       show the loops, shares and teams of processes, and what they do; cosy\n"
	"             stat --help lists its options\n"
	"  uninstall  remove what ./cosy install has installed with this command\n"
	"\n"
	"COSY_EXECUTOR=native turns cosy run off. COSY_RUN_EXCEPT=NAME:... and the file\n"
	"/etc/cosy/run-except name programs for which it is off. With COSY_DEBUG=1 it says\n"
	"if the module is missing. See cosy(1).\n";

static void die(int status, const char *what, const char *why, const char *hint)
{
	fprintf(stderr, "cosy: %s: %s\n", what, why);
	if (hint)
		fprintf(stderr, "  HINT: %s\n", hint);
	exit(status);
}

/* Return the directory of this program. In a chroot, /proc may be missing. */
static char *own_directory(void)
{
	static char path[PATH_MAX];
	ssize_t len = readlink("/proc/self/exe", path, sizeof(path) - 1);
	const char *executed = (const char *)getauxval(AT_EXECFN);
	char *slash;

	if (len >= 0)
		path[len] = '\0';
	else if (!executed || !realpath(executed, path))
		die(125, "/proc/self/exe", strerror(errno), NULL);
	slash = strrchr(path, '/');
	if (slash)
		*slash = '\0';
	return path;
}

/* Return the directory of the libraries, for free(). */
static char *library_directory(void)
{
	const char *own = own_directory();
	char *directory, *file, *found, *denied = NULL;
	int error = 0;

	for (size_t i = 0; i < sizeof(directories) / sizeof(*directories); i++) {
		if (asprintf(&directory, "%s/%s", own, directories[i]) < 0 ||
		    asprintf(&file, "%s/lib/x86_64-linux-gnu/libcosy-preload.so",
			     directory) < 0)
			die(125, own, strerror(ENOMEM), NULL);
		found = access(file, R_OK) ? NULL : realpath(directory, NULL);
		if (!found && errno != ENOENT && !denied) {
			error = errno;
			denied = strdup(file);
		}
		free(directory);
		free(file);
		if (found) {
			free(denied);
			return found;
		}
	}
	if (denied)
		die(125, denied, strerror(error), NULL);
	die(125, "libcosy-preload.so", "not found beside this program",
	    "install Cosy: ./cosy install");
	return NULL;
}

/* Return true if @list, a value of LD_PRELOAD, contains @library. */
static bool names(const char *list, const char *library)
{
	size_t size;

	for (; *list; list += size + !!list[size]) {
		size = strcspn(list, SEPARATORS);
		if (size == strlen(library) && !strncmp(list, library, size))
			return true;
	}
	return false;
}

/*
 * Return the value for LD_PRELOAD. Libraries that are in it stay first, and see all calls. Below another
 * `cosy run`, this one is in it.
 */
static char *preload(void)
{
	const char *others = getenv("LD_PRELOAD");
	char *directory = library_directory(), *library, *value;

	/* The dynamic linker replaces $NAME. */
	if (strpbrk(directory, SEPARATORS "$"))
		die(125, directory, "has a space, a colon or a '$' in its name",
		    "install Cosy in another directory");
	if (asprintf(&library, "%s/$LIB/libcosy-preload.so", directory) < 0)
		die(125, "LD_PRELOAD", strerror(ENOMEM), NULL);
	free(directory);
	if (!others || !*others)
		return library;
	if (asprintf(&value, "%s%s%s", others, names(others, library) ? "" : ":",
		     names(others, library) ? "" : library) < 0)
		die(125, "LD_PRELOAD", strerror(ENOMEM), NULL);
	free(library);
	return value;
}

/* Without this, nothing is printed, because the output of programs must not change. */
static bool prints_messages(void)
{
	const char *debug = getenv("COSY_DEBUG");

	return debug && *debug && strcmp(debug, "0");
}

/* Print why calls cannot gain. @error: of an open of the device, 0 if it succeeded. */
static void explain(int error)
{
	if (!error)
		fprintf(stderr, "cosy: %s is not the Cosy module's device, or the module is older than this"
			" program: all calls are native\n", COSY_DEVICE);
	else if (error == EOPNOTSUPP)
		fprintf(stderr, "cosy: the module has no fast paths on this kernel (dmesg tells why):"
			" all calls are native\n");
	else
		fprintf(stderr, "cosy: cannot open %s: %s: all calls are native\n", COSY_DEVICE,
			error == ENOENT || error == ENXIO ?
				"module not loaded (try: sudo modprobe cosy; see cosy(4))" : strerror(error));
}

/*
 * Ask the module, by an open that fails with EINVAL if calls can gain. Return false if they cannot before
 * the next boot. Without the module they may, because it can be loaded while the program runs.
 */
static bool calls_can_gain(void)
{
	int fd = open(COSY_DEVICE, O_RDONLY | O_CLOEXEC), error = fd < 0 ? errno : 0;

	if (fd >= 0)
		close(fd);
	if (error != EINVAL && prints_messages())
		explain(error);
	return error != EOPNOTSUPP;
}

/* Return why no call of a command gains, or NULL. @loads: whether it is executed with the library. */
static const char *why_native(char **arguments, bool *loads)
{
	const char *executor = getenv("COSY_EXECUTOR");
	enum program_kind kind = program_kind(*arguments);

	*loads = kind != PROGRAM_GO;
	if (kind == PROGRAM_GO)
		return "a Go program makes its system calls itself";
	if (kind == PROGRAM_STATIC)
		return "a static program loads no library";
	/* As the library does with those that a program executes. */
	if (executor && !strcmp(executor, "kernel"))
		return NULL;
	*loads = !program_is_short((const char *const *)arguments);
	return *loads ? NULL : "it is known to make few calls, and runs without the library";
}

/* Return true if the library has calls to interpose in a program, or in those that it executes. */
static bool is_reached(char **arguments)
{
	bool loads;
	const char *why = why_native(arguments, &loads);

	if (why && prints_messages())
		fprintf(stderr, "cosy: %s: %s: all its calls are native\n", *arguments, why);
	return loads;
}

/* Print the value of LD_PRELOAD for a command that loads the library, or for any if there is none. */
static int print(const char *value, char **arguments)
{
	bool loads = !*arguments || (is_reached(arguments) && program_kind(*arguments) != PROGRAM_STATIC);

	if (puts(loads ? value : "") < 0 || fflush(stdout))
		die(125, "standard output", strerror(errno), NULL);
	return 0;
}

static int run(char **arguments)
{
	char *value = preload();
	bool prints = *arguments && !strcmp(*arguments, "--print");
	int error;

	if (prints)
		arguments++;
	if (*arguments && !strcmp(*arguments, "--"))
		arguments++;
	else if (*arguments && **arguments == '-')
		die(125, *arguments, "unknown option of cosy run", "cosy --help");
	if (prints)
		return print(value, arguments);
	if (!*arguments) {
		fputs(usage, stderr);
		return 125;
	}
	if (calls_can_gain() && is_reached(arguments) && setenv("LD_PRELOAD", value, 1))
		die(125, "LD_PRELOAD", strerror(errno), NULL);
	free(value);
	execvp(*arguments, arguments);
	error = errno;
	die(error == ENOENT ? 127 : 126, *arguments, strerror(error), NULL);
	return 0;
}

/* Execute the program of a command, which is in the same directory. */
static int execute(const char *command, char **arguments)
{
	char *program;

	if (asprintf(&program, "%s/cosy-%s", own_directory(), command) < 0)
		die(125, command, strerror(ENOMEM), NULL);
	execv(program, arguments);
	die(125, program, strerror(errno),
	    "./cosy install installs it, or a package of this name");
	return 0;
}

/* Execute the script that ./cosy install has installed with this program. */
static int uninstall(void)
{
	char *script;

	if (asprintf(&script, "%s/../share/cosy/uninstall", own_directory()) < 0)
		die(125, "uninstall", strerror(ENOMEM), NULL);
	execl(script, script, NULL);
	die(125, script, strerror(errno),
	    "./cosy install has not installed this command: use the package manager that has");
	return 0;
}

int main(int argc, char **argv)
{
	const char *command = argc > 1 ? argv[1] : "";
	const char *option = argc > 2 ? argv[2] : "";

	if (!strcmp(command, "--version")) {
		puts("cosy " COSY_RELEASE);
		return 0;
	}
	if (!strcmp(command, "--help") || !strcmp(command, "-h") ||
	    !strcmp(command, "help") ||
	    (!strcmp(command, "run") &&
	     (!strcmp(option, "--help") || !strcmp(option, "-h")))) {
		fputs(usage, stdout);
		return 0;
	}
	if (!strcmp(command, "run"))
		return run(argv + 2);
	if (!strcmp(command, "profile") || !strcmp(command, "compare") ||
	    !strcmp(command, "top") || !strcmp(command, "stat"))
		return execute(command, argv + 1);
	if (!strcmp(command, "uninstall") && argc == 2)
		return uninstall();
	if (!strcmp(command, "uninstall"))
		die(2, argv[2], "cosy uninstall takes no arguments", NULL);
	if (*command)
		die(2, command, "unknown command", "cosy --help");
	fputs(usage, stderr);
	return 2;
}
