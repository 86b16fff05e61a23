// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * rate.c - a bucket of tokens for each client, in sets of four.
 */
#include "rate.h"

#include <netinet/in.h>
#include <string.h>
#include <sys/random.h>

#define SETS 4096
#define WAYS 4

struct bucket {
	uint64_t key;
	uint32_t tokens, since;
};

static struct bucket table[SETS][WAYS];

static uint64_t key_of(struct in_addr address)
{
	return (uint64_t)address.s_addr << 32 | 1;
}

uint64_t rate_key(const struct sockaddr_storage *address)
{
	const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)address;
	const struct sockaddr_in *four = (const struct sockaddr_in *)address;
	struct in_addr mapped;
	uint64_t key;

	if (address->ss_family == AF_INET)
		return key_of(four->sin_addr);
	if (address->ss_family != AF_INET6)
		return 0;
	/* A socket that is handed on may be for both. */
	if (IN6_IS_ADDR_V4MAPPED(&six->sin6_addr)) {
		memcpy(&mapped, &six->sin6_addr.s6_addr[12], sizeof(mapped));
		return key_of(mapped);
	}
	memcpy(&key, &six->sin6_addr, sizeof(key));
	/* The network of ::1 is 0. */
	return key ? key : 2;
}

/* The factor is random, so that no client can choose addresses of one set. */
static struct bucket *find_set(uint64_t key)
{
	static uint64_t factor;

	if (!factor && getrandom(&factor, sizeof(factor), GRND_NONBLOCK) != sizeof(factor))
		factor = 0x9e3779b97f4a7c15;
	factor |= 1;
	return table[(key * factor) >> 52];
}

bool rate_allows(uint64_t key, unsigned int rate, uint32_t now)
{
	struct bucket *set = find_set(key), *bucket = set;
	uint64_t earned;

	if (!key)
		return true;
	for (int i = 0; i < WAYS; i++) {
		if (set[i].key == key) {
			bucket = &set[i];
			break;
		}
		if (set[i].since < bucket->since)
			bucket = &set[i];
	}
	if (bucket->key != key)
		*bucket = (struct bucket){ .key = key, .tokens = rate, .since = now };
	earned = bucket->tokens + (uint64_t)(now - bucket->since) * rate;
	bucket->tokens = earned < rate ? (uint32_t)earned : rate;
	bucket->since = now;
	if (!bucket->tokens)
		return false;
	bucket->tokens--;
	return true;
}
