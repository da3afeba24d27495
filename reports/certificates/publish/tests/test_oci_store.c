/* SPDX-License-Identifier: MIT */
/* Reports in real registries, in front of which something breaks. */
#include "base/json.h"
#include "containers/registry/tests/rig.h"
#include "reports/certificates/publish/publication.h"
#include "reports/certificates/publish/tests/folder_maker.h"

static struct rig rig;
static char *report; /* the folder of one */

static int publish_to(const char *port, const char *name, const char *subject,
		      struct publish_result *out, struct error *err)
{
	char *host CLEANUP_FREE = rig_host(&rig, "127.0.0.1", port);
	char *place CLEANUP_FREE = text_format("oci://%s/%s", host, name);
	const struct publish_options options = {.registry = rig_options(&rig, false),
						.subject = subject};
	*err = (struct error){0};
	return report_publish(report, place, &options, out, err);
}

static int pull_from(const char *port, const char *name, const char *folder,
		     struct publish_result *out, struct error *err)
{
	char *host CLEANUP_FREE = rig_host(&rig, "127.0.0.1", port);
	char *place CLEANUP_FREE = text_format("oci://%s/%s", host, name);
	char *path CLEANUP_FREE = path_join(rig.directory, folder);
	const struct publish_options options = {.registry = rig_options(&rig, false)};
	*err = (struct error){0};
	int rc = report_pull(place, path, &options, out, err);
	if (rc == 0)
		sample_expect_same(report, path);
	return rc;
}

static void test_there_and_back(void)
{
	struct publish_result sent = {0};
	struct publish_result result = {0};
	struct error err = {0};
	report = path_join(rig.directory, "report");
	sample_make(report, "run-1");
	rig_credentials(&rig, NULL);
	UNIT_INT(publish_to("plain", "reports:1", NULL, &sent, &err), 0);
	UNIT_STRING(err.text, "");
	UNIT_INT(sent.moved_files, sample_files());
	UNIT_INT(publish_to("plain", "reports:1", NULL, &result, &err), 0);
	UNIT_INT(result.moved_files, 0);
	UNIT_STRING(result.digest, sent.digest);
	UNIT_INT(publish_to("plain", "reports:2", NULL, &result, &err), 0);
	UNIT_INT(result.moved_files, 0);
	UNIT_INT(pull_from("plain", "reports:1", "back", &result, &err), 0);
	UNIT_STRING(err.text, "");
	UNIT_STRING(result.digest, sent.digest);
	UNIT_INT(result.moved_files, sample_files());
	UNIT_INT(pull_from("plain", "reports:2", "back", &result, &err), 0);
	UNIT_INT(result.moved_files, 0);
	char *exact CLEANUP_FREE = text_format("reports:9@%s", sent.digest);
	UNIT_INT(pull_from("plain", exact, "exact", &result, &err), 0);
	UNIT_INT(pull_from("plain", "reports:9", "none", &result, &err), ERROR_NOT_FOUND);
	UNIT_INT(publish_to("plain", exact, NULL, &result, &err), ERROR_ARGUMENT);
	UNIT_CONTAINS(err.text, "name a tag");
}

/* What was cut goes on, within a call and with the next. */
static void test_faults(void)
{
	struct publish_result result = {0};
	struct error err = {0};
	UNIT_INT(publish_to("proxy", "push-cut/cut:1", NULL, &result, &err), 0);
	UNIT_INT(pull_from("plain", "cut:1", "cut", &result, &err), 0);
	UNIT_INT(publish_to("proxy", "push-broken/broken:1", NULL, &result, &err),
		 ERROR_UNAVAILABLE);
	UNIT_CONTAINS(err.text, FOLDER_LARGE ": PATCH ");
	UNIT_INT(pull_from("plain", "broken:1", "broken", &result, &err), ERROR_NOT_FOUND);
	UNIT_INT(publish_to("plain", "broken:1", NULL, &result, &err), 0);
	/* All others went before it. */
	UNIT_INT(result.moved_files, 2);
	UNIT_INT(pull_from("proxy", "cut/reports:1", "cut-2", &result, &err), 0);
	UNIT_INT(pull_from("proxy", "long/reports:1", "long", &result, &err), ERROR_PROTOCOL);
	UNIT_INT(pull_from("proxy", "die/reports:1", "die", &result, &err), ERROR_UNAVAILABLE);
	UNIT_CONTAINS(err.text, FOLDER_LARGE);
	unsigned long long had = 0;
	char *folder CLEANUP_FREE = path_join(rig.directory, "die");
	UNIT_INT(sample_partials(folder, &had), 1);
	CU_ASSERT_TRUE(had > 0);
	char *range CLEANUP_FREE = text_format("range bytes=%llu-", had);
	free(rig_recorded(&rig));
	UNIT_INT(pull_from("proxy", "die/reports:1", "die", &result, &err), 0);
	UNIT_INT(result.moved_files, 2);
	char *seen CLEANUP_FREE = rig_recorded(&rig);
	UNIT_CONTAINS(seen, range);
}

/* A report is found by the image that it is about. */
static void test_subject(void)
{
	struct publish_result result = {0};
	struct publish_result again = {0};
	struct error err = {0};
	struct text layer CLEANUP_TEXT = {0};
	char digest[DIGEST_TEXT_SIZE] = "";
	struct registry_options options = rig_options(&rig, false);
	char *host CLEANUP_FREE = rig_host(&rig, "127.0.0.1", "plain");
	char *image CLEANUP_FREE = text_format("%s/plugin:1.4", host);
	text_add(&layer, "layer");
	rig_push_image(&options, host, "plugin", "1.4", &layer, digest);
	UNIT_INT(publish_to("plain", "plugin", image, &result, &err), 0);
	UNIT_STRING(err.text, "");
	UNIT_INT(result.moved_files, sample_files());
	struct registry *registry CLEANUP_REGISTRY = NULL;
	struct image_index index CLEANUP_IMAGE_INDEX = {0};
	UNIT_INT(registry_open(host, "plugin", false, &options, &registry, &err), 0);
	UNIT_INT(registry_list_referrers(registry, digest, PUBLICATION_TYPE, &index, &err), 0);
	UNIT_NEED(index.count == 1);
	UNIT_STRING(index.entries[0].descriptor.digest, result.digest);
	UNIT_STRING(image_pair_value(index.entries[0].annotations,
				     index.entries[0].annotation_count, "gpucert.internal/run"),
		    "run-1");
	UNIT_INT(publish_to("plain", "plugin", image, &again, &err), 0);
	UNIT_STRING(again.digest, result.digest);
	UNIT_INT(again.moved_files, 0);
	/* Whoever asks for the image is told. */
	UNIT_INT(pull_from("plain", "plugin:1.4", "plugin", &again, &err), ERROR_FORMAT);
	UNIT_CONTAINS(err.text, "is not a report; attached to it: oci://");
	UNIT_CONTAINS(err.text, result.digest);
	char *exact CLEANUP_FREE = text_format("plugin@%s", result.digest);
	UNIT_INT(pull_from("plain", exact, "plugin", &again, &err), 0);
	UNIT_INT(publish_to("plain", "other:1", image, &again, &err), ERROR_ARGUMENT);
	UNIT_CONTAINS(err.text, "a report is attached in the repository of its image");
	char *missing CLEANUP_FREE = text_format("%s/plugin:1.5", host);
	UNIT_INT(publish_to("plain", "plugin", missing, &again, &err), ERROR_NOT_FOUND);
	UNIT_CONTAINS(err.text, "--subject");
}

/* With TLS and a password. */
static void test_password(void)
{
	struct publish_result result = {0};
	struct error err = {0};
	char *host CLEANUP_FREE = rig_host(&rig, "localhost", "password");
	char *place CLEANUP_FREE = text_format("oci://%s/reports:1", host);
	char *config CLEANUP_FREE = text_format(
		"{\"auths\": {\"%s\": {\"auth\": \"YWxpY2U6b3BlbjpzZXNhbWU=\"}}}", host);
	const struct publish_options options = {.registry = rig_options(&rig, true)};
	UNIT_INT(report_publish(report, place, &options, &result, &err), ERROR_PERMISSION);
	UNIT_CONTAINS(err.text, "docker login");
	rig_credentials(&rig, config);
	err = (struct error){0};
	UNIT_INT(report_publish(report, place, &options, &result, &err), 0);
	UNIT_STRING(err.text, "");
	rig_credentials(&rig, NULL);
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"there and back", test_there_and_back},
		{"faults", test_faults},
		{"subject", test_subject},
		{"password", test_password},
		CU_TEST_INFO_NULL,
	};
	int rc = rig_open(&rig);
	if (rc == 0)
		rc = unit_run("oci store", tests);
	free(report);
	rig_close(&rig);
	return rc;
}
