/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * rate.h - limit the requests of each client's address.
 */
#ifndef RATE_H
#define RATE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

/**
 * rate_key() - return a number for a client's address: of the whole address of IPv4, of the
 * network (/64) of IPv6, 0 for others, which are not limited
 */
uint64_t rate_key(const struct sockaddr_storage *address);

/**
 * rate_allows() - count a request
 * @key:  of the client's address
 * @rate: requests a second; a client that has sent none may send as many at once
 * @now:  the time, in seconds
 *
 * The table has a fixed size. If there are more clients, the one that has sent nothing for the
 * longest time is forgotten, so it may send more.
 *
 * Return: false if the client has sent too many.
 */
bool rate_allows(uint64_t key, unsigned int rate, uint32_t now);

#endif /* RATE_H */
