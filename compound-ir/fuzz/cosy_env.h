/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 WITH LLVM-exception */
/*
 * cosy_env.h - an environment for tests (see cosy/exec.h): a small memory, simulated system
 * calls, and refusals at a chosen rate.
 */
#ifndef COSY_ENV_H
#define COSY_ENV_H

#include <stdbool.h>
#include <stdint.h>

#include <cosy/function.h>

#define MOCK_BASE	0x1000u		/* addresses begin here */
#define MOCK_SIZE	256u
#define MOCK_ERRNO	(MOCK_BASE + MOCK_SIZE - 4)
#define MOCK_TID	4711u
#define MOCK_RESTART	512		/* the restart code, -ERESTARTSYS */

/**
 * struct cosy_env - the environment of one run
 * @memory: the process's memory, MOCK_SIZE bytes
 * @log:    a hash of all calls made, with their arguments
 * @ncalls: their number
 * @args:   arguments of the next call
 * @random: state of the generator that decides on refusals
 * @refuse: refuse calls and leave at random
 * @single: leave after each call and after each back-edge
 * @step:   why an operation was refused (enum cosy_step)
 */
struct cosy_env {
	uint8_t memory[MOCK_SIZE];
	uint64_t log;
	uint64_t ncalls;
	uint64_t args[6];
	uint64_t random;
	bool refuse;
	bool single;
	unsigned int step;
};

bool cosy_env_load(struct cosy_env *env, uint64_t addr, unsigned int width,
		   uint64_t *val);
bool cosy_env_store(struct cosy_env *env, uint64_t addr, unsigned int width,
		    uint64_t val);
bool cosy_env_cmpxchg(struct cosy_env *env, uint64_t addr, unsigned int width,
		      uint64_t old, uint64_t new, uint64_t *val);
bool cosy_env_copy(struct cosy_env *env, uint64_t dst, uint64_t src,
		   uint64_t len);
bool cosy_env_fill(struct cosy_env *env, uint64_t dst, uint8_t byte,
		   uint64_t len);
bool cosy_env_compare(struct cosy_env *env, uint64_t a, uint64_t b,
		      uint64_t len, uint64_t *sign);
bool cosy_env_find(struct cosy_env *env, uint64_t p, uint8_t byte, uint64_t len,
		   uint64_t *at);
bool cosy_env_strcmp(struct cosy_env *env, uint64_t a, uint64_t b, uint64_t max,
		     uint64_t *diff);
bool cosy_env_strlen(struct cosy_env *env, uint64_t p, uint64_t max,
		     uint64_t *len);
bool cosy_env_strchr(struct cosy_env *env, uint64_t p, uint8_t byte,
		     uint64_t *at);
bool cosy_env_strrchr(struct cosy_env *env, uint64_t p, uint8_t byte,
		      uint64_t *at);
bool cosy_env_stpcpy(struct cosy_env *env, uint64_t dst, uint64_t src,
		     uint64_t *end);

static inline uint32_t cosy_env_tid(struct cosy_env *env)
{
	(void)env;
	return MOCK_TID;
}

struct cosy_state;
struct cosy_insn;
typedef struct cosy_env cosy_self;
cosy_self *cosy_env_self(struct cosy_state *st);
bool cosy_env_may_call(cosy_self *self, struct cosy_state *st,
		       const struct cosy_insn *ip);
void cosy_env_arg(struct cosy_env *env, unsigned int i, uint64_t val);
uint16_t cosy_env_callee(unsigned int nr);
long cosy_env_call(struct cosy_env *env, unsigned int nr, unsigned int callee);
enum cosy_function_end cosy_env_function(struct cosy_env *env, unsigned int nr,
					 const uint64_t *args,
					 unsigned int nargs, uint64_t *val);
bool cosy_env_restart(struct cosy_env *env, long ret);
bool cosy_env_leave(cosy_self *self);

/**
 * mock_function() - what a user function returns
 * @nr:    its number
 * @args:  its arguments
 * @nargs: their number
 */
uint64_t mock_function(unsigned int nr, const uint64_t *args,
		       unsigned int nargs);

#endif /* COSY_ENV_H */
