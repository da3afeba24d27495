/* SPDX-License-Identifier: MIT */
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/path.h"
#include "containers/runtime/runtime_internal.h"
#include "rpc/address.h"
#include "rpc/loop.h"

#include <string.h>

enum { IMPORT_TIMEOUT_MS = 120000, KNOWN_TIMEOUT_MS = 20000, KNOWN_POLL_MS = 3 };

static int is_known(struct runtime *runtime, const char *reference, bool *known, struct error *err)
{
	Runtime__V1__ImageStatusResponse *reply CLEANUP_CRI_REPLY = NULL;
	int rc = cri_image_status_wait(runtime->cri, reference, false, &reply, err);
	if (rc == 0)
		*known = reply->image != NULL;
	return rc;
}

/* The CRI service learns of an imported image by an event, a little after the import has ended. */
static int wait_known(struct runtime *runtime, const char *reference, struct error *err)
{
	uint64_t deadline = clock_monotonic_ms() + KNOWN_TIMEOUT_MS;
	for (;;) {
		bool known = false;
		int rc = is_known(runtime, reference, &known, err);
		if (rc < 0 || known)
			return rc;
		if (clock_monotonic_ms() >= deadline)
			return error_set(err, ERROR_TIMEOUT,
					 "image %s is imported but unknown to the CRI", reference);
		loop_run_for(runtime->loop, KNOWN_POLL_MS);
	}
}

static int run_ctr(struct runtime *runtime, const char *archive, struct error *err)
{
	struct address address = {0};
	const char *snapshotter = runtime->description.snapshotter;
	char *output CLEANUP_FREE = NULL;
	char *beside CLEANUP_FREE =
		runtime->programs != NULL ? path_join(runtime->programs, "ctr") : NULL;
	const char *program = beside != NULL && file_exists(beside) ? beside : "ctr";
	int rc = address_parse(runtime->description.address, ADDRESS_RULES_HERE, &address, err);
	const char *argv[] = {program,	"--address", address.name, "--namespace",
			      "k8s.io", "images",    "import",	   archive,
			      NULL,	NULL,	     NULL};
	const struct process_spec spec = {.argv = argv, .timeout_ms = IMPORT_TIMEOUT_MS};
	if (snapshotter[0] != '\0') {
		argv[7] = "--snapshotter";
		argv[8] = snapshotter;
		argv[9] = archive;
	}
	if (rc == 0)
		rc = process_ask(&spec, &output, err);
	return rc < 0 ? error_wrap(err, rc, "ctr") : 0;
}

/* Which of the images are not there yet. */
static int list_new(struct runtime *runtime, const char *const *references, struct text_list *new,
		    struct error *err)
{
	int rc = 0;
	for (const char *const *reference = references; rc == 0 && *reference != NULL;
	     reference++) {
		bool known = false;
		rc = is_known(runtime, *reference, &known, err);
		if (rc == 0 && !known)
			rc = text_list_add(new, *reference, err);
	}
	return rc;
}

/* Written first: a run that is killed cannot remove its images, so the next one does. */
static int announce(const struct runtime *runtime, const struct text_list *references,
		    struct error *err)
{
	char *path CLEANUP_FREE = path_join(runtime->directory, RUNTIME_IMPORTED_FILE);
	struct text lines CLEANUP_TEXT = {0};
	for (size_t i = 0; i < references->count; i++)
		text_addf(&lines, "%s\n", references->items[i]);
	if (path == NULL || lines.failed)
		return error_memory(err);
	return file_write_atomic(path, text_string(&lines), lines.size, 0600, err);
}

int runtime_import(struct runtime *runtime, const char *archive, const char *const *references,
		   struct error *err)
{
	struct text_list new CLEANUP_TEXT_LIST = {0};
	int rc = list_new(runtime, references, &new, err);
	if (rc == 0 && !runtime->description.is_private)
		rc = announce(runtime, &new, err);
	if (rc == 0 && new.count > 0)
		rc = run_ctr(runtime, archive, err);
	for (size_t i = 0; rc == 0 && i < new.count; i++)
		rc = text_list_add(&runtime->imported, new.items[i], err);
	for (size_t i = 0; rc == 0 && i < new.count; i++)
		rc = wait_known(runtime, new.items[i], err);
	return rc < 0 ? error_wrap(err, rc, "import of %s", archive) : 0;
}
