/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Moving reports: to a place where others find them, and from there into a folder. docs/publish.md is the page for people.
 *
 *	oci://HOST/REPOSITORY:TAG	an artifact of a registry (publication.h), with the credentials of `docker login`
 *	https://HOST/PATH		files below that URL, put one by one, and at last their manifest as "manifest.json";
 *					http:// for this machine, or with `plain_http`
 *
 * Either may end in "@sha256:...": only that manifest is pulled.
 *
 * Both calls may be repeated: what is there already, and right, is not moved again, so that they go on where they
 * were interrupted.
 */

#include "base/digester.h"
#include "containers/registry/registry.h"

struct publish_options {
	struct registry_options registry; /* for both kinds of place */
	const char *
		subject; /* publish: the image in the same repository that the report is attached to; NULL: none */
	const char *token; /* bearer token for https://; NULL: none. Only for that host; never in
		        * errors */
	/* Called before each file; may be NULL. */
	void (*progress)(size_t number, size_t count, const struct image_descriptor *file);
};

struct publish_result {
	char digest[DIGEST_TEXT_SIZE]; /* of the manifest */
	size_t files, moved_files;     /* `moved_files`: those that were missing there */
	uint64_t bytes, moved_bytes;
};

/* Can a report be published there, judging by its name? ERROR_ARGUMENT. */
int report_place_check(const char *place, const struct publish_options *options, struct error *err);

/*
 * Publishes a report's folder. ERROR_ARGUMENT: not a place, or an image that is not in it; ERROR_FORMAT: the folder is
 * not what its run stored; errors of publication_make() and of registry.h.
 */
int report_publish(const char *directory, const char *place, const struct publish_options *options,
		   struct publish_result *out, struct error *err);

/*
 * Pulls a report into a folder, which is made. Nothing in it is replaced. Each file is compared with its digest and waits in
 * ".pulled" below the folder; an unfinished one is ".pull-HEX", also when the pull is interrupted. Files get their names
 * once the journal, and the evidence that it names, were verified. ERROR_EXISTS: another file is in its place;
 * ERROR_FORMAT: not a report, or not what a run stored; ERROR_BUSY: another pull or a run is writing there; ERROR_TIMEOUT: it
 * takes longer than half an hour; errors of publication_read(), file_hold_directory() and of registry.h.
 */
int report_pull(const char *place, const char *directory, const struct publish_options *options,
		struct publish_result *out, struct error *err);
