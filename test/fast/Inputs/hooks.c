// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * hooks.c - every call of a security module for each kind of fast path, in order, with its object.
 *
 *	hooks DIRECTORY
 *
 * Must run in a separate VM. It traces functions, which patches the kernel. An emulated machine of
 * several CPUs does not always survive that.
 */
#include "more-regions.h"

#include <stdbool.h>

#define TRACING "/sys/kernel/tracing/"

/* --- the operations ------------------------------------------------------------- */

static int in, out, pair[2];

static struct end do_slurp(void) { return slurp("from65536", O_RDONLY); }
static struct end do_slurp_missing(void) { return slurp("missing", O_RDONLY); }
static struct end do_slurp_directory(void) { return slurp(".", O_RDONLY); }
static struct end do_slurp_proc(void) { return slurp("/proc/version", O_RDONLY); }
static struct end do_create(void) { return create("made", O_RDWR | O_EXCL, 5000); }
static struct end do_truncate(void) { return create("to", O_WRONLY | O_TRUNC, 5000); }
static struct end do_copy(void) { return copy(in, out, 4096); }
static struct end do_copy_at(void) { return copy_at(in, out, 4096); }
static struct end do_copy_to_socket(void) { return copy(in, pair[0], 4096); }
static struct end do_send(void) { return copy_by_send(in, pair[0], 4096); }
static struct end do_read_at(void) { return read_at(in, 100, 5000); }
static struct end do_write_at(void) { return write_at(out, 100, 5000); }
static struct end do_private(void) { return private("made"); }
static struct end do_list(void) { return list("."); }
static struct end do_list_proc(void) { return list("/proc/sys/net/unix"); }
static struct end do_names_at(void) { return names_at("from4096"); }

static struct end do_names(const char *name)
{
	say_names(name);
	return (struct end){ 0 };
}

static struct end do_names_there(void) { return do_names("from4096"); }
static struct end do_names_missing(void) { return do_names("missing"); }

static const struct {
	const char *name;
	struct end (*body)(void);
	bool joined;	/* one call for several reads, see docs/limits.md */
} parts[] = {
	{ "slurp", do_slurp, true },
	{ "slurp, missing", do_slurp_missing, false },
	{ "slurp, directory", do_slurp_directory, false },
	{ "slurp, proc", do_slurp_proc, false },
	{ "create", do_create, false },
	{ "truncate", do_truncate, false },
	{ "copy", do_copy, false },
	{ "copy at", do_copy_at, false },
	{ "copy to a socket", do_copy_to_socket, false },
	{ "send", do_send, false },
	{ "read at", do_read_at, false },
	{ "write at", do_write_at, false },
	{ "private", do_private, false },
	{ "list", do_list, false },
	{ "list proc", do_list_proc, false },
	{ "names at", do_names_at, false },
	{ "names", do_names_there, false },
	{ "names, missing", do_names_missing, false },
};

/* --- tracing -------------------------------------------------------------------- */

/* The object of a hook. If the kernel does not know arguments by name, only hooks are printed. */
#define FILE_NAME	"name=file->f_path.dentry->d_name.name:string"
#define PATH_NAME	"name=path->dentry->d_name.name:string"
#define NAME		"name=dentry->d_name.name:string"
#define OLD_NEW		"old=old_dentry->d_name.name:string new=new_dentry->d_name.name:string"

static const char *const arguments[][2] = {
	{ "file_open", FILE_NAME " flags=file->f_flags" },
	{ "file_post_open", FILE_NAME " mask" },
	{ "file_permission", FILE_NAME " mask" },
	{ "file_truncate", FILE_NAME },
	{ "file_release", FILE_NAME },
	/* Omit whether it may sleep, because the kind of path walk varies. */
	{ "inode_permission", "mode=inode->i_mode size=inode->i_size mask=mask:b7@0/32" },
	{ "inode_getattr", PATH_NAME },
	{ "inode_setattr", NAME " valid=attr->ia_valid" },
	{ "inode_getxattr", NAME " attribute=name:string" },
	{ "inode_get_acl", NAME " attribute=acl_name:string" },
	{ "inode_listxattr", NAME },
	{ "inode_readlink", NAME },
	{ "inode_follow_link", NAME },
	{ "inode_create", NAME " mode" },
	{ "inode_unlink", NAME },
	{ "inode_mkdir", NAME " mode" },
	{ "inode_rmdir", NAME },
	{ "inode_symlink", NAME " old_name:string" },
	{ "inode_link", OLD_NEW },
	{ "inode_rename", OLD_NEW " flags" },
	{ "path_mknod", NAME " mode" },
	{ "path_unlink", NAME },
	{ "path_mkdir", NAME " mode" },
	{ "path_rmdir", NAME },
	{ "path_symlink", NAME " old_name:string" },
	{ "path_link", OLD_NEW },
	{ "path_rename", OLD_NEW " flags" },
	{ "path_truncate", PATH_NAME },
	{ "path_chmod", PATH_NAME " mode" },
	{ "path_chown", PATH_NAME },
	{ "socket_sendmsg", "size flags=msg->msg_flags" },
};
#define ARGUMENTS (sizeof(arguments) / sizeof(arguments[0]))

static bool put(const char *name, const char *text, int flags)
{
	char path[100];
	bool done;
	int fd;

	snprintf(path, sizeof(path), TRACING "%s", name);
	fd = open(path, O_WRONLY | flags);
	done = fd >= 0 && write(fd, text, strlen(text)) >= 0;
	close(fd);
	return done;
}

static void must_put(const char *name, const char *text, int flags)
{
	if (put(name, text, flags))
		return;
	printf("%s: %s: %s\n", name, text, strerror(errno));
	exit(1);
}

static void trace_stop(void)
{
	must_put("tracing_on", "0", 0);
	must_put("current_tracer", "nop", 0);
	put("events/hooks/enable", "0", 0);
	must_put("kprobe_events", "", O_TRUNC);
	must_put("set_event_pid", "", O_TRUNC);
	must_put("set_ftrace_pid", "", O_TRUNC);
}

static void trace_setup(void)
{
	char text[300];

	trace_stop();
	must_put("set_ftrace_filter", "security_*", O_TRUNC);
	/* Before 6.6 access() copies credentials even if it does not change any. */
	must_put("set_ftrace_notrace", "security_prepare_creds", O_TRUNC);
	must_put("set_ftrace_notrace", "security_cred_free", O_APPEND);
	snprintf(text, sizeof(text), "%d", getpid());
	must_put("set_ftrace_pid", text, O_TRUNC);
	must_put("set_event_pid", text, O_TRUNC);
	must_put("buffer_size_kb", "4096", 0);
	for (size_t i = 0; i < ARGUMENTS; i++) {
		snprintf(text, sizeof(text), "p:hooks/about_%s security_%s %s", arguments[i][0],
			 arguments[i][0], arguments[i][1]);
		if (!put("kprobe_events", text, O_APPEND))
			printf("no arguments of %s\n", arguments[i][0]);
	}
	put("events/hooks/enable", "1", 0);
	must_put("current_tracer", "function", 0);
}

/*
 * An interrupt runs in any thread, and may free memory of others there: "TASK [CPU] FLAGS TIME:
 * ...". The third flag shows it.
 */
static bool in_interrupt(const char *line)
{
	const char *flags = strstr(line, "] ");

	return flags && strlen(flags) > 4 && strchr("hHsZz", flags[4]);
}

/* The trace without times, callers and addresses. */
static void print_trace(bool joined)
{
	FILE *trace = fopen(TRACING "trace", "r");
	char line[1000], last[2][1000] = { "", "" };
	int number = 0;

	while (trace && fgets(line, sizeof(line), trace)) {
		char *what = strstr(line, ": "), *end;

		if (line[0] == '#' || !what || in_interrupt(line))
			continue;
		what += 2;
		what[strcspn(what, "\n")] = '\0';
		end = strstr(what, " <-");
		if (end)
			*end = '\0';
		end = strstr(what, ": (");
		if (end && strchr(end, ')'))
			memmove(end, strchr(end, ')') + 1, strlen(strchr(end, ')') + 1) + 1);
		/* An event and a function: equal pairs are merged. */
		if (joined && (!strcmp(what, last[0]) || !strcmp(what, last[1])))
			continue;
		strcpy(last[number++ % 2], what);
		printf("  %s\n", what);
	}
	if (trace)
		fclose(trace);
	if (!number)
		printf("  nothing was traced\n");
}

static void make_ready(void)
{
	static char taken[1 << 17];

	unlink("made");
	lseek(in, 0, SEEK_SET);
	lseek(out, 0, SEEK_SET);
	while (recv(pair[1], taken, sizeof(taken), MSG_DONTWAIT) > 0)
		;
}

int main(int argc, char **argv)
{
	int on;

	(void)argv;
	if (argc != 2)
		return 2;
	if (geteuid() != 0)
		return 0;
	in = must_open("from10001", O_RDWR);
	out = must_open("to", O_RDWR | O_CREAT);
	if (fchown(out, 65534, 65534) || chown("from4096", 65534, 65534) ||
	    socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
		return 1;
	trace_setup();
	on = open(TRACING "tracing_on", O_WRONLY);
	for (int user = 0; user < 2; user++) {
		for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
			struct end e;

			/* In the first run, code is loaded and names are cached. */
			make_ready();
			parts[i].body();
			make_ready();
			must_put("trace", "", O_TRUNC);
			if (user && seteuid(65534))
				return 1;
			if (write(on, "1", 1) != 1)
				return 1;
			e = parts[i].body();
			if (write(on, "0", 1) != 1 || seteuid(0))
				return 1;
			printf("%s, ", user ? "a user" : "root");
			say(parts[i].name, e);
			print_trace(parts[i].joined);
		}
	}
	trace_stop();
	unlink("to");
	unlink("made");
	return 0;
}
