/* SPDX-License-Identifier: MIT */
/* Any bytes as a CDI file, as JSON and as YAML: a Spec with devices, which become edits, or an error
 * with a defect. A Spec in JSON that is also valid YAML is the same Spec as YAML. */
#include "containers/cdi/apply.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition)
{
	if (!condition)
		abort();
}

static void parse(const char *path, const char *data, size_t size, struct cdi_spec *spec)
{
	struct error err = {0};
	int rc = cdi_spec_parse(path, data, size, spec, &err);
	require(rc == 0 || (rc == err.code && err.text[0] != '\0'));
	require((rc == 0) == (spec->defect == CDI_NO_DEFECT));
	require(cdi_defect_name(spec->defect) != NULL);
	if (rc < 0)
		return;
	require(spec->devices.count > 0 && strchr(spec->kind, '/') != NULL);
	require(spec->version != NULL && spec->needed != NULL);
}

/* Every device of it in one container: each name becomes edits, or stays for a reason. */
static void apply(struct cdi_spec *spec)
{
	char path[] = "/etc/cdi/a.json";
	struct cdi_file file = {.path = path, .spec = *spec};
	const struct cdi_registry registry = {.files = &file, .count = 1};
	struct grant grant = {0};
	struct grant out = {0};
	text_each (name, &spec->devices) {
		require(cdi_registry_find(&registry, name) == &file);
		grant_add(&grant, GRANT_CDI_DEVICE, &(struct grant_entry){.name = name});
	}
	cdi_apply(&registry, &grant, &out);
	require(out.cdi_devices.count <= grant.cdi_devices.count);
	grant_free(&out);
	grant_free(&grant);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cdi_spec json = {0};
	struct cdi_spec yaml = {0};
	parse("a.json", (const char *)data, size, &json);
	parse("a.yaml", (const char *)data, size, &yaml);
	if (json.defect == CDI_NO_DEFECT && yaml.defect == CDI_NO_DEFECT) {
		require(strcmp(json.kind, yaml.kind) == 0);
		require(json.devices.count == yaml.devices.count);
	}
	if (json.defect == CDI_NO_DEFECT)
		apply(&json);
	if (yaml.defect == CDI_NO_DEFECT)
		apply(&yaml);
	cdi_spec_free(&json);
	cdi_spec_free(&yaml);
	return 0;
}
