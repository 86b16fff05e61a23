// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * cryptget.c - get a file from cryptserve. A client has one connection, so its calls wait.
 */
#include "../common/address.h"
#include "../common/output.h"
#include "../common/usage.h"
#include "protocol.h"

#include <errno.h>
#include <error.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#define MESSAGE (PROTOCOL_CHUNK + PROTOCOL_SEAL)

/* Receive until the buffer is full, or the server has ended the connection. Return the bytes. */
static size_t receive(int fd, unsigned char *buffer, size_t size)
{
	size_t have = 0;
	ssize_t n = 1;

	while (have < size && n > 0) {
		n = recv(fd, buffer + have, size - have, 0);
		if (n > 0)
			have += (size_t)n;
	}
	return have;
}

/* Send the request, and return the key of the answer. */
static void send_hello(int fd, const char *server_key, const char *name, unsigned char *in_key)
{
	unsigned char secret[crypto_kx_SECRETKEYBYTES], out_key[crypto_kx_SESSIONKEYBYTES];
	unsigned char server[crypto_kx_PUBLICKEYBYTES], padded[PROTOCOL_NAME] = { 0 };
	crypto_secretstream_xchacha20poly1305_state out;
	struct hello hello;
	size_t size;

	if (sodium_hex2bin(server, sizeof(server), server_key, strlen(server_key), NULL, &size, NULL) ||
	    size != sizeof(server))
		error(1, 0, "%s is not a public key", server_key);
	if (strlen(name) >= sizeof(padded))
		error(1, 0, "the name is longer than %zu bytes", sizeof(padded) - 1);
	memcpy(padded, name, strlen(name));
	crypto_kx_keypair(hello.key, secret);
	if (crypto_kx_client_session_keys(in_key, out_key, hello.key, secret, server))
		error(1, 0, "%s is not a public key", server_key);
	crypto_secretstream_xchacha20poly1305_init_push(&out, hello.header, out_key);
	crypto_secretstream_xchacha20poly1305_push(&out, hello.name, NULL, padded, sizeof(padded),
						   NULL, 0,
						   crypto_secretstream_xchacha20poly1305_TAG_FINAL);
	if (send(fd, &hello, sizeof(hello), MSG_NOSIGNAL) != sizeof(hello))
		error(1, errno, "cannot send the request");
}

static void write_file(int fd, const unsigned char *key, const char *name)
{
	static unsigned char sealed[MESSAGE], plain[PROTOCOL_CHUNK];
	unsigned char tag = 0, header[PROTOCOL_HEADER];
	crypto_secretstream_xchacha20poly1305_state in;
	unsigned long long size;
	bool first = true;
	size_t n;

	if (receive(fd, header, sizeof(header)) != sizeof(header) ||
	    crypto_secretstream_xchacha20poly1305_init_pull(&in, header, key))
		error(1, 0, "the server has another key, or is busy");
	while (tag != crypto_secretstream_xchacha20poly1305_TAG_FINAL) {
		n = receive(fd, sealed, sizeof(sealed));
		if (!n)
			error(1, 0, "%s: the end is missing", name);
		if (crypto_secretstream_xchacha20poly1305_pull(&in, plain, &size, &tag, sealed, n,
							       NULL, 0))
			error(1, 0, "%s: not what the server has sent", name);
		if (first && (!size || plain[0]))
			error(1, size ? plain[0] : 0, "%s", name);
		fwrite(plain + first, 1, size - first, stdout);
		first = false;
	}
}

int main(int argc, char **argv)
{
	unsigned char key[crypto_kx_SESSIONKEYBYTES];
	int fd;

	if (argc == 2 && !strcmp(argv[1], "--help")) {
		printf("Usage: %s PUBLIC-KEY ADDRESS NAME\n", program_invocation_name);
		fputs("Get a file from cryptserve, and write it to standard output.\n" ADDRESS_HELP
		      "\nExit status: 1 if the file is not complete, or not what the server has sent.\n",
		      stdout);
		output_finish(0, 1);
	}
	if (argc != 4) {
		error(0, 0, "PUBLIC-KEY, ADDRESS and NAME are needed");
		fail_usage();
	}
	if (sodium_init() < 0)
		error(1, 0, "libsodium cannot be used");
	fd = address_connect(argv[2]);
	send_hello(fd, argv[1], argv[3], key);
	write_file(fd, key, argv[3]);
	output_finish(0, 1);
}
