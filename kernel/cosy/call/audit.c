// SPDX-License-Identifier: GPL-2.0
/*
 * audit.c - find out whether calls of the current thread are audited.
 *
 * Once auditing was on, the audit bit stays with every process, whether or not
 * there is anything to be audited.
 */
#include <linux/audit.h>
#include <linux/compiler.h>

#include "call/call.h"
#include "kernel/symbols.h"

/* The kernel's switch; NULL is not known. */
static const u32 *cosy_audit_switch;

/**
 * cosy_audit_init() - find out how to know
 */
void cosy_audit_init(void)
{
	cosy_audit_switch = cosy_symbol("audit_enabled");
}

/**
 * cosy_audit_looks() - test whether a call may have to be audited
 *
 * Not while auditing is off, nor, which a dummy context says, when there were
 * no rules as the thread entered the kernel.
 *
 * Return: true if it may. The caller has seen the audit bit.
 */
bool cosy_audit_looks(void)
{
	if (cosy_audit_switch && !READ_ONCE(*cosy_audit_switch))
		return false;
	return !audit_dummy_context();
}
