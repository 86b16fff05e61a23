/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * attempt.h - calls that do not block, in batches.
 */
#ifndef COSY_LOOP_ATTEMPT_H
#define COSY_LOOP_ATTEMPT_H

#include <stdint.h>
#include <sys/uio.h>

struct cosy_page;
struct cosy_slots;

/**
 * struct cosy_attempt - a call that does not block
 * @nr:	    its number
 * @args:   its arguments
 * @result: what it returned
 * @slot:   the slot of its entry
 * @iov:    the vector, if a call with a vector is made in place of the original one
 */
struct cosy_attempt {
	uint64_t nr;
	uint64_t args[6];
	int64_t result;
	uint32_t slot;
	struct iovec iov;
};

/* Fewer calls are made by system calls: entering the module costs as much as two. */
#define COSY_MIN_BATCH	3u

/* The number of attempts at which a batch is made. */
#define COSY_ATTEMPTS	64u

/**
 * struct cosy_attempts - the attempts of a loop
 * @batch:   the @count attempts to be made. It is one of @batches; the other one takes attempts
 *	     that result from making them
 * @count:   number of attempts in @batch
 * @batches: memory of the batches
 */
struct cosy_attempts {
	struct cosy_attempt *batch;
	uint32_t count;
	struct cosy_attempt *batches[2];
};

/**
 * cosy_attempts_create() - allocate the batches
 * @slots: the number of slots, of which each attempt has one
 *
 * Return: 0 or -ENOMEM.
 */
int cosy_attempts_create(struct cosy_attempts *attempts, uint32_t slots);

/** cosy_attempts_destroy() - free the batches */
void cosy_attempts_destroy(const struct cosy_attempts *attempts);

/**
 * cosy_attempt_add() - add the call of an entry to the batch
 *
 * Return: the attempt, with the entry's arguments; the caller may change them.
 */
struct cosy_attempt *cosy_attempt_add(struct cosy_attempts *attempts, const struct cosy_page *page,
				      struct cosy_slots *slots, uint32_t slot);

/**
 * cosy_attempts_take() - take the batch, of @n attempts; what is added later goes to the other one
 *
 * Return: the attempts, which are valid until the next call.
 */
struct cosy_attempt *cosy_attempts_take(struct cosy_attempts *attempts, uint32_t *n);

#endif /* COSY_LOOP_ATTEMPT_H */
