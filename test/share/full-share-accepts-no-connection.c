// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A share without room for another descriptor accepts no connection: it waits until there is room. The same if
// a filter has to see the call, which is then made outside of the share.
// RUN: %compile
// RUN: %everywhere
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>

#include <cosy/share.h>

#include "check.h"
#include "filter-call.h"

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
	filter_call(SYS_accept4, SECCOMP_RET_LOG);
	check_accept(share, listener, (struct sockaddr *)&address);
	cosy_share_destroy(share);
	return 0;
}
