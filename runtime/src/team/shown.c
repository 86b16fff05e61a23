/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * shown.c - makes the counts of a team visible for cosy stat.
 */
#include <fcntl.h>
#include <linux/memfd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "device/descriptor.h"
#include "device/sys.h"
#include "team/team.h"

_Static_assert(TEAM_SHOWN_MAX == COSY_TEAM_MAX, "a line for each worker");

/* Make the file. Return its descriptor, or a negative number. */
static int make_file(void)
{
	int fd = (int)cosy_sys(SYS_memfd_create, (long)TEAM_SHOWN_NAME, MFD_CLOEXEC, 0);

	if (fd < 0)
		return fd;
	if (!cosy_sys(SYS_ftruncate, fd, sizeof(struct team_shown), 0))
		return cosy_descriptor_hide(fd);
	cosy_sys(SYS_close, fd, 0, 0);
	return -1;
}

bool team_shown_create(struct cosy_team *team)
{
	const int fd = make_file();
	struct team_shown *shown;
	struct stat status;

	/* Without a file nothing is shown. */
	shown = mmap(NULL, sizeof(*shown), PROT_READ | PROT_WRITE,
		     fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED, fd, 0);
	team->shown_fd = fd;
	if (shown == MAP_FAILED) {
		if (fd >= 0)
			cosy_sys(SYS_close, fd, 0, 0);
		return false;
	}
	if (fd >= 0 && !fstat(fd, &status))
		team->shown_inode = status.st_ino;
	shown->process = (int32_t)cosy_sys(SYS_getpid, 0, 0, 0);
	shown->version = TEAM_SHOWN_VERSION;
	shown->magic = TEAM_SHOWN_MAGIC;
	team->shown = shown;
	return true;
}

void team_shown_destroy(struct cosy_team *team)
{
	struct stat status;

	munmap(team->shown, sizeof(*team->shown));
	/* The program may have closed it, and then have another file there. */
	if (team->shown_fd >= 0 && !fstat(team->shown_fd, &status) &&
	    status.st_ino == team->shown_inode)
		cosy_sys(SYS_close, team->shown_fd, 0, 0);
}

void team_show_queues(struct cosy_team *team)
{
	for (uint32_t i = 0; i < team_acquire(&team->nworkers); i++)
		team_set(&team->shown->worker[i].queued,
			 (uint32_t)team_get(&team->workers[i]->queue.count));
}
