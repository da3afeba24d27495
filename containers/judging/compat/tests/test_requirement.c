/* SPDX-License-Identifier: MIT */
/* The grammar of NVIDIA_REQUIRE_*: what each operator takes, what is ignored, what is refused. */
#include "base/cleanup.h"
#include "base/tests/unit.h"
#include "base/text.h"
#include "containers/judging/compat/requirement.h"

static const struct requirement_facts t4 = {
	.cuda = "12.4", .driver = "550.54.15", .arch = "7.5", .brand = "tesla"};

static void expect(const char *requirement, const struct requirement_facts *facts,
		   enum requirement_answer wanted)
{
	enum requirement_answer seen = REQUIREMENT_UNKNOWN;
	struct error err = {0};
	int rc = requirement_evaluate(requirement, facts, &seen, &err);
	if (rc < 0 || seen != wanted)
		(void)printf("\n%s: %s\n", requirement, err.text);
	UNIT_INT(rc, 0);
	UNIT_INT(seen, wanted);
}

static void test_operators(void)
{
	static const struct {
		const char *requirement;
		bool met;
	} rows[] = {
		{"cuda>=12.4", true},	       {"cuda>12.4", false},
		{"cuda>=12.5", false},	       {"cuda<=12.4", true},
		{"cuda<12.4", false},	       {"cuda<12.10", true},
		{"cuda=12.4", true},	       {"cuda=12.4.0", true},
		{"cuda!=12.4", false},	       {"cuda!=12.3", true},
		{"driver>=550.54.14", true},   {"driver<550.124.06", true},
		{"driver>=550.124.06", false}, {"driver>=v550", true},
		{"arch>=7.5", true},	       {"arch>=8.0", false},
		{"brand=tesla", true},	       {"brand=geforce", false},
		{"brand!=geforce", true},
	};
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		expect(rows[i].requirement, &t4,
		       rows[i].met ? REQUIREMENT_MET : REQUIREMENT_NOT_MET);
}

static void test_logic(void)
{
	expect("cuda>=12.9 brand=tesla,driver>=535,driver<551", &t4, REQUIREMENT_MET);
	expect("cuda>=12.9 brand=tesla,driver>=535,driver<536", &t4, REQUIREMENT_NOT_MET);
	expect("cuda>=12.9 brand=geforce,driver>=535", &t4, REQUIREMENT_NOT_MET);
	expect("cuda>=12.9  ,brand=tesla,", &t4, REQUIREMENT_MET);
	expect("", &t4, REQUIREMENT_MET);
	expect("  ,, ", &t4, REQUIREMENT_MET);
	expect("jetpack>=5", &t4, REQUIREMENT_MET);
	expect("jetpack=x cuda>=13", &t4, REQUIREMENT_NOT_MET);
	expect("jetpack=x,cuda>=12", &t4, REQUIREMENT_MET);
}

/* What is not known decides only where the rest does not. */
static void test_unknown(void)
{
	const struct requirement_facts no_brand = {
		.cuda = "12.4", .driver = "550.54.15", .arch = "", .brand = ""};
	expect("brand=tesla", &no_brand, REQUIREMENT_UNKNOWN);
	expect("cuda>=12.4 brand=tesla", &no_brand, REQUIREMENT_MET);
	expect("cuda>=12.9 brand=tesla,driver>=535,driver<536", &no_brand, REQUIREMENT_NOT_MET);
	expect("cuda>=12.9 brand=tesla,driver>=550", &no_brand, REQUIREMENT_UNKNOWN);
	expect("arch>=7", &no_brand, REQUIREMENT_UNKNOWN);
}

static void test_ranges(void)
{
	const struct requirement_facts between = {.cuda = "12.6",
						  .cuda_below = "12.8",
						  .driver = "565.57.01",
						  .arch = "",
						  .brand = ""};
	const struct requirement_facts newer = {
		.cuda = "13.2", .cuda_below = "", .driver = "600.10", .arch = "", .brand = ""};
	expect("cuda>=12.6", &between, REQUIREMENT_MET);
	expect("cuda>12.5", &between, REQUIREMENT_MET);
	expect("cuda>=12.7", &between, REQUIREMENT_UNKNOWN);
	expect("cuda>12.6", &between, REQUIREMENT_UNKNOWN);
	expect("cuda<12.6", &between, REQUIREMENT_NOT_MET);
	expect("cuda>=12.8", &between, REQUIREMENT_NOT_MET);
	expect("cuda<12.8", &between, REQUIREMENT_MET);
	expect("cuda=12.6", &between, REQUIREMENT_UNKNOWN);
	expect("cuda>=14.0", &newer, REQUIREMENT_UNKNOWN);
	expect("cuda>=13.2", &newer, REQUIREMENT_MET);
}

static void test_refused(void)
{
	static const char *const requirements[] = {
		"cuda",
		"cuda!12",
		"cuda>=",
		"cuda>=twelve",
		"cuda>=12..4",
		"cuda>=12.",
		"driver>=-1",
		"cuda=>12",
		"cuda>=1.2.3.4.5.6.7.8.9",
		"cuda>=99999999999999999999",
		"driver==550",
		"brand!tesla",
		"jetpack",
		"cuda>=12 notvalid",
	};
	for (size_t i = 0; i < ARRAY_SIZE(requirements); i++) {
		enum requirement_answer answer = REQUIREMENT_MET;
		struct error err = {0};
		UNIT_INT(requirement_evaluate(requirements[i], &t4, &answer, &err), ERROR_FORMAT);
		UNIT_CONTAINS(err.text, "invalid constraint");
	}
	struct text huge CLEANUP_TEXT = {0};
	enum requirement_answer answer = REQUIREMENT_MET;
	for (size_t i = 0; i < REQUIREMENT_SIZE_MAX; i++)
		text_add(&huge, "a,");
	UNIT_INT(requirement_evaluate(text_string(&huge), &t4, &answer, NULL), ERROR_LIMIT);
}

UNIT_MAIN("requirement", {"operators", test_operators}, {"logic", test_logic},
	  {"unknown", test_unknown}, {"ranges", test_ranges}, {"refused", test_refused})
