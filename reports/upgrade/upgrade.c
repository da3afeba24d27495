/* SPDX-License-Identifier: MIT */
#include "reports/upgrade/upgrade.h"

#include "reports/records.h"
#include "reports/render.h"

static schema_step *const report_steps[] = {upgrade_report_1, NULL};
static schema_step *const journal_steps[] = {upgrade_journal_1, NULL};

const struct schema report_schema = {REPORT_SCHEMA, report_steps};
const struct schema journal_schema = {JOURNAL_SCHEMA, journal_steps};
