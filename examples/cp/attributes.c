// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * attributes.c - the attributes of a file, other than its contents.
 */
#include "attributes.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/limits.h>
#include <linux/posix_acl.h>
#include <linux/posix_acl_xattr.h>
#include <stdbool.h>
#include <string.h>
#include <sys/xattr.h>
#include <unistd.h>

#define ACCESS_LIST "system.posix_acl_access"
#define DEFAULT_LIST "system.posix_acl_default"

enum { SET_ID_BITS = S_ISUID | S_ISGID | S_ISVTX };

/* An access control list that is equivalent to a mode. */
struct plain_list {
	struct posix_acl_xattr_header header;
	struct posix_acl_xattr_entry owner, group, others;
};

static struct plain_list plain_list_of(mode_t mode)
{
	return (struct plain_list){
		{ POSIX_ACL_XATTR_VERSION },
		{ ACL_USER_OBJ, mode >> 6 & 7, ACL_UNDEFINED_ID },
		{ ACL_GROUP_OBJ, mode >> 3 & 7, ACL_UNDEFINED_ID },
		{ ACL_OTHER, mode & 7, ACL_UNDEFINED_ID },
	};
}

static int set_mode(const char *to, int fd, mode_t mode)
{
	return fd < 0 ? chmod(to, mode) : fchmod(fd, mode);
}

static int set_list(const char *to, int fd, const char *name, const void *list,
		    size_t size)
{
	return fd < 0 ? setxattr(to, name, list, size, 0) :
			fsetxattr(fd, name, list, size, 0);
}

/* Copies the mode and the list. Mode bits that are not in a list are set before. */
static int copy_mode(const char *from, int in, const char *to, int fd, mode_t mode)
{
	struct plain_list plain = plain_list_of(mode);
	char list[XATTR_SIZE_MAX];
	ssize_t size;

	if (mode & SET_ID_BITS && set_mode(to, fd, mode) < 0)
		return -1;
	size = in < 0 ? getxattr(from, ACCESS_LIST, list, sizeof(list)) :
			fgetxattr(in, ACCESS_LIST, list, sizeof(list));
	if (size > 0)
		return set_list(to, fd, ACCESS_LIST, list, size);
	/* This removes a list that @to has inherited from its directory. */
	if (set_list(to, fd, ACCESS_LIST, &plain, sizeof(plain)) == 0)
		return 0;
	if (errno != EOPNOTSUPP)
		return -1;
	return mode & SET_ID_BITS ? 0 : set_mode(to, fd, mode);
}

static int copy_default_list(const char *from, const char *to)
{
	char list[XATTR_SIZE_MAX];
	ssize_t size = getxattr(from, DEFAULT_LIST, list, sizeof(list));

	if (size > 0)
		return set_list(to, -1, DEFAULT_LIST, list, size);
	if (removexattr(to, DEFAULT_LIST) < 0 && errno != ENODATA &&
	    errno != EOPNOTSUPP)
		return -1;
	return 0;
}

enum copy_result attributes_copy(const char *from, int in, const char *to, int fd,
				 const struct stat *status)
{
	struct timespec times[2] = { status->st_atim, status->st_mtim };
	mode_t mode = status->st_mode & 07777;

	if ((fd < 0 ? utimensat(AT_FDCWD, to, times, AT_SYMLINK_NOFOLLOW) :
		      futimens(fd, times)) < 0)
		return COPY_TIMES_FAILED;
	if ((fd < 0 ? lchown(to, status->st_uid, status->st_gid) :
		      fchown(fd, status->st_uid, status->st_gid)) < 0) {
		/*
		 * Usual for all users except root. Without set-id bits no other user gains
		 * rights.
		 */
		mode &= 0777;
		if (errno != EPERM && errno != EINVAL)
			return COPY_OWNER_FAILED;
	}
	if (S_ISLNK(status->st_mode))
		return COPY_DONE;
	if (copy_mode(from, in, to, fd, mode) < 0 ||
	    (S_ISDIR(status->st_mode) && copy_default_list(from, to) < 0))
		return COPY_MODE_FAILED;
	return COPY_DONE;
}
