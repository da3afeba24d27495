/* SPDX-License-Identifier: MIT */
#include "base/cleanup.h"
#include "base/tests/unit.h"
#include "conformance/checks/container_judge.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#define USUAL                                                                                      \
	"{\"path\":\"/\",\"type\":\"overlay\",\"hostPath\":\"/run/x/1a/rootfs\"},"                 \
	"{\"path\":\"/proc\",\"type\":\"proc\"},"                                                  \
	"{\"path\":\"/dev/shm\",\"type\":\"tmpfs\",\"hostPath\":\"/run/x/2b/shm\"},"               \
	"{\"path\":\"/sys\",\"type\":\"sysfs\",\"hostPath\":\"/sys\",\"readOnly\":true}"
#define CONTAINER(mounts, nodes, rest)                                                             \
	"{\"mounts\":[" mounts "],\"nodes\":[{\"path\":\"/dev/null\",\"type\":\"character\","      \
	"\"number\":\"1:3\"}" nodes "],\"usable\":[],\"seccomp\":2,\"noNewPrivileges\":true," rest \
	"\"shared\":[]}"
static const char bare_text[] = CONTAINER(USUAL, "", "\"capabilities\":0,");

static cJSON *parse(const char *text)
{
	cJSON *json = NULL;
	CU_ASSERT_EQUAL_FATAL(json_parse(text, strlen(text), &json, NULL), 0);
	return json;
}

static void add(struct text *all, const char *kind, const struct text_list *list)
{
	text_each (item, list)
		text_addf(all, "%s%s: %s", all->size != 0 ? "; " : "", kind, item);
}

/* What is said of a container, beside one without devices. */
static char *judged(const char *container, const char *bare, bool needs_runtime)
{
	const struct discovery_snapshot node = {.system = {.os = "linux"}};
	const struct context context = {
		.node = &node, .cri_address = "", .run_directory = "/run/gpucert/run-1"};
	struct container_findings findings CLEANUP_CONTAINER_FINDINGS = {0};
	struct host_places *places CLEANUP_HOST_PLACES = host_places_new(&context);
	cJSON *json CLEANUP_JSON = parse(container);
	cJSON *other CLEANUP_JSON = bare != NULL ? parse(bare) : NULL;
	struct text all CLEANUP_TEXT = {0};
	const struct container_case one = {&context, json, other, places, needs_runtime, NULL};
	container_judge(&one, &findings);
	text_append(&all, "", 0);
	add(&all, "node", &findings.nodes);
	add(&all, "mount", &findings.mounts);
	add(&all, "privileges", &findings.privileges);
	add(&all, "open", &findings.open);
	return text_take(&all);
}

static void expect_mount(const char *mount, const char *wanted)
{
	char *text CLEANUP_FREE =
		text_format(CONTAINER(USUAL ",{%s}", "", "\"capabilities\":0,"), mount);
	char *saw CLEANUP_FREE = judged(text, bare_text, false);
	if (strcmp(saw, wanted) != 0)
		(void)fprintf(stderr, "%s:\n  '%s', not\n  '%s'\n", mount, saw, wanted);
	CU_ASSERT_STRING_EQUAL(saw, wanted);
}

#define GRANTED "\"granted\":true,\"sourceKnown\":true,"
#define AT	"\"path\":\"/x\","

static void test_mounts_are_judged_by_type_and_source(void)
{
	static const struct {
		const char *mount, *wanted;
	} rows[] = {
		{GRANTED AT
		 "\"type\":\"ext4\",\"hostPath\":\"/usr/lib/driver.so\",\"readOnly\":true",
		 ""},
		{GRANTED AT "\"type\":\"tmpfs\",\"hostPath\":\"/run/nvidia/mps\"", ""},
		{GRANTED AT "\"type\":\"devtmpfs\",\"hostPath\":\"/dev/dri/by-path\",\"readOnly\":"
			    "true",
		 ""},
		{GRANTED AT "\"type\":\"sysfs\",\"hostPath\":\"/sys/class/drm\",\"readOnly\":true",
		 ""},
		{GRANTED AT "\"type\":\"proc\",\"hostPath\":\"/proc/driver/nvidia\",\"readOnly\":"
			    "true",
		 ""},
		{GRANTED AT "\"type\":\"ext4\",\"hostPath\":\"/var/lib/driver\"", ""},
		{GRANTED AT "\"type\":\"tmpfs\",\"hostPath\":\"/dev/shm/driver\"", ""},
		{GRANTED AT "\"type\":\"ext4\",\"hostPath\":\"/usr/local/driver\"", ""},
		{GRANTED AT "\"type\":\"proc\",\"hostPath\":\"/mnt/p\"",
		 "mount: the proc file system of the node at /x (writable)"},
		{GRANTED AT "\"type\":\"tracefs\",\"hostPath\":\"/mnt/t\",\"readOnly\":true",
		 "mount: the tracefs file system of the node at /x (read-only)"},
		{GRANTED AT "\"type\":\"sysfs\",\"hostPath\":\"/sys/class/drm\"",
		 "mount: /sys of the node at /x (writable)"},
		{GRANTED AT "\"type\":\"tmpfs\",\"hostPath\":\"/dev/shm\"",
		 "mount: /dev/shm of the node at /x (writable)"},
		{GRANTED "\"path\":\"/dev/shm\",\"type\":\"tmpfs\",\"hostPath\":\"/dev/shm\"",
		 "mount: /dev/shm of the node at /dev/shm (writable)"},
		{"\"path\":\"/dev/shm\",\"type\":\"tmpfs\",\"hostPath\":\"/run/x/3c/shm\"", ""},
		{"\"path\":\"/dev/shm\",\"type\":\"tmpfs\",\"hostPath\":\"/dev/shm\"",
		 "mount: /dev/shm (/dev/shm of the node), which nobody granted; "
		 "mount: /dev/shm of the node at /dev/shm (writable)"},
		{"\"path\":\"/proc\",\"type\":\"proc\",\"hostPath\":\"/proc\"",
		 "mount: /proc (/proc of the node), which nobody granted; "
		 "mount: /proc of the node at /proc (writable)"},
		{AT "\"type\":\"debugfs\"",
		 "mount: /x (nothing known of the node), which nobody granted; "
		 "mount: the debugfs file system at /x (writable)"},
		{GRANTED "\"path\":\"/run/gpucert/launch\",\"type\":\"ext4\",\"hostPath\":"
			 "\"/run/gpucert/run-1/7/dp\"",
		 "mount: /run/gpucert/run-1 of the node at /run/gpucert/launch (writable)"},
		{"\"path\":\"/run/gpucert/launch\",\"type\":\"ext4\",\"hostPath\":"
		 "\"/run/gpucert/run-1/7/hold\"",
		 ""},
		{GRANTED AT "\"type\":\"ext4\",\"hostPath\":\"/var/lib/driver\",\"shared\":true",
		 "mount: /x spreads its mounts"},
		{"\"granted\":true," AT
		 "\"type\":\"overlay\",\"hostPath\":\"/run/driver/etc\",\"readOnly\":true",
		 "open: the source of /x (overlay, read-only) is not known: files of a file system "
		 "of this type may lie anywhere"},
		{"\"granted\":true," AT "\"type\":\"fuse.sshfs\"",
		 "open: the source of /x (fuse.sshfs, writable) is not known: files of a file "
		 "system of this type may lie anywhere"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		expect_mount(rows[i].mount, rows[i].wanted);
}

static void test_what_only_a_runtime_understands_may_add_mounts(void)
{
	static const char text[] =
		CONTAINER(USUAL ",{\"path\":\"/y\",\"type\":\"ext4\",\"hostPath\":\"/opt/driver\","
				"\"sourceKnown\":true}",
			  "", "\"capabilities\":0,");
	char *named CLEANUP_FREE = judged(text, bare_text, true);
	char *unnamed CLEANUP_FREE = judged(text, bare_text, false);
	CU_ASSERT_STRING_EQUAL(named, "");
	CU_ASSERT_STRING_EQUAL(unnamed,
			       "mount: /y (/opt/driver of the node), which nobody granted");
}

static void test_nodes_and_privileges_are_judged(void)
{
	static const char text[] =
		CONTAINER(USUAL,
			  ",{\"path\":\"/dev/kmsg\",\"type\":\"character\",\"number\":\"1:11\"}"
			  ",{\"path\":\"/dev/sda\",\"type\":\"block\",\"number\":\"8:0\"}"
			  ",{\"path\":\"/dev/fuse\",\"type\":\"character\",\"number\":\"10:229\"}",
			  "\"nodesCut\":\"/x/deep\",\"capabilities\":2097152,");
	char *saw CLEANUP_FREE = judged(text, bare_text, false);
	CU_ASSERT_STRING_EQUAL(
		saw, "node: /dev/kmsg (character 1:11); node: /dev/sda (block 8:0); "
		     "node: /dev/fuse (character 10:229); "
		     "privileges: capabilities 0x200000 beside 0, seccomp 2 beside 2, "
		     "no new privileges yes; "
		     "open: /x/deep was not searched for device nodes to its end: it has too many "
		     "files, or too many folders in one another");
}

static void test_without_a_bare_container_the_standard_holds(void)
{
	char *saw CLEANUP_FREE = judged(bare_text, NULL, false);
	CU_ASSERT_STRING_EQUAL(saw, "");
}

UNIT_MAIN("container-judge",
	  {"mounts are judged by type and source", test_mounts_are_judged_by_type_and_source},
	  {"what only a runtime understands may add mounts",
	   test_what_only_a_runtime_understands_may_add_mounts},
	  {"nodes and privileges are judged", test_nodes_and_privileges_are_judged},
	  {"without a bare container the standard holds",
	   test_without_a_bare_container_the_standard_holds})
