/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Specs of the Container Device Interface, 0.1.0 to 1.1.0 (cncf-tags/container-device-interface:
 * SPEC.md, specs-go/config.go, pkg/cdi): their validity, and the lowest cdiVersion that has their
 * fields.
 *
 * A runtime refuses a whole file for its first defect, and so does this reader.
 */

#include "base/json.h"
#include "base/text.h"

#include <stddef.h>

enum {
	CDI_FILE_MAX = 1024 * 1024, /* bytes of a file */
	CDI_LIST_MAX = 4096,	    /* elements of a list, or annotations */
};

/* Why a file is not a Spec. */
enum cdi_defect {
	CDI_NO_DEFECT,
	CDI_UNREADABLE,
	CDI_SYNTAX, /* neither JSON nor YAML */
	CDI_TOO_LARGE,
	CDI_UNKNOWN_FIELD,
	CDI_FIELD_TWICE,
	CDI_MISSING_FIELD, /* or an empty one */
	CDI_WRONG_TYPE,
	CDI_WRONG_VALUE,
	CDI_WRONG_NAME, /* of a vendor, class, device or annotation */
	CDI_UNKNOWN_VERSION,
	CDI_VERSION_TOO_LOW, /* the file declares less than its fields need */
	CDI_NO_EDITS,	     /* a device that changes nothing */
	CDI_DEVICE_TWICE,
	CDI_DEFECTS
};

const char *cdi_defect_name(enum cdi_defect defect); /* "unknown-field" */

struct cdi_spec {
	enum cdi_defect defect;
	char *kind;		  /* "vendor/class" */
	const char *version;	  /* declared by the file; static */
	const char *needed;	  /* the lowest with its fields, at least "0.3.0"; static */
	struct text_list devices; /* qualified names: "vendor/class=name" */
	cJSON *document;	  /* from cdi_spec_parse(), even if not a Spec; or NULL */
};

/*
 * Checks whether the document is a Spec. Any unquoted scalar of a YAML file passes for a string (see
 * yaml_to_json()). `out` is zeroed; free it with cdi_spec_free(), also after an error.
 *
 * ERROR_FORMAT: it is not; the error names the place and out->defect the reason.
 */
int cdi_spec_check(const cJSON *document, struct cdi_spec *out, struct error *err);

/* cdi_spec_check() of a file's content: JSON when `path` ends in .json, otherwise YAML. */
int cdi_spec_parse(const char *path, const char *data, size_t size, struct cdi_spec *out,
		   struct error *err);

void cdi_spec_free(struct cdi_spec *spec);
