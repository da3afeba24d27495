/* SPDX-License-Identifier: MIT */
#include "base/cleanup.h"
#include "base/tests/unit.h"
#include "base/text.h"
#include "containers/judging/selection/catalogue.h"

#include <string.h>

#define CATALOGUE(images) "{\"schema\": \"gpucert-catalogue/1\", \"images\": [" images "]}"
#define IMAGE(rest)                                                                                  \
	"{\"reference\": \"a\", \"platform\": {\"os\": \"linux\", \"architecture\": \"amd64\"}" rest \
	"}"

static void refuse_at(const char *text, const char *says, int code, unsigned line)
{
	struct catalogue catalogue CLEANUP_CATALOGUE = {0};
	struct error err = {0};
	unit_int(catalogue_parse(text, strlen(text), &catalogue, &err), code, line, __FILE__);
	unit_contains(err.text, says, line, __FILE__);
}

#define REFUSE(text, says) refuse_at(text, says, ERROR_FORMAT, __LINE__)

static void test_reads_what_an_image_wants(void)
{
	static const char text[] = CATALOGUE(IMAGE(
		", \"created\": \"2026-10-01\", \"wants\": {\"cuda\": \"12.4.1\", \"drivers\": "
		"{\"nvidia\": \"550.54.15\"}, \"computeCapabilities\": [\"9.0\", \"10.0+PTX\"], "
		"\"architectures\": [\"gfx90a\"], \"cpuLevel\": 3}") ", " IMAGE(""));
	struct catalogue catalogue CLEANUP_CATALOGUE = {0};
	struct error err = {0};
	UNIT_INT(catalogue_parse(text, strlen(text), &catalogue, &err), 0);
	UNIT_INT(catalogue.count, 2);
	const struct catalogue_entry *one = &catalogue.entries[0];
	UNIT_STRING(one->created, "2026-10-01");
	UNIT_STRING(one->image.platform.variant, "v3");
	UNIT_STRING(image_pair_value(one->image.environment, one->image.environment_count,
				     "CUDA_VERSION"),
		    "12.4.1");
	UNIT_STRING(one->wants.drivers[0].value, "550.54.15");
	UNIT_STRING(one->wants.compute_capabilities[1], "10.0+PTX");
	UNIT_STRING(one->wants.architectures[0], "gfx90a");
	UNIT_INT(catalogue.entries[1].image.environment_count, 0);
	UNIT_STRING(catalogue.entries[1].image.platform.variant, "");
}

static void test_takes_empty_ones(void)
{
	static const char *const texts[] = {CATALOGUE(""),
					    CATALOGUE(IMAGE(", \"wants\": {\"drivers\": {}}"))};
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		struct catalogue catalogue CLEANUP_CATALOGUE = {0};
		UNIT_INT(catalogue_parse(texts[i], strlen(texts[i]), &catalogue, NULL), 0);
		UNIT_INT(catalogue.count, i);
	}
}

static void test_names_the_place_of_what_is_wrong(void)
{
	REFUSE("{}", "schema");
	REFUSE("{\"schema\": \"gpucert-catalogue/2\", \"images\": []}", "gpucert-catalogue/1");
	REFUSE(CATALOGUE("5"), "images[0]: expected object");
	REFUSE(CATALOGUE(
		       "{\"reference\": \"\", \"platform\": {\"os\": \"x\", \"architecture\": \"y\"}}"),
	       "images[0].reference: expected the name of an image");
	REFUSE(CATALOGUE("{\"reference\": \"a\"}"), "platform");
	REFUSE(CATALOGUE(IMAGE(", \"want\": {}")), "images[0].want: unknown member");
	REFUSE(CATALOGUE(IMAGE("") ", " IMAGE(", \"created\": \"yesterday\"")),
	       "images[1].created");
	REFUSE(CATALOGUE(IMAGE(", \"created\": \"2026-13-01\"")), "created");
	REFUSE(CATALOGUE(IMAGE(", \"created\": \"2026-10-01T12:00:00+02:00\"")), "created");
	REFUSE(CATALOGUE(IMAGE(", \"wants\": {\"cuda\": \"twelve\"}")),
	       "wants.cuda: expected a version");
	REFUSE(CATALOGUE(IMAGE(", \"wants\": {\"cuda\": 12}")), "wants.cuda: expected string");
	REFUSE(CATALOGUE(IMAGE(", \"wants\": {\"drivers\": {\"NVIDIA\": \"550\"}}")),
	       "wants.drivers.NVIDIA: expected nvidia, amd or intel");
	REFUSE(CATALOGUE(IMAGE(", \"wants\": {\"drivers\": {\"nvidia\": 550}}")),
	       "wants.drivers.nvidia: expected string");
	REFUSE(CATALOGUE(IMAGE(
		       ", \"wants\": {\"drivers\": {\"nvidia\": \"550\", \"nvidia\": \"535\"}}")),
	       "wants.drivers.nvidia: appears twice");
	REFUSE(CATALOGUE(IMAGE(", \"created\": \"2026-10-01\", \"created\": \"2026-10-02\"")),
	       "images[0].created: appears twice");
	REFUSE(CATALOGUE(IMAGE(", \"wants\": {\"drivers\": {\"nvidia\": \"new\"}}")),
	       "wants.drivers.nvidia: expected a version");
	REFUSE(CATALOGUE(IMAGE(", \"wants\": {\"computeCapabilities\": [\"9.0\", \"sm_90\"]}")),
	       "computeCapabilities[1]: expected 9.0 or 9.0+PTX");
	REFUSE(CATALOGUE(IMAGE(", \"wants\": {\"architectures\": [\"90a\"]}")),
	       "architectures[0]: expected an architecture");
	REFUSE(CATALOGUE(IMAGE(", \"wants\": {\"cpuLevel\": 5}")), "cpuLevel");
	REFUSE(CATALOGUE(
		       "{\"reference\": \"a\", \"platform\": {\"os\": \"linux\", \"architecture\": "
		       "\"arm64\"}, \"wants\": {\"cpuLevel\": 2}}"),
	       "images[0]: wants.cpuLevel: arm64 has no x86-64 levels");
	REFUSE(CATALOGUE(
		       "{\"reference\": \"a\", \"platform\": {\"os\": \"windows\", \"architecture\": "
		       "\"amd64\", \"osVersion\": \"ltsc2022\"}}"),
	       "images[0]: platform.osVersion");
}

static void test_bounds_what_it_reads(void)
{
	struct text many CLEANUP_TEXT = {0};
	struct text name CLEANUP_TEXT = {0};
	text_add(&many, "{\"schema\": \"gpucert-catalogue/1\", \"images\": [");
	for (int i = 0; i <= CATALOGUE_IMAGES_MAX; i++)
		text_add(&many, i == 0 ? "{}" : ",{}");
	text_add(&many, "]}");
	refuse_at(text_string(&many), "images: more than 10000 elements", ERROR_LIMIT, __LINE__);
	text_add(&name, "{\"schema\": \"gpucert-catalogue/1\", \"images\": [{\"reference\": \"");
	for (int i = 0; i <= CATALOGUE_TEXT_MAX; i++)
		text_add(&name, "a");
	text_add(&name, "\"}]}");
	REFUSE(text_string(&name), "images[0].reference: longer than 1024 bytes");
}

static void test_a_file_names_its_path(void)
{
	const struct image_source_options options = {0};
	struct host_facts host = {.os = "linux", .architecture = "amd64"};
	struct catalogue catalogue CLEANUP_CATALOGUE = {0};
	struct error err = {0};
	UNIT_INT(catalogue_read("nowhere.json", &host, &options, &catalogue, &err),
		 ERROR_NOT_FOUND);
	UNIT_CONTAINS(err.text, "nowhere.json");
}

UNIT_MAIN("catalogues", {"what an image wants", test_reads_what_an_image_wants},
	  {"empty ones", test_takes_empty_ones},
	  {"what is wrong", test_names_the_place_of_what_is_wrong},
	  {"bounds", test_bounds_what_it_reads}, {"missing file", test_a_file_names_its_path})
