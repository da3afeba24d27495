/* SPDX-License-Identifier: MIT */
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/path.h"
#include "containers/runtime/runtime_internal.h"
#include "rpc/address.h"
#include "rpc/loop.h"

enum { IMPORT_TIMEOUT_MS = 120000, KNOWN_TIMEOUT_MS = 20000, KNOWN_POLL_MS = 3 };

static int is_known(struct runtime *runtime, const char *reference, bool *known, struct error *err)
{
	Runtime__V1__ImageStatusResponse *reply CLEANUP_CRI_REPLY = NULL;
	int rc = cri_image_status_wait(runtime->cri, reference, false, &reply, err);
	if (rc == 0)
		*known = reply->image != NULL;
	return rc;
}

static int run_ctr(struct runtime *runtime, const char *archive, struct error *err)
{
	struct address address = {0};
	const char *snapshotter = runtime->description.snapshotter;
	char *output CLEANUP_FREE = NULL;
	char *own CLEANUP_FREE =
		runtime->programs != NULL ? path_join(runtime->programs, "ctr") : NULL;
	const char *program = own != NULL && file_exists(own) ? own : "ctr";
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

int runtime_import(struct runtime *runtime, const char *archive, const char *const *references,
		   struct error *err)
{
	const struct runtime_description *description = &runtime->description;
	struct text_list new CLEANUP_TEXT_LIST = {0};
	size_t unknown = 0;
	int rc = 0;
	for (size_t i = 0; rc == 0 && references[i] != NULL; i++) {
		bool known = false;
		rc = is_known(runtime, references[i], &known, err);
		unknown += known ? 0 : 1;
		if (!known || (!description->is_private &&
			       run_directory_shares_image(runtime->directory, description->address,
							  references[i])))
			text_list_add(&new, references[i]);
	}

	/* Written first: a run that is killed cannot remove its images, so the next one does. */
	if (rc == 0 && !description->is_private) {
		char *path CLEANUP_FREE = path_join(runtime->directory, RUNTIME_IMPORTED_FILE);
		struct text lines CLEANUP_TEXT = {0};
		text_each (reference, &new)
			text_addf(&lines, "%s\n", reference);
		rc = file_write_atomic(path, text_string(&lines), lines.size, 0600, err);
	}
	if (rc == 0 && unknown > 0)
		rc = run_ctr(runtime, archive, err);
	for (size_t i = 0; rc == 0 && i < new.count; i++)
		text_list_add(&runtime->imported, new.items[i]);

	/* The CRI service learns of an imported image by an event, a little after the import has ended. */
	for (size_t i = 0; rc == 0 && i < new.count; i++) {
		uint64_t deadline = clock_monotonic_ms() + KNOWN_TIMEOUT_MS;
		bool known = false;
		rc = is_known(runtime, new.items[i], &known, err);
		while (rc == 0 && !known) {
			if (clock_monotonic_ms() >= deadline)
				return error_set(
					err, ERROR_TIMEOUT,
					"import of %s: image %s is imported but unknown to the CRI",
					archive, new.items[i]);
			loop_run_for(runtime->loop, KNOWN_POLL_MS);
			rc = is_known(runtime, new.items[i], &known, err);
		}
	}
	return rc < 0 ? error_wrap(err, rc, "import of %s", archive) : 0;
}
