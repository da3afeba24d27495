/* SPDX-License-Identifier: MIT */
#include "conformance/checks/node_cdi.h"

#include "base/file.h"
#include "base/path.h"

int node_cdi_read(const struct context *context, struct cdi_registry *out, struct error *err)
{
	struct text_list present CLEANUP_TEXT_LIST = {0};
	text_each (directory, &context->cdi_directories) {
		if (file_is_directory(directory))
			text_list_add(&present, directory);
	}
	return cdi_registry_read(&present, out, err);
}

int node_cdi_files(const struct context *context, struct text_list *paths, struct error *err)
{
	text_each (directory, &context->cdi_directories) {
		struct text_list names CLEANUP_TEXT_LIST = {0};
		int rc = file_is_directory(directory) ? file_list(directory, &names, err) : 0;
		if (rc < 0)
			return rc;
		text_each (name, &names)
			text_list_take(paths, path_join(directory, name));
	}
	return 0;
}

int node_cdi_apply(const struct context *context, const struct grant *grant, struct grant *out,
		   struct error *err)
{
	struct cdi_registry registry CLEANUP(cdi_registry_free) = {0};
	int rc = node_cdi_read(context, &registry, err);
	if (rc < 0)
		return error_wrap(err, rc, "CDI Specs");
	cdi_apply(&registry, grant, out);
	return 0;
}

bool node_cdi_is_edit(const struct grant_entry *entry, const struct text_list *names)
{
	return entry->resource != NULL &&
	       (path_is_absolute(entry->resource) || text_list_has(names, entry->resource));
}

void node_cdi_add_edits(const struct context *context, const struct grant *answer,
			struct grant *out)
{
	struct grant applied CLEANUP_GRANT = {0};
	struct text_list names CLEANUP_TEXT_LIST = {0};
	if (!grant_names_cdi(answer) || node_cdi_apply(context, answer, &applied, NULL) < 0)
		return;
	grant_list_cdi(answer, &names);
	for (enum grant_kind kind = GRANT_ENV; kind <= GRANT_DEVICE; kind++) {
		grant_each (entry, &applied.lists[kind]) {
			struct grant_entry edit = *entry;
			edit.resource = NULL;
			if (node_cdi_is_edit(entry, &names))
				grant_add(out, kind, &edit);
		}
	}
}
