// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A share without room for another descriptor accepts no connection: it waits until there is room. The same if
// a filter has to see the call, which is then made outside of the share.
// RUN: %compile
// RUN: %everywhere
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>

#include <cosy/share.h>

#include "check.h"

/* Log accept4(), which does not change what it does. */
static void log_accept(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_accept4, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_LOG),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(filter) / sizeof(*filter), filter };

	EQUAL(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
	EQUAL(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
}

static void check_accept(struct cosy_share *share, int listener, const struct sockaddr *address)
{
	const int client = socket(AF_UNIX, SOCK_STREAM, 0), copy = cosy_share_dup(share, listener);
	int connection;

	CHECK(client >= 0 && copy >= 0);
	EQUAL(connect(client, address, sizeof(sa_family_t) + 6), 0);
	EQUAL(cosy_share_accept(share, listener, NULL, NULL, 0), -EMFILE);
	EQUAL(cosy_share_close(share, copy), 0);
	connection = cosy_share_accept(share, listener, NULL, NULL, 0);
	EQUAL(connection, copy);
	EQUAL(cosy_share_write(share, connection, "x", 1), 1);
	EQUAL(cosy_share_close(share, connection), 0);
	EQUAL(close(client), 0);
}

int main(void)
{
	const struct cosy_share_options options = { sizeof(options), 2 };
	const int ordinary = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct cosy_share *share;
	int listener;

	/* An abstract name. */
	snprintf(&address.sun_path[1], 6, "%05d", getpid() % 100000);
	EQUAL(bind(ordinary, (struct sockaddr *)&address, sizeof(sa_family_t) + 6), 0);
	EQUAL(listen(ordinary, 2), 0);
	EQUAL(cosy_share_create(&share, &options), 0);
	listener = cosy_share_dup(share, ordinary);
	CHECK(listener >= 0);
	check_accept(share, listener, (struct sockaddr *)&address);
	log_accept();
	check_accept(share, listener, (struct sockaddr *)&address);
	cosy_share_destroy(share);
	return 0;
}
