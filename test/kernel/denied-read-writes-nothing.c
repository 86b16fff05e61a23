// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * A read whose data is not copied because of a wrong hint. A denied read writes nothing.
 */
// REQUIRES: root
// RUN: %compile %s -o %t
// RUN: %vm %t
#include "compound.h"

#include <pthread.h>
#include <sys/fanotify.h>

static int watch;

/* Denies the first access. */
static void *deny(void *arg)
{
	struct fanotify_event_metadata event;
	struct fanotify_response response = { .response = FAN_DENY };

	(void)arg;
	if (read(watch, &event, sizeof(event)) < (long)sizeof(event))
		return NULL;
	response.fd = event.fd;
	if (write(watch, &response, sizeof(response)) != sizeof(response))
		return NULL;
	close(event.fd);
	return NULL;
}

/* A denied read does not write to its buffer. */
static void refused(int dev)
{
	char *buffer = must_map(4096), name[] = "/tmp/hints-refused";
	__u64 frame[3] = { 0 };
	pthread_t thread;
	struct cosy_run run;
	__u64 handle;
	int fd = open(name, O_RDWR | O_CREAT, 0600);

	if (fd < 0 || write(fd, name, sizeof(name)) < 0)
		die(name);
	close(fd);
	handle = must_load(dev, 3,
			   OP(SYS, .dst = 2, .width = 3, .imm = SYS_read, .c = COSY_HINT_BORROW),
			   ARG(0), ARG(1), ARGI(10), EXIT(0));
	watch = fanotify_init(FAN_CLASS_CONTENT | FAN_CLOEXEC, O_RDONLY);
	if (watch < 0 || fanotify_mark(watch, FAN_MARK_ADD, FAN_ACCESS_PERM, AT_FDCWD, name))
		die("fanotify");
	/* Only files that are opened later are watched. */
	fd = open(name, O_RDONLY);
	if (pthread_create(&thread, NULL, deny, NULL))
		die("pthread_create");
	buffer[0] = 'a';
	frame[0] = (__u64)fd;
	frame[1] = (__u64)(uintptr_t)buffer;
	run_frame(dev, handle, frame, &run);
	check((long)frame[2] == -EPERM && buffer[0] == 'a', "a refused read gives %ld, leaves '%c'",
	      (long)frame[2], buffer[0]);
	close(watch);
	pthread_join(thread, NULL);
	close(fd);
	unlink(name);
}

int main(void)
{
	refused(open_device());
	return finish();
}
