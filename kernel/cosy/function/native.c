// SPDX-License-Identifier: GPL-2.0
/*
 * native.c - makes user functions run natively if the kernel has no BPF arenas.
 */
#include <linux/err.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "function/function.h"

void cosy_functions_init(void)
{
}

bool cosy_functions_available(void)
{
	return false;
}

void cosy_functions_exit(void)
{
}

struct cosy_binding *cosy_binding_prepare(const struct cosy_bind *bind)
{
	return ERR_PTR(-EOPNOTSUPP);
}

void cosy_binding_free(struct cosy_binding *binding)
{
}

int cosy_binding_install(struct cosy_functions *functions, struct mutex *lock,
			 struct cosy_binding *binding, struct cosy_bind *bind)
{
	return -EOPNOTSUPP;
}

void cosy_functions_free(struct cosy_functions *functions)
{
	kvfree(functions->bindings);
}

long cosy_functions_yield(struct cosy_yield __user *arg)
{
	return -EOPNOTSUPP;
}

void cosy_suspended_give(struct cosy_suspended_function *suspended)
{
	kfree(suspended);
}

void cosy_suspended_abandon(struct cosy_suspended_function *suspended)
{
	kfree(suspended);
}

enum cosy_function_end cosy_env_function(struct cosy_env *env, unsigned int nr,
					 const u64 *args, unsigned int nargs,
					 u64 *val)
{
	return COSY_FUNCTION_NATIVE;
}
