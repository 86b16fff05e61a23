// SPDX-License-Identifier: GPL-2.0
/*
 * quota.c - limits the memory of one user's compounds and loops, over all files.
 *
 * The memory is also charged to the cgroup of the thread that loads. This limit
 * also applies without cgroups.
 */
#include <linux/cred.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/uidgid.h>
#include <linux/user_namespace.h>
#include <linux/xarray.h>

#include "limit/limit.h"

static unsigned int user_memory = 256;
module_param(user_memory, uint, 0644);
MODULE_PARM_DESC(user_memory,
		 "MiB that one user's compounds and loops may take (default 256)");

/* owner -> bytes, as a value entry; an owner without memory has no entry */
static DEFINE_XARRAY_FLAGS(cosy_users, XA_FLAGS_ACCOUNT);
static DEFINE_MUTEX(cosy_users_lock);

/* Set in an owner that is a user namespace and not a user. */
#define COSY_QUOTA_NAMESPACE	(1ull << 32)

/**
 * cosy_quota_owner() - return the owner of memory that the current thread loads
 *
 * A user can create a user namespace with many users. All of them, also those of nested
 * namespaces, are charged to the owner of the outermost namespace. If root owns that
 * namespace, it is a container, and all its users are charged together, as the namespace.
 *
 * Return: the owner, for cosy_quota_charge().
 */
u64 cosy_quota_owner(void)
{
	const struct user_namespace *ns = current_user_ns();
	u64 owner = __kuid_val(current_uid());

	for (; ns->parent; ns = ns->parent) {
		if (uid_eq(ns->owner, GLOBAL_ROOT_UID))
			owner = COSY_QUOTA_NAMESPACE | ns->ns.inum;
		else
			owner = __kuid_val(ns->owner);
	}
	return owner;
}

static u64 cosy_quota_used(u64 owner)
{
	void *entry = xa_load(&cosy_users, owner);

	return entry ? xa_to_value(entry) : 0;
}

/**
 * cosy_quota_charge() - charge memory to an owner
 * @owner: from cosy_quota_owner()
 * @bytes: bytes, not 0
 *
 * Return: 0, -EDQUOT if it would exceed the limit, -ENOMEM.
 */
int cosy_quota_charge(u64 owner, u64 bytes)
{
	u64 limit = (u64)READ_ONCE(user_memory) << 20;
	u64 used;
	int err;

	mutex_lock(&cosy_users_lock);
	used = cosy_quota_used(owner);
	if (bytes > limit || used > limit - bytes)
		err = -EDQUOT;
	else
		err = xa_err(xa_store(&cosy_users, owner,
				      xa_mk_value(used + bytes), GFP_KERNEL));
	mutex_unlock(&cosy_users_lock);
	return err;
}

/**
 * cosy_quota_uncharge() - the reverse of cosy_quota_charge()
 * @owner: from cosy_quota_owner()
 * @bytes: bytes that were charged before
 */
void cosy_quota_uncharge(u64 owner, u64 bytes)
{
	u64 used;

	mutex_lock(&cosy_users_lock);
	used = cosy_quota_used(owner) - bytes;
	/* Neither can fail: the entry exists. */
	if (used)
		xa_store(&cosy_users, owner, xa_mk_value(used),
			 GFP_KERNEL);
	else
		xa_erase(&cosy_users, owner);
	mutex_unlock(&cosy_users_lock);
}
