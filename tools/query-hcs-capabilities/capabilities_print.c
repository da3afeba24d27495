/* SPDX-License-Identifier: MIT */
#include "tools/query-hcs-capabilities/capabilities.h"

#include <string.h>

static const struct {
	enum hcs_device device;
	const char *name;
} devices[] = {
	{HCS_DEVICE_CLASS, "by class GUID (class/...)"},
	{HCS_DEVICE_LOCATION_PATH, "by location path (vpci-location-path://...)"},
};

static void add_version(struct text *out, struct windows_version version)
{
	text_addf(out, "%u.%u.%u", version.major, version.minor, version.build);
	if (version.revision_known)
		text_addf(out, ".%u", version.revision);
}

static void add_system(struct text *out, const struct capabilities *capabilities)
{
	const struct windows_build *row = windows_build_find(capabilities->version.build);
	const char *product = capabilities->product;

	text_add(out, "Operating system version:\n");
	if (product[0] == '\0')
		product = row != NULL ? row->name : "an unknown version of Windows";
	text_add_escaped(out, product, strlen(product));
	if (strcmp(capabilities->os, "windows") != 0) {
		text_addf(out, ", %s ", capabilities->os);
		text_add_escaped(out, capabilities->kernel, strlen(capabilities->kernel));
		text_add(out, "\n");
		return;
	}
	if (capabilities->display_version[0] != '\0') {
		text_add(out, ", version ");
		text_add_escaped(out, capabilities->display_version,
				 strlen(capabilities->display_version));
	}
	text_add(out, " (OS build ");
	add_version(out, capabilities->version);
	text_add(out, ")");
	if (capabilities->wine[0] != '\0')
		text_addf(out, ", as Wine %s claims", capabilities->wine);
	text_add(out, "\n");
}

static void add_asked(struct text *out, const struct capabilities *capabilities)
{
	const struct hcs_service *service = &capabilities->service;

	text_addf(out, "\nSupported HCS schema versions (asked of %s%s%s):\n", service->library,
		  service->library_version[0] != '\0' ? " " : "", service->library_version);
	for (size_t i = 0; i < service->versions.count; i++)
		text_addf(out, "- %u.%u\n", service->versions.items[i].major,
			  service->versions.items[i].minor);
}

static void add_table(struct text *out, const struct capabilities *capabilities)
{
	const struct windows_build *row = windows_build_find(capabilities->version.build);
	struct hcs_version at_least = {0};
	const struct hcs_version *newest = capabilities_schema(capabilities, &at_least);

	if (newest != NULL)
		text_addf(out,
			  "\nSupported HCS schema versions (from the table of builds, %s):\n- "
			  "%u.%u\n",
			  windows_build_source_name(row->source), newest->major, newest->minor);
	else if (at_least.major > 0)
		text_addf(
			out,
			"\nSupported HCS schema versions (no source tells of this build; it has at "
			"least):\n- %u.%u\n",
			at_least.major, at_least.minor);
}

static void add_devices(struct text *out, const struct capabilities *capabilities)
{
	static const char *const answers[] = {
		[CAPABILITIES_NO] = "no",
		[CAPABILITIES_YES] = "yes",
		[CAPABILITIES_UNKNOWN] = "unknown",
	};

	text_add(out, "\nDevices can be given to containers in process isolation:\n");
	for (size_t i = 0; i < sizeof(devices) / sizeof(devices[0]); i++) {
		struct hcs_version since = hcs_device_since(devices[i].device);

		text_addf(out, "- %s: %s (since %u.%u)\n", devices[i].name,
			  answers[capabilities_allow(capabilities, devices[i].device)], since.major,
			  since.minor);
	}
}

static void add_image(struct text *out, const struct capabilities *capabilities)
{
	struct windows_image_judgement judgement =
		windows_image_judge(capabilities->version, capabilities->image);

	text_add(out, "\nImage of Windows ");
	add_version(out, capabilities->image);
	text_addf(out, " on this host, in process isolation:\n%s: %s\n",
		  windows_image_answer_name(judgement.answer), judgement.reason);
}

void capabilities_print(const struct capabilities *capabilities, struct text *out)
{
	add_system(out, capabilities);
	if (strcmp(capabilities->os, "windows") != 0)
		return;
	if (capabilities->asked)
		add_asked(out, capabilities);
	else
		add_table(out, capabilities);
	add_devices(out, capabilities);
	if (capabilities->image_given)
		add_image(out, capabilities);
}
