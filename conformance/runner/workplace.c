/* SPDX-License-Identifier: MIT */
#include "conformance/runner/workplace.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/path.h"

#include <string.h>

static int workplace_import(struct workplace *workplace, struct error *err)
{
	const char *work = runtime_describe(workplace->runtime)->work_directory;
	uint64_t start = clock_monotonic_ms();
	int rc = images_prepare(work, NULL, &workplace->images, err);

	if (rc == 0) {
		const char *const references[] = {
			workplace->images.probe.reference,
			workplace->images.pause.reference,
			NULL,
		};

		rc = runtime_import(workplace->runtime, workplace->images.archive, references, err);
	}
	workplace->image_ms = clock_monotonic_ms() - start;
	return rc < 0 ? error_wrap(err, "probe image") : 0;
}

static int workplace_start_runtime(struct workplace *workplace, const char *cri_address,
				   struct error *err)
{
	uint64_t start = clock_monotonic_ms();
	int rc = cri_address != NULL
			 ? runtime_attach(workplace->loop, cri_address, NULL, &workplace->runtime,
					  err)
			 : runtime_start(workplace->loop, NULL, &workplace->runtime, err);

	workplace->runtime_ms = clock_monotonic_ms() - start;
	return rc == 0 ? workplace_import(workplace, err) : rc;
}

static int workplace_make_directory(struct workplace *workplace, struct error *err)
{
	if (workplace->runtime != NULL) {
		workplace->run_directory =
			strdup(runtime_describe(workplace->runtime)->work_directory);
		return workplace->run_directory != NULL ? 0 : error_memory(err);
	}
	int rc = file_make_temporary("/tmp", "gpucert-", &workplace->own_directory, err);

	if (rc == 0) {
		workplace->run_directory = strdup(workplace->own_directory);
		rc = workplace->run_directory != NULL ? 0 : error_memory(err);
	}
	return rc;
}

static int workplace_open_runtime(struct workplace *workplace, const char *launcher,
				  const char *cri_address, struct error *err)
{
	struct error reason = {0};
	int rc = workplace_start_runtime(workplace, cri_address, &reason);

	if (rc == 0) {
		workplace->launcher = "containerd";
		return 0;
	}
	(void)runtime_stop(workplace->runtime, NULL);
	workplace->runtime = NULL;
	images_free(&workplace->images);
	if (launcher != NULL || cri_address != NULL)
		return error_set(err, reason.code, "%s", reason.text);
	workplace->launcher = "none";
	free(workplace->missing);
	workplace->missing = strdup(reason.text);
	return workplace->missing != NULL ? 0 : error_memory(err);
}

int workplace_open(uv_loop_t *loop, const char *launcher, const char *cri_address,
		   struct workplace *workplace, struct error *err)
{
	struct error ignored = {0};
	int rc = 0;

	*workplace = (struct workplace){.loop = loop, .launcher = "process", .missing = strdup("")};
	if (workplace->missing == NULL)
		return error_memory(err);
	/* A directory of a dead run that resists is not this run's failure; the next one tries
	 * again. */
	(void)runtime_recover(NULL, &workplace->recovered, &ignored);
	if (launcher == NULL || strcmp(launcher, "containerd") == 0)
		rc = workplace_open_runtime(workplace, launcher, cri_address, err);
	if (rc == 0)
		rc = workplace_make_directory(workplace, err);
	if (rc < 0)
		(void)workplace_close(workplace, NULL);
	return rc;
}

int workplace_close(struct workplace *workplace, struct error *err)
{
	int rc = runtime_stop(workplace->runtime, err);

	if (workplace->own_directory != NULL) {
		int removed = file_remove_tree(workplace->own_directory, rc == 0 ? err : NULL);

		rc = rc == 0 ? removed : rc;
	}
	images_free(&workplace->images);
	free(workplace->run_directory);
	free(workplace->own_directory);
	free(workplace->missing);
	*workplace = (struct workplace){0};
	return rc;
}
