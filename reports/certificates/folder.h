/* SPDX-License-Identifier: MIT */
#pragma once

/* A report's folder as it lies on disk, each file read once and nothing of it believed. */

#include "base/digest.h"
#include "base/text_index.h"
#include "reports/certificates/claims.h"
#include "reports/certificates/product.h"

#define ATTESTATION_FILE_NAME "attestation.json"

/* The files of a folder that an attestation covers. */
enum folder_file_name {
	FOLDER_REPORT,
	FOLDER_JOURNAL,
	FOLDER_JUNIT,
	FOLDER_PAGE,
	FOLDER_MARKDOWN,
	FOLDER_CLAIMS,
	FOLDER_PRODUCT,
	FOLDER_README,
	FOLDER_FILE_COUNT
};

/* "report.json", "journal.ndjson", "junit.xml", "report.html", "report.md", "claims.json", "product.yaml", "README.md"; NULL-ended. */
extern const char *const folder_file_names[FOLDER_FILE_COUNT + 1];

/* The word of the fault that such a file is another one than was attested, or cannot be read. */
const char *folder_change(enum folder_file_name name);

struct folder_file {
	char *data; /* NULL: it is not there */
	size_t size;
	char digest[DIGEST_SIZE];
	bool untrusted; /* it cannot be read or is not what was attested: nothing follows from it */
};

struct folder {
	const char *path; /* borrowed */
	struct folder_file files[FOLDER_FILE_COUNT];
	cJSON *report;		    /* NULL: report.json is missing or not a report */
	struct journal_log log;	    /* of no records: missing or broken */
	cJSON *made;		    /* the report of that journal; NULL: there is none */
	struct text_index evidence; /* the paths that folder_check() met */
	struct claims claims;	    /* empty: there is no file, or it is not one */
	struct product product;	    /* the same */
};

#define CLEANUP_FOLDER __attribute__((cleanup(folder_free)))

/* Reads the files. What is missing, is a link or is not what its name says becomes a fault; an error is that of
 * reading the folder itself. Free with folder_free(). */
int folder_open(const char *path, struct folder *out, struct faults *faults, struct error *err);

/* Puts a file in place of what was read; takes `data`, which NULL leaves missing. */
void folder_put(struct folder *folder, enum folder_file_name name, char *data, size_t size);

/* Are report.json and its journal there, readable, and not known to be others than were attested? */
bool folder_is_sound(const struct folder *folder);

/* Reads claims.json and product.yaml, where they are. What cannot be read becomes a fault. */
void folder_read_papers(struct folder *folder, struct faults *faults);

/* Is report.json what its journal says, and is each piece of evidence there, named once and what they say? A report of another version of gpucert may lack members that this one adds (docs/report.md: added, never renamed). */
void folder_check(struct folder *folder, struct faults *faults);

/* The checks whose evidence lies in the folder: as the journal says, or as the report says where the journal is not one or not the
 * one that was attested. */
const cJSON *folder_checks(const struct folder *folder);

void folder_free(struct folder *folder);
