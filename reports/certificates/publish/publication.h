/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * A report's folder as an artifact (OCI image-spec v1.1, manifest.md, "Guidelines for Artifact Usage"): a manifest of
 * type PUBLICATION_TYPE with an empty configuration, a layer for each file with its name as title, and annotations for
 * people who look for it. It depends only on the folder: the same folder has the same digest.
 * (reports/certificates/folder.h), attestation.json, and the evidence that the journal names.
 */

#include "base/cleanup.h"
#include "base/text.h"
#include "containers/registry/image.h"
#include "reports/certificates/publish/publish.h"

#define PUBLICATION_TYPE "application/vnd.gpucert.report.v1+json"

/* The configuration of artifacts that have none (image-spec, "Guidance for an Empty Descriptor"). */
#define PUBLICATION_EMPTY_TYPE "application/vnd.oci.empty.v1+json"
#define PUBLICATION_EMPTY      "{}"

enum {
	PUBLICATION_FILE_MAX = 64 * 1024 * 1024,   /* bytes of a file */
	PUBLICATION_SIZE_MAX = 1024 * 1024 * 1024, /* bytes of all */
	PUBLICATION_TITLE_MAX = 512,
};

struct publication {
	struct text document; /* the manifest as it is stored */
	char digest[DIGEST_TEXT_SIZE];
	struct image manifest; /* layers: the files, each with its title */
	uint64_t size;	       /* of all files */
};

#define CLEANUP_PUBLICATION __attribute__((cleanup(publication_free)))

/*
 * Of a folder. `subject`: the descriptor of the image that it is attached to; NULL: none. ERROR_FORMAT: the folder is not what
 * its run stored, and says which file; ERROR_LIMIT: more than can be published; errors of folder_open().
 */
int publication_make(const char *directory, const cJSON *subject, struct publication *out,
		     struct error *err);

/*
 * Of a stranger's manifest, whose text it takes over. ERROR_FORMAT: not a report, and says of which type it is; a title that is not the
 * name of a report's file, or is there twice, upper and lower case being the same; ERROR_LIMIT; errors of
 * image_document_parse() and image_manifest_read().
 */
int publication_read(struct text *document, struct publication *out, struct error *err);
void publication_free(struct publication *publication);

/* The file of that name; NULL: there is none. */
const struct image_descriptor *publication_find(const struct publication *publication,
						const char *title);

/* Digest, files and bytes. */
void publication_describe(const struct publication *publication, struct publish_result *out);
