// SPDX-License-Identifier: GPL-2.0
/*
 * open.c - fast paths of open and close, with private files.
 *
 * A private file is opened and closed by the same compound. Its descriptor number is reserved, as
 * for any open file, but the file is not in the process's table, because only the compound uses it.
 * It is put into the table when the compound leaves, ends, or makes a call without a fast path.
 */
#include <linux/err.h>
#include <linux/fcntl.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/fsnotify.h>
#include <linux/openat2.h>

#include "fast/calls.h"
#include "fast/name.h"
#include "kernel/fput.h"
#include "kernel/internals.h"

/**
 * cosy_private_install() - put all private files into the process's table
 * @env: the run
 */
void cosy_private_install(struct cosy_env *env)
{
	if (env->nprivate)
		cosy_prefetch_drop(env);
	while (env->nprivate) {
		struct cosy_private *private = &env->private[--env->nprivate];

		fd_install(private->fd, private->file);
	}
}

static bool cosy_may_be_private(const struct cosy_env *env,
				const struct cosy_insn *ip,
				const struct file *file)
{
	return ip->hints & COSY_HINT_PRIVATE &&
	       env->nprivate < COSY_PRIVATES &&
	       S_ISREG(file_inode(file)->i_mode) &&
	       !(file->f_mode & FMODE_PATH);
}

/* Does what do_sys_openat2() in fs/open.c does. The name is argument @i. */
static struct cosy_made cosy_open(struct cosy_state *st,
				  const struct cosy_insn *ip, int dfd,
				  unsigned int i, int flags, umode_t mode)
{
	const char __user *from = u64_to_user_ptr(cosy_fast_arg(st, ip, i));
	struct open_how how = { .flags = flags & VALID_OPEN_FLAGS };
	bool simple = !(how.flags & ~COSY_SIMPLE_OPEN_FLAGS) &&
		      cosy_has(COSY_CHILD_OPEN_NEEDS);
	struct cosy_name name __uninitialized;
	struct cosy_env *env = &st->env;
	struct open_flags op __uninitialized;
	long err = COSY_WALK;
	struct file *file;
	int fd;

	/* As build_open_how() in fs/open.c: O_PATH overrides most flags. */
	if (unlikely(flags & O_PATH))
		how.flags &= O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
	else
		how.flags |= O_LARGEFILE;
	if (how.flags & (O_CREAT | __O_TMPFILE))
		how.mode = mode & S_IALLUGO;
	if (!simple) {
		fd = cosy_internal(build_open_flags)(&how, &op);
		if (unlikely(fd))
			return cosy_made(ip, fd);
	}
	if (unlikely(!cosy_name_text(&name, from)))
		return cosy_fast_plain(st, ip);

	fd = get_unused_fd_flags(flags);
	if (unlikely(fd < 0))
		return cosy_made(ip, fd);
	if (simple)
		err = cosy_child_open(dfd, &name, how.flags & ~O_CLOEXEC, false, &file);
	if (err == COSY_WALK) {
		/* build_open_flags() cannot fail with these flags. */
		if (simple)
			cosy_internal(build_open_flags)(&how, &op);
		cosy_name_finish(&name, from);
		file = cosy_internal(do_filp_open)(dfd, &name.filename, &op);
		err = PTR_ERR_OR_ZERO(file);
	}
	if (unlikely(err)) {
		put_unused_fd(fd);
		return cosy_named(st, ip, err);
	}
	cosy_fsnotify_opened(file);
	if (cosy_may_be_private(env, ip, file)) {
		if (!env->nprivate)
			env->prefetch.ip = NULL;
		env->private[env->nprivate++] =
			(struct cosy_private){ .file = file, .fd = fd };
	} else {
		fd_install(fd, file);
	}
	return cosy_made(ip, fd);
}

/** cosy_fast_open() - open(name, flags, mode) */
struct cosy_made cosy_fast_open(struct cosy_state *st,
				const struct cosy_insn *ip)
{
	return cosy_open(st, ip, AT_FDCWD, 0, cosy_fast_arg(st, ip, 1),
			 cosy_fast_arg(st, ip, 2));
}

/** cosy_fast_openat() - openat(dfd, name, flags, mode) */
struct cosy_made cosy_fast_openat(struct cosy_state *st,
				  const struct cosy_insn *ip)
{
	return cosy_open(st, ip, cosy_fast_arg(st, ip, 0), 1,
			 cosy_fast_arg(st, ip, 2), cosy_fast_arg(st, ip, 3));
}

/** cosy_fast_close() - close(fd) of a private file */
struct cosy_made cosy_fast_close(struct cosy_state *st,
				 const struct cosy_insn *ip)
{
	struct cosy_private *private = cosy_private_arg(st, ip);
	struct file *file;
	int err = 0;

	if (!private)
		return cosy_fast_plain(st, ip);
	cosy_prefetch_drop(&st->env);
	file = private->file;
	put_unused_fd(private->fd);
	*private = st->env.private[--st->env.nprivate];
	/* As in filp_close(). A private file has no dnotify mark: fcntl() is a plain call. */
	if (file->f_op->flush)
		err = file->f_op->flush(file, current->files);
	/* POSIX locks go with any descriptor of the file they are on. */
	locks_remove_posix(file, current->files);
	cosy_fput_now(file);
	/* The file is closed also after an error, so the call must not be restarted. */
	return cosy_made(ip, cosy_is_restart(err) ? -EINTR : err);
}
