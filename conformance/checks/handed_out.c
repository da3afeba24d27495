/* SPDX-License-Identifier: MIT */
#include "conformance/checks/handed_out.h"

#include "base/file.h"
#include "conformance/checks/node_cdi.h"
#include "conformance/checks/tally.h"

static void add_path(const char *path, bool present, struct text_list *paths)
{
	if (!present || file_exists(path))
		text_list_add(paths, path);
}

void handed_out_add_mounts(const V1beta1__ContainerAllocateResponse *answer, bool present,
			   struct text_list *paths)
{
	answer_each (mount, answer, mounts)
		add_path(mount->host_path, present, paths);
}

void handed_out_add(const struct rig *rig, const V1beta1__ContainerAllocateResponse *answer,
		    bool present, struct handed_out *out)
{
	struct cdi_registry registry = {0};
	handed_out_add_mounts(answer, present, &out->paths);
	answer_each (device, answer, devices)
		add_path(device->host_path, present, &out->paths);
	if (answer->n_cdi_devices > 0 && node_cdi_read(rig->context, &registry, NULL) == 0) {
		answer_each (cdi, answer, cdi_devices) {
			if (!present || cdi_registry_find(&registry, cdi->name) != NULL)
				text_list_add(&out->cdi, cdi->name);
		}
	}
	cdi_registry_free(&registry);
}

void handed_out_expect(struct rig *rig, const struct handed_out *out, const char *when)
{
	TALLY(files, rig->run, check_format(rig->run, "what the answer hands out, %s", when),
	      "present");
	text_each (path, &out->paths)
		tally_add(&files, file_exists(path), "%s is gone", path);
	struct cdi_registry registry = {0};
	if (out->cdi.count > 0 && node_cdi_read(rig->context, &registry, NULL) == 0) {
		text_each (name, &out->cdi)
			tally_add(&files, cdi_registry_find(&registry, name) != NULL,
				  "%s is in no CDI Spec any more", name);
	}
	cdi_registry_free(&registry);
}

void handed_out_free(struct handed_out *out)
{
	text_list_free(&out->paths);
	text_list_free(&out->cdi);
}
