/* SPDX-License-Identifier: MIT */
#include "conformance/checks/authenticity.h"

#include "base/cleanup.h"
#include "conformance/checks/tamper.h"
#include "conformance/runner/context.h"
#include "containers/images/images.h"

#include <string.h>

enum { DIFFERENCES_TOLD = 8 };

static bool authenticity_expect_program(struct check_run *run, const char *label, const char *probe,
					const struct container_view *view)
{
	const struct image_manifest *image = &check_context(run)->image;
	char *path CLEANUP_FREE = text_format(IMAGES_PROGRAM_DIRECTORY "/%s", probe);
	char *what CLEANUP_FREE = text_format("%s: running program", label);
	const struct image_manifest_file *file =
		path != NULL ? image_manifest_find(image, path) : NULL;

	if (what == NULL || file == NULL) {
		check_broken(run, "%s: the content of the image is not known", label);
		return false;
	}
	return check_expect(run, strcmp(view->exe_digest, file->digest) == 0, what,
			    "the image's own, by digest", "%s, %s", view->exe, view->exe_digest);
}

static bool authenticity_expect_files(struct check_run *run, const char *label,
				      const struct container_view *view)
{
	struct text_list differences CLEANUP_TEXT_LIST = {0};
	char *what CLEANUP_FREE = text_format("%s: the image's programs and libraries", label);
	struct error err = {0};

	if (what == NULL ||
	    container_compare(view, &check_context(run)->image, &differences, &err) < 0) {
		check_broken(run, "%s: %s", label, err.text);
		return false;
	}
	for (size_t i = 0; i < differences.count && i < DIFFERENCES_TOLD; i++)
		(void)check_expect(run, false, what, "in their places", "%s", differences.items[i]);
	return differences.count == 0;
}

/* Of the program as it was started: the answer's, the image's and those of hooks and CDI edits. */
static bool authenticity_expect_variables(struct check_run *run, const char *label,
					  const struct container_view *view)
{
	char *what CLEANUP_FREE = text_format("%s: environment of the program", label);
	bool held = true;

	for (size_t i = 0; held && i < view->environment.count; i++) {
		const char *variable = view->environment.items[i];
		const char *reason = tamper_variable(variable);

		held = reason == NULL;
		if (!held)
			(void)check_expect(run, false, what != NULL ? what : label,
					   "leaves the probe untouched", "variable %.*s %s",
					   (int)strcspn(variable, "="), variable, reason);
	}
	return held;
}

/* Of the answer's mounts as they came to lie. */
static bool authenticity_expect_mounts(struct check_run *run, const char *label,
				       const struct grant *grant, const struct container_view *view)
{
	struct text_list found CLEANUP_TEXT_LIST = {0};
	char *what CLEANUP_FREE = text_format("%s: the answer in the container", label);
	struct error err = {0};

	if (what == NULL ||
	    tamper_find_seen(grant, &check_context(run)->image, view, &found, &err) < 0) {
		check_broken(run, "%s: %s", label, err.text);
		return false;
	}
	for (size_t i = 0; i < found.count && i < DIFFERENCES_TOLD; i++)
		(void)check_expect(run, false, what, "leaves the probe untouched", "%s",
				   found.items[i]);
	return found.count == 0;
}

bool authenticity_expect(struct check_run *run, const char *label, const char *probe,
			 const struct grant *grant, int64_t pid, struct container_view *view)
{
	struct error err = {0};
	int rc = container_inspect(pid, view, &err);

	/* It was killed meanwhile: launch_wait() knows how. */
	if (rc == ERROR_NOT_FOUND)
		return true;
	if (rc == ERROR_UNSUPPORTED) {
		check_unsupported(run, "%s: that the image's own probe runs is not proven: %s",
				  label, err.text);
		return true;
	}
	if (rc < 0) {
		check_broken(run, "%s: %s", label, err.text);
		return false;
	}
	return authenticity_expect_variables(run, label, view) &&
	       authenticity_expect_program(run, label, probe, view) &&
	       authenticity_expect_files(run, label, view) &&
	       authenticity_expect_mounts(run, label, grant, view);
}
