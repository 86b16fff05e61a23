// SPDX-License-Identifier: GPL-2.0
/*
 * bind.c - binds user functions of a loaded compound.
 */
#include <linux/err.h>

#include "env/arg.h"
#include "function/function.h"
#include "load/compound.h"

/**
 * cosy_compound_bind() - COSY_IOC_BIND
 * @cf:  the file
 * @arg: struct cosy_bind of the caller
 *
 * Return: 0, or the error that the interface documents.
 */
long cosy_compound_bind(struct cosy_file *cf, struct cosy_bind __user *arg)
{
	struct cosy_compound *compound;
	struct cosy_binding *binding;
	struct cosy_bind bind;
	int err;

	err = cosy_arg_read(&bind, sizeof(bind),
			    offsetofend(struct cosy_bind, cycles), arg);
	if (err)
		return err;
	binding = cosy_binding_prepare(&bind);
	if (IS_ERR(binding))
		return PTR_ERR(binding);
	err = -ENOENT;
	compound = cosy_compound_get(cf, bind.handle) ?:
		   cosy_compound_get_parks(cf, bind.handle);
	if (compound) {
		err = cosy_binding_install(&compound->functions, &cf->lock,
					   binding, &bind);
		cosy_compound_put(compound);
	}
	if (err) {
		if (binding)
			cosy_binding_free(binding);
		return err;
	}
	return cosy_arg_write(arg, &bind, sizeof(bind));
}
