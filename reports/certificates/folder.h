/* SPDX-License-Identifier: MIT */
#pragma once

/* A report's folder on disk. Each file is read once, and nothing in it is trusted. */

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

/* The word of the fault for a file that differs from the attested one, or cannot be read. */
const char *folder_change(enum folder_file_name name);

struct folder_file {
	char *data; /* NULL: it does not exist */
	size_t size;
	char digest[DIGEST_SIZE];
	bool untrusted; /* unreadable, or not the attested one: proves nothing */
};

struct folder {
	const char *path; /* borrowed */
	struct folder_file files[FOLDER_FILE_COUNT];
	cJSON *report;		    /* NULL: report.json is missing or not a report */
	struct journal_log log;	    /* without records: missing or broken */
	cJSON *made;		    /* the report made from that journal; NULL: none */
	struct text_index evidence; /* the paths that folder_check() has seen */
	struct claims claims;	    /* empty: the file is missing or malformed */
	struct product product;	    /* the same */
};

#define CLEANUP_FOLDER __attribute__((cleanup(folder_free)))

/* Reads the files. A file that is missing, a link or malformed becomes a fault; errors are those of reading the
 * folder itself. Free with folder_free(). */
int folder_open(const char *path, struct folder *out, struct faults *faults, struct error *err);

/* Replaces the content of a file; takes ownership of `data`; NULL: the file is missing. */
void folder_put(struct folder *folder, enum folder_file_name name, char *data, size_t size);

/* Are report.json and its journal present, readable, and not known to differ from the attested ones? */
bool folder_is_sound(const struct folder *folder);

/* Reads claims.json and product.yaml, if they exist. An unreadable one becomes a fault. */
void folder_read_papers(struct folder *folder, struct faults *faults);

/* Does report.json match its journal, and is each piece of evidence present, named once and unchanged? A report of
 * another version of gpucert may lack members that this one adds (docs/report.md: added, never renamed). */
void folder_check(struct folder *folder, struct faults *faults);

/* The checks whose evidence lies in the folder: from the journal, or from the report if the journal is malformed or not
 * the attested one. */
const cJSON *folder_checks(const struct folder *folder);

void folder_free(struct folder *folder);
