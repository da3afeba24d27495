/* SPDX-License-Identifier: MIT */
#include "discovery/linux/vulkan_icd.h"

#include "base/cleanup.h"
#include "base/json.h"

#include <string.h>

int vulkan_icd_parse(const char *data, size_t size, struct vulkan_icd *out, struct error *err)
{
	cJSON *document CLEANUP_JSON = NULL;
	const char *library = "";
	const char *version = "";
	struct json_at icd = {0};
	struct vulkan_icd parsed CLEANUP_VULKAN_ICD = {0};
	int rc = json_parse(data, size, &document, err);

	if (rc < 0)
		return rc;
	struct json_at root = json_root(document);

	rc = json_need(&root, "ICD", JSON_OBJECT, &icd, err);
	if (rc == 0)
		rc = json_need_string(&icd, "library_path", &library, err);
	if (rc == 0 && library[0] == '\0')
		rc = error_set(err, ERROR_FORMAT, "ICD.library_path: is empty");
	if (rc == 0)
		rc = json_have_string(&icd, "api_version", &version, err);
	if (rc < 0)
		return rc;
	parsed.library_path = strdup(library);
	parsed.api_version = strdup(version);
	if (parsed.library_path == NULL || parsed.api_version == NULL)
		return error_memory(err);
	out->library_path = STEAL(parsed.library_path);
	out->api_version = STEAL(parsed.api_version);
	return 0;
}

void vulkan_icd_free(struct vulkan_icd *icd)
{
	free(icd->library_path);
	free(icd->api_version);
	*icd = (struct vulkan_icd){0};
}
