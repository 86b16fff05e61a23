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

/* The kernel's switch, and its number of rules; NULL if they were not found. */
static const u32 *cosy_audit_switch;
static const int *cosy_audit_rules;

/**
 * cosy_audit_init() - find the kernel's switch and its number of rules
 */
void cosy_audit_init(void)
{
	cosy_audit_switch = cosy_symbol("audit_enabled");
	cosy_audit_rules = cosy_symbol("audit_n_rules");
}

/**
 * cosy_must_audit() - return true if a call may have to be audited
 *
 * The caller has seen the audit bit. No call is audited while auditing is off, or
 * if there are no rules, and were none when the thread entered the kernel (a dummy context).
 *
 * Return: true if the call must be visible to auditing.
 */
bool cosy_must_audit(void)
{
	if (cosy_audit_switch && !READ_ONCE(*cosy_audit_switch))
		return false;
	/* The thread may sleep in the module for any time, and rules may be added meanwhile. */
	if (!cosy_audit_rules || READ_ONCE(*cosy_audit_rules))
		return true;
	return !audit_dummy_context();
}
