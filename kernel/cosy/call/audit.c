// SPDX-License-Identifier: GPL-2.0
/*
 * audit.c - decides if calls of the current thread are audited.
 *
 * After auditing was enabled once, every process keeps the audit bit, even if there is
 * nothing to audit.
 */
#include <linux/audit.h>
#include <linux/compiler.h>

#include "call/call.h"
#include "kernel/symbols.h"

/* The kernel's switch; NULL if it was not found. */
static const u32 *cosy_audit_switch;

/**
 * cosy_audit_init() - find the kernel's switch
 */
void cosy_audit_init(void)
{
	cosy_audit_switch = cosy_symbol("audit_enabled");
}

/**
 * cosy_audit_looks() - return true if a call may have to be audited
 *
 * The caller has seen the audit bit. No call is audited while auditing is off, or
 * if there were no rules when the thread entered the kernel (a dummy context).
 *
 * Return: true if the call must be visible to auditing.
 */
bool cosy_audit_looks(void)
{
	if (cosy_audit_switch && !READ_ONCE(*cosy_audit_switch))
		return false;
	return !audit_dummy_context();
}
