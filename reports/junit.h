/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * JUnit XML: a testsuite for each suite, a testcase for each check. fail → failure; crash, timeout
 * and broken → error; expected-fail, unsupported, skip and notrun → skipped with the reason; an
 * improvement → failure that names the expectation entry to remove.
 */

#include "reports/writer.h"

extern const struct writer writer_junit; /* junit.xml */
