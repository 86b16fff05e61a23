/* SPDX-License-Identifier: GPL-2.0 */
/*
 * function.h - user functions of compounds: BPF programs that their processes bound.
 */
#ifndef COSY_FUNCTION_LAYER_H
#define COSY_FUNCTION_LAYER_H

#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/types.h>

#include <cosy/exec.h>
#include <linux/cosy.h>

struct cosy_binding;

/**
 * struct cosy_functions - the user functions that a compound calls
 * @bindings: the first binding of each function, or NULL
 * @count:    their number
 */
struct cosy_functions {
	struct cosy_binding __rcu **bindings;
	unsigned int count;
};

/* functions.c */
void cosy_functions_init(void);
bool cosy_functions_available(void);
void cosy_functions_exit(void);

/* binding.c */
struct cosy_binding *cosy_binding_prepare(const struct cosy_bind *bind);
void cosy_binding_free(struct cosy_binding *binding);
int cosy_binding_install(struct cosy_functions *functions, struct mutex *lock,
			 struct cosy_binding *binding, struct cosy_bind *bind);
void cosy_functions_free(struct cosy_functions *functions);

/* yield.c */
long cosy_functions_yield(struct cosy_yield __user *arg);

/* call.c */
void cosy_suspended_give(struct cosy_suspended_function *suspended);
void cosy_suspended_abandon(struct cosy_suspended_function *suspended);
enum cosy_function_end cosy_env_function(struct cosy_env *env, unsigned int nr,
					 const u64 *args, unsigned int nargs,
					 u64 *val);

#endif /* COSY_FUNCTION_LAYER_H */
