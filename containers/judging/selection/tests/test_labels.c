/* SPDX-License-Identifier: MIT */
#include "base/cleanup.h"
#include "base/tests/unit.h"
#include "containers/judging/selection/labels.h"

#include <string.h>

/* Kubernetes, "Labels and Selectors", "Syntax and character set". */
static bool is_label(const char *text)
{
	static const char alphanumeric[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
	static const char all[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.";
	size_t size = strlen(text);
	return size > 0 && size <= 63 && strspn(text, all) == size &&
	       strspn(text, alphanumeric) > 0 && strspn(text + size - 1, alphanumeric) == 1;
}

static void expect_labels(const char *host_file, const char *wanted)
{
	struct host_facts host CLEANUP_HOST_FACTS = {0};
	struct text text CLEANUP_TEXT = {0};
	struct error err = {0};
	UNIT_INT(host_facts_parse(host_file, strlen(host_file), &host, &err), 0);
	UNIT_STRING(err.text, "");
	labels_of_host(&host, "", &text);
	UNIT_STRING(text_string(&text), wanted);
}

#define HOST "{\"schema\":\"gpucert-host/1\",\"os\":\"linux\","

static void test_facts(void)
{
	expect_labels(HOST
		      "\"architecture\":\"x86_64\",\"cpuLevel\":3,\"kernel\":\"6.8.0-45-generic\","
		      "\"driverGlibc\":\"2.34\"}",
		      "os=linux\narchitecture=amd64\ncpu-level=3\nkernel=6.8.0-45-generic\n"
		      "driver-glibc=2.34\n");
	expect_labels(
		"{\"schema\":\"gpucert-host/1\",\"os\":\"windows\",\"windows\":{\"version\":"
		"\"10.0.20348.2582\"},\"gpus\":[{\"vendor\":\"nvidia\",\"name\":\"NVIDIA Tesla T4\","
		"\"driverVersion\":\"31.0.15.5222\",\"wddm\":\"3.1\"}]}",
		"os=windows\nwindows.build=20348\nwindows.version=10.0.20348.2582\n"
		"nvidia.driver=552.22\nnvidia.cuda=12.4\nnvidia.compute-capability=7.5\n"
		"nvidia.wddm=3.1\n");
}

static void test_the_lowest_of_several(void)
{
	expect_labels(
		HOST "\"gpus\":[{\"vendor\":\"nvidia\",\"driver\":\"nvidia\",\"driverVersion\":"
		     "\"550.54.15\",\"cudaVersion\":\"12.4\",\"computeCapability\":\"10.0\"},"
		     "{\"vendor\":\"nvidia\",\"driver\":\"nvidia\",\"driverVersion\":\"550.54.15\","
		     "\"cudaVersion\":\"12.4\",\"computeCapability\":\"9.0\"}]}",
		"os=linux\nnvidia.driver=550.54.15\nnvidia.cuda=12.4\n"
		"nvidia.compute-capability=9.0\n");
	/* One that does not tell it: no label promises it. */
	expect_labels(HOST
		      "\"gpus\":[{\"vendor\":\"amd\",\"driver\":\"amdgpu\",\"driverVersion\":"
		      "\"6.8.5\",\"architecture\":\"gfx90a\"},{\"vendor\":\"amd\",\"driver\":"
		      "\"amdgpu\",\"architecture\":\"gfx90a\"},{\"vendor\":\"amd\",\"driver\":"
		      "\"amdgpu\",\"architecture\":\"gfx90\"},{\"vendor\":\"intel\",\"driver\":"
		      "\"vfio-pci\",\"driverVersion\":\"1\"}]}",
		      "os=linux\namd.gfx90a=true\namd.gfx90=true\n");
}

#define FIFTY "aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeee"

static void test_texts(void)
{
	static const char *const texts[][2] = {
		{"6.1.0-18-amd64", "6.1.0-18-amd64"},
		{"6.1.0+deb12 x", "6.1.0_deb12_x"},
		{"_.-a-._", "a"},
		{"\xc3\xa4", ""},
		{"a=b\nc", "a_b_c"},
		{"", ""},
		{"...", ""},
		{FIFTY "0123456789abc", FIFTY "0123456789abc"},	 /* 63 */
		{FIFTY "0123456789abcd", FIFTY "0123456789abc"}, /* 64 */
		{FIFTY "0123456789--.x", FIFTY "0123456789"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		char out[LABEL_TEXT_MAX + 1] = "";
		label_text(texts[i][0], LABEL_TEXT_MAX, out);
		UNIT_STRING(out, texts[i][1]);
		CU_ASSERT_TRUE(out[0] == '\0' || is_label(out));
	}
}

/* Whatever a host file says, every line is a name and a value that Kubernetes takes, behind either prefix. */
static void test_rude_host(void)
{
	struct host_facts host CLEANUP_HOST_FACTS = {0};
	struct text text CLEANUP_TEXT = {0};
	struct text_list lines CLEANUP_TEXT_LIST = {0};
	static const char file[] = HOST
		"\"kernel\":\"x=y\\nz\",\"driverGlibc\":\"-\",\"gpus\":[{\"vendor\":\"intel\","
		"\"driver\":\"xe\",\"architecture\":\"" FIFTY FIFTY FIFTY
		"\"},{\"vendor\":\"amd\",\"driver\":\"amdgpu\",\"architecture\":\"a b\\n=\"}]}";
	UNIT_INT(host_facts_parse(file, strlen(file), &host, NULL), 0);
	labels_of_host(&host, LABEL_NFD_PREFIX, &text);
	text_list_split(&lines, text_string(&text), '\n');
	size_t seen = 0;
	for (size_t i = 0; i < lines.count; i++) {
		char *value = strchr(lines.items[i], '=');
		if (value == NULL)
			continue; /* behind the last line */
		*value = '\0';
		CU_ASSERT_TRUE(is_label(lines.items[i]));
		CU_ASSERT_TRUE(is_label(value + 1));
		seen++;
	}
	UNIT_INT(seen, 4); /* os, kernel, two architectures */
}

UNIT_MAIN("labels", {"facts", test_facts}, {"the lowest", test_the_lowest_of_several},
	  {"texts", test_texts}, {"rude host", test_rude_host})
