// SPDX-License-Identifier: GPL-2.0
/*
 * quota.c - limits the memory of one user's compounds and loops, over all files.
 *
 * The memory is also charged to the cgroup of the thread that loads. This limit
 * also applies without cgroups.
 */
#include <linux/cred.h>
#include <linux/module.h>
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

static u64 cosy_quota_used(void *entry)
{
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
	void *entry = xa_load(&cosy_users, owner), *before;
	u64 used;

	do {
		before = entry;
		used = cosy_quota_used(before);
		if (bytes > limit || used > limit - bytes)
			return -EDQUOT;
		/* Allocates the first entry of an owner, with no lock that others wait for. */
		entry = xa_cmpxchg(&cosy_users, owner, before, xa_mk_value(used + bytes),
				   GFP_KERNEL);
		if (xa_is_err(entry))
			return xa_err(entry);
	} while (entry != before);
	return 0;
}

/**
 * cosy_quota_uncharge() - the reverse of cosy_quota_charge()
 * @owner: from cosy_quota_owner()
 * @bytes: bytes that were charged before
 */
void cosy_quota_uncharge(u64 owner, u64 bytes)
{
	void *entry = xa_load(&cosy_users, owner), *before;
	u64 used;

	do {
		before = entry;
		used = cosy_quota_used(before) - bytes;
		/* Cannot fail: the entry exists. */
		entry = xa_cmpxchg(&cosy_users, owner, before, used ? xa_mk_value(used) : NULL,
				   GFP_KERNEL);
	} while (entry != before);
}
