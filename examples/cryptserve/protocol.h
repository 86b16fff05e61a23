/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * protocol.h - what cryptserve and cryptget send. All of the cryptography is libsodium's.
 *
 * The client knows the server's public key, and makes a pair of keys for each connection. Both derive a
 * key for each direction (crypto_kx). A direction is a stream of sealed messages
 * (crypto_secretstream_xchacha20poly1305), which begins with a header.
 *
 *	client: public key, header, one message: the name of a file, filled up with 0
 *	server: header, messages of PROTOCOL_CHUNK bytes, a shorter one, which is tagged as the last
 *
 * The first byte of the server's data is a status: 0, or the number of an error (errno). A stream that
 * ends without the last message was cut off.
 */
#ifndef PROTOCOL_H
#define PROTOCOL_H

#include <sodium.h>

#define PROTOCOL_NAME	1024	    /* Bytes of a name, with at least one 0. */
#define PROTOCOL_CHUNK	(32 * 1024) /* Bytes of a message's contents. */
#define PROTOCOL_SEAL	crypto_secretstream_xchacha20poly1305_ABYTES
#define PROTOCOL_HEADER crypto_secretstream_xchacha20poly1305_HEADERBYTES

/** struct hello - what the client sends; it has no padding, because all members are bytes */
struct hello {
	unsigned char key[crypto_kx_PUBLICKEYBYTES];
	unsigned char header[PROTOCOL_HEADER];
	unsigned char name[PROTOCOL_NAME + PROTOCOL_SEAL];
};

#endif /* PROTOCOL_H */
