// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * library-prototypes.c - the functions of the C library that the plugin knows by
 * name, with the prototypes that glibc's own headers give them.
 *
 * It is compiled to LLVM IR; library-prototypes.cmake makes a table of the
 * declarations. So the plugin compares a program's declarations with those of
 * glibc.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>
#include <utime.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/fanotify.h>
#include <sys/file.h>
#include <sys/fsuid.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/msg.h>
#include <sys/personality.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/sendfile.h>
#include <sys/shm.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/swap.h>
#include <sys/sysinfo.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/times.h>
#include <sys/timex.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <sys/xattr.h>

/* glibc declares these only for its inline functions of _FORTIFY_SOURCE. */
void *__memcpy_chk(void *, const void *, size_t, size_t);
void *__mempcpy_chk(void *, const void *, size_t, size_t);
void *__memmove_chk(void *, const void *, size_t, size_t);
void *__memset_chk(void *, int, size_t, size_t);
char *__strcpy_chk(char *, const char *, size_t);
char *__stpcpy_chk(char *, const char *, size_t);
char *__strcat_chk(char *, const char *, size_t);
char *__strncat_chk(char *, const char *, size_t, size_t);
char *__strncpy_chk(char *, const char *, size_t, size_t);
char *__stpncpy_chk(char *, const char *, size_t, size_t);
void __explicit_bzero_chk(void *, size_t, size_t);
ssize_t __read_chk(int, void *, size_t, size_t);
ssize_t __pread_chk(int, void *, size_t, off_t, size_t);
ssize_t __pread64_chk(int, void *, size_t, off64_t, size_t);
ssize_t __recv_chk(int, void *, size_t, size_t, int);
ssize_t __recvfrom_chk(int, void *, size_t, size_t, int, struct sockaddr *,
		       socklen_t *);
ssize_t __readlink_chk(const char *, char *, size_t, size_t);
ssize_t __readlinkat_chk(int, const char *, char *, size_t, size_t);
int __poll_chk(struct pollfd *, nfds_t, int, size_t);
int __ppoll_chk(struct pollfd *, nfds_t, const struct timespec *,
		const sigset_t *, size_t);
int __open_2(const char *, int);
int __open64_2(const char *, int);
int __openat_2(int, const char *, int);
int __openat64_2(int, const char *, int);

#define FUNCTION(name) void *use_##name = (void *)name;

#define COSY_LIBC(function, name, map) FUNCTION(function)
#define COSY_LIBC_IF(function, name, map, arg, cond, value) FUNCTION(function)
#define COSY_LIBC_MORE(function) FUNCTION(function)
#include "syscalls.def"

/* Functions that are operations, or are made of them (Select.cpp, Strings.cpp, Mutexes.cpp). */
FUNCTION(bcmp)
FUNCTION(explicit_bzero)
FUNCTION(index)
FUNCTION(memccpy)
FUNCTION(memchr)
FUNCTION(memcmp)
FUNCTION(pthread_mutex_lock)
FUNCTION(pthread_mutex_trylock)
FUNCTION(pthread_mutex_unlock)
FUNCTION(rawmemchr)
FUNCTION(rindex)
FUNCTION(stpcpy)
FUNCTION(stpncpy)
FUNCTION(strcat)
FUNCTION(strchr)
FUNCTION(strchrnul)
FUNCTION(strcmp)
FUNCTION(strcpy)
FUNCTION(strcspn)
FUNCTION(strlen)
FUNCTION(strncat)
FUNCTION(strncmp)
FUNCTION(strncpy)
FUNCTION(strnlen)
FUNCTION(strrchr)
FUNCTION(syscall)
FUNCTION(__errno_location)

/* Functions that check their arguments first (Fortify.cpp, Strings.cpp). */
FUNCTION(__explicit_bzero_chk)
FUNCTION(__memcpy_chk)
FUNCTION(__memmove_chk)
FUNCTION(__mempcpy_chk)
FUNCTION(__memset_chk)
FUNCTION(__open64_2)
FUNCTION(__open_2)
FUNCTION(__openat64_2)
FUNCTION(__openat_2)
FUNCTION(__poll_chk)
FUNCTION(__ppoll_chk)
FUNCTION(__pread64_chk)
FUNCTION(__pread_chk)
FUNCTION(__read_chk)
FUNCTION(__readlink_chk)
FUNCTION(__readlinkat_chk)
FUNCTION(__recv_chk)
FUNCTION(__recvfrom_chk)
FUNCTION(__stpcpy_chk)
FUNCTION(__stpncpy_chk)
FUNCTION(__strcat_chk)
FUNCTION(__strcpy_chk)
FUNCTION(__strncat_chk)
FUNCTION(__strncpy_chk)
