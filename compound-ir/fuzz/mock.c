// SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 WITH LLVM-exception
/*
 * mock.c - the environment for tests.
 */
#include <string.h>

#include <cosy/exec.h>

/* Return true at random, if refusals are enabled. */
static bool refuses(struct cosy_env *env, enum cosy_step step)
{
	env->random = env->random * 6364136223846793005u + 1442695040888963407u;
	if (!env->refuse || env->random >> 61)
		return false;
	env->step = step;
	return true;
}

static uint8_t *memory_at(struct cosy_env *env, uint64_t addr, uint64_t len)
{
	if (addr < MOCK_BASE || len > MOCK_SIZE ||
	    addr - MOCK_BASE > MOCK_SIZE - len) {
		env->step = COSY_STEP_FAULT;
		return NULL;
	}
	return env->memory + (addr - MOCK_BASE);
}

bool cosy_env_load(struct cosy_env *env, uint64_t addr, unsigned int width,
		   uint64_t *val)
{
	const uint8_t *p = memory_at(env, addr, width);

	if (!p || refuses(env, COSY_STEP_FAULT))
		return false;
	*val = 0;
	while (width--)
		*val = *val << 8 | p[width];
	return true;
}

bool cosy_env_store(struct cosy_env *env, uint64_t addr, unsigned int width,
		    uint64_t val)
{
	uint8_t *p = memory_at(env, addr, width);

	if (!p || refuses(env, COSY_STEP_FAULT))
		return false;
	for (; width--; val >>= 8)
		*p++ = (uint8_t)val;
	return true;
}

bool cosy_env_cmpxchg(struct cosy_env *env, uint64_t addr, unsigned int width,
		      uint64_t old, uint64_t new, uint64_t *val)
{
	uint64_t was, unused = ~UINT64_C(0) << (width * 8 - 1) << 1;

	if (!cosy_env_load(env, addr, width, &was))
		return false;
	if (!((was ^ old) & ~unused) && !cosy_env_store(env, addr, width, new))
		return false;
	*val = was;
	return true;
}

bool cosy_env_copy(struct cosy_env *env, uint64_t dst, uint64_t src,
		   uint64_t len)
{
	uint8_t *to = memory_at(env, dst, len);
	uint8_t *from = memory_at(env, src, len);

	if (!to || !from || refuses(env, COSY_STEP_BULK))
		return false;
	memmove(to, from, len);
	return true;
}

bool cosy_env_fill(struct cosy_env *env, uint64_t dst, uint8_t byte,
		   uint64_t len)
{
	uint8_t *to = memory_at(env, dst, len);

	if (!to || refuses(env, COSY_STEP_BULK))
		return false;
	memset(to, byte, len);
	return true;
}

bool cosy_env_compare(struct cosy_env *env, uint64_t a, uint64_t b,
		      uint64_t len, uint64_t *sign)
{
	const uint8_t *x = memory_at(env, a, len);
	const uint8_t *y = memory_at(env, b, len);
	int diff;

	if (!x || !y || refuses(env, COSY_STEP_BULK))
		return false;
	diff = memcmp(x, y, len);
	*sign = (uint32_t)((diff > 0) - (diff < 0));
	return true;
}

bool cosy_env_find(struct cosy_env *env, uint64_t p, uint8_t byte, uint64_t len,
		   uint64_t *at)
{
	const uint8_t *from = memory_at(env, p, len);
	const uint8_t *found;

	if (!from || refuses(env, COSY_STEP_BULK))
		return false;
	found = memchr(from, byte, len);
	*at = found ? p + (uint64_t)(found - from) : 0;
	return true;
}

/* Return the string at @p, of at most @max bytes, or NULL for a fault. */
static const char *string_at(struct cosy_env *env, uint64_t p, uint64_t max,
			     uint64_t *len)
{
	const uint8_t *from = memory_at(env, p, max ? 1 : 0);
	uint64_t room;

	if (!from) {
		/* If no byte is read, the address is not checked. */
		*len = 0;
		return max ? NULL : "";
	}
	room = (uint64_t)(env->memory + MOCK_SIZE - from);
	*len = strnlen((const char *)from, max < room ? max : room);
	if (*len == room && max > room) {
		env->step = COSY_STEP_FAULT;
		return NULL;
	}
	return (const char *)from;
}

bool cosy_env_strlen(struct cosy_env *env, uint64_t p, uint64_t max,
		     uint64_t *len)
{
	return string_at(env, p, max, len) && !refuses(env, COSY_STEP_BULK);
}

bool cosy_env_strcmp(struct cosy_env *env, uint64_t a, uint64_t b, uint64_t max,
		     uint64_t *diff)
{
	const uint8_t *x, *y;

	if (refuses(env, COSY_STEP_BULK))
		return false;
	*diff = 0;
	for (; max--; a++, b++) {
		x = memory_at(env, a, 1);
		y = memory_at(env, b, 1);
		if (!x || !y)
			return false;
		*diff = (uint32_t)(*x - *y);
		if (*diff || !*x)
			break;
	}
	return true;
}

bool cosy_env_strchr(struct cosy_env *env, uint64_t p, uint8_t byte,
		     uint64_t *at)
{
	const uint8_t *from;

	if (refuses(env, COSY_STEP_BULK))
		return false;
	for (;; p++) {
		from = memory_at(env, p, 1);
		if (!from)
			return false;
		if (*from == byte || !*from)
			break;
	}
	*at = *from == byte ? p : 0;
	return true;
}

bool cosy_env_strrchr(struct cosy_env *env, uint64_t p, uint8_t byte,
		      uint64_t *at)
{
	uint64_t len;
	const char *from = string_at(env, p, ~0ull, &len);
	const char *found;

	if (!from || refuses(env, COSY_STEP_BULK))
		return false;
	found = strrchr(from, byte);
	*at = found ? p + (uint64_t)(found - from) : 0;
	return true;
}

bool cosy_env_stpcpy(struct cosy_env *env, uint64_t dst, uint64_t src,
		     uint64_t *end)
{
	uint64_t len;

	if (!string_at(env, src, ~0ull, &len) ||
	    !cosy_env_copy(env, dst, src, len + 1))
		return false;
	*end = dst + len;
	return true;
}

cosy_self *cosy_env_self(struct cosy_state *st)
{
	return &st->env;
}

bool cosy_env_may_call(cosy_self *self, struct cosy_state *st,
		       const struct cosy_insn *ip)
{
	(void)st;
	(void)ip;
	return !refuses(self, COSY_STEP_TRACED);
}

void cosy_env_arg(struct cosy_env *env, unsigned int i, uint64_t val)
{
	env->args[i] = val;
}

uint16_t cosy_env_callee(unsigned int nr)
{
	return (uint16_t)(nr ^ 0x5a5a);
}

/* The result depends on all calls so far. It is a value, an error or a restart code. */
long cosy_env_call(struct cosy_env *env, unsigned int nr, unsigned int callee)
{
	unsigned int i;

	env->log = (env->log ^ nr) * 0x9e3779b97f4a7c15u;
	env->log = (env->log ^ callee) * 0x9e3779b97f4a7c15u;
	for (i = 0; i < 6; i++) {
		env->log = (env->log ^ env->args[i]) * 0x9e3779b97f4a7c15u;
		env->log ^= env->log >> 29;
		env->args[i] = 0;
	}
	env->ncalls++;
	switch (env->log >> 61) {
	case 0:
		return -MOCK_RESTART;
	case 1:
		return -(long)(env->log >> 8 & 0xfff);
	case 2:
		return (long)env->log;
	default:
		return (long)(env->log >> 8 & 0xff);
	}
}

uint64_t mock_function(unsigned int nr, const uint64_t *args,
		       unsigned int nargs)
{
	uint64_t hash = nr;
	unsigned int i;

	for (i = 0; i < nargs; i++) {
		hash = (hash ^ args[i]) * 0x9e3779b97f4a7c15u;
		hash ^= hash >> 32;
	}
	return hash;
}

enum cosy_function_end cosy_env_function(struct cosy_env *env, unsigned int nr,
					 const uint64_t *args,
					 unsigned int nargs, uint64_t *val)
{
	if (refuses(env, COSY_STEP_CALL))
		return COSY_FUNCTION_NATIVE;
	*val = mock_function(nr, args, nargs);
	return COSY_FUNCTION_RETURNED;
}

bool cosy_env_restart(struct cosy_env *env, long ret)
{
	(void)env;
	return ret == -MOCK_RESTART;
}

bool cosy_env_leave(cosy_self *self)
{
	return self->single || refuses(self, COSY_STEP_FAULT);
}
