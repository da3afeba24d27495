/* SPDX-License-Identifier: MIT */
#pragma once

/* The devices that a host can give to containers: from its Host Compute Service, or from the table of
 * builds. */

#include "base/text.h"
#include "containers/judging/compat/hcs_service.h"
#include "containers/judging/compat/windows_images.h"

#include <cjson/cJSON.h>

enum capabilities_answer { CAPABILITIES_NO, CAPABILITIES_YES, CAPABILITIES_UNKNOWN };

/* Strings are borrowed and never NULL. */
struct capabilities {
	const char *os;		     /* "windows", "linux" */
	const char *product;	     /* "Windows Server 2022 Datacenter"; "" */
	const char *display_version; /* "21H2"; "" */
	const char *kernel;	     /* on systems other than Windows: its release */
	const char *wine;	     /* version of Wine, which only claims to be that Windows; "" */
	struct windows_version version; /* of Windows */

	bool asked;		    /* the service answered */
	struct hcs_service service; /* if it did */
	const char *problem;	    /* why it did not; "" when it was not asked */

	bool image_given;
	struct windows_version image;
};

/* The newest schema of major version 2, or NULL when neither the service nor the table has it; *at_least
 * is supported in any case ({0, 0}: unknown). */
const struct hcs_version *capabilities_schema(const struct capabilities *capabilities,
					      struct hcs_version *at_least);

enum capabilities_answer capabilities_allow(const struct capabilities *capabilities,
					    enum hcs_device device);

/* For people; appended. Each version has a line of its own. */
void capabilities_print(const struct capabilities *capabilities, struct text *out);

/* tools/query-hcs-capabilities/schema/hcs.schema.json. */
cJSON *capabilities_to_json(const struct capabilities *capabilities);
