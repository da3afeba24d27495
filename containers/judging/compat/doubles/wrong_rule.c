/* SPDX-License-Identifier: MIT */
/* A deliberately wrong rule. Linked only into run-check-wrong-rule, in place of rule_driver_library(), to prove that a
 * run with --launch-anyway detects it. */
#include "containers/judging/compat/case.h"

void __wrap_rule_driver_library(struct compat_case *it); /* ld --wrap */

void __wrap_rule_driver_library(struct compat_case *it)
{
	if (it->launch != NULL && it->launch->api != NULL)
		compat_find(it, COMPAT_CANNOT_WORK, "the double says that nothing works");
}
