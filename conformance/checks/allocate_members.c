/* SPDX-License-Identifier: MIT */
/* Names of variables, annotations and permissions of answers. */
#include "conformance/checks/allocate.h"
#include "conformance/checks/tally.h"
#include "containers/cdi/names.h"
#include "containers/grant/grant.h"
#include "rpc/message.h"

#include <string.h>

/* The limit of "NAME=VALUE" and its NUL: MAX_ARG_STRLEN of Linux, 32 pages. */
enum { VARIABLE_MAX = 131072, TOGETHER_MAX = 16 /* resources in one container */ };

static void judge_variables(struct rig *rig, const struct rig_item *item)
{
	struct tally *names = item->user;
	(void)rig;
	answer_each (env, item->answer, envs) {
		const char *name = env->key;
		const char *value = env->value;
		bool has_nul =
			strstr(name, MESSAGE_NUL) != NULL || strstr(value, MESSAGE_NUL) != NULL;
		const size_t size = strlen(name) + strlen(value) + 2;
		if (size > VARIABLE_MAX)
			tally_add(names, false, "'%s' has %zu bytes", name, size);
		else
			tally_add(names, name[0] != '\0' && strchr(name, '=') == NULL && !has_nul,
				  has_nul ? "'%s' has a NUL" : "'%s'", name);
	}
}

const struct allocate_rule allocate_variable_names = {
	"envs[]", "names that are not empty and have no '='; no NUL; at most 131072 bytes",
	"no answer has a variable", judge_variables};

static bool is_qualified(const char *name)
{
	const char *slash = strchr(name, '/');
	const char *equals = slash != NULL ? strchr(slash, '=') : NULL;
	return equals != NULL && cdi_is_kind_part(name, (size_t)(slash - name)) &&
	       cdi_is_kind_part(slash + 1, (size_t)(equals - slash - 1)) &&
	       cdi_is_device_name(equals + 1);
}

static void judge_cdi_names(struct rig *rig, const struct rig_item *item)
{
	const V1beta1__ContainerAllocateResponse *answer = item->answer;
	struct tally *names = item->user;
	(void)rig;
	answer_each (cdi, answer, cdi_devices)
		tally_add(names, is_qualified(cdi->name), "cdi_devices[]: '%s'", cdi->name);
	answer_each (annotation, answer, annotations) {
		const char *key = annotation->key;
		struct text_list values CLEANUP_TEXT_LIST = {0};
		if (!text_starts_with(key, GRANT_CDI_ANNOTATION))
			continue;
		text_list_split(&values, annotation->value, ',');
		tally_add(names, values.count != 0, "%s is empty", key);
		text_each (value, &values)
			tally_add(names, is_qualified(value), "%s: '%s'", key, value);
	}
}

const struct allocate_rule allocate_cdi_names = {"CDI devices", "vendor/class=name",
						 "no answer names a CDI device", judge_cdi_names};

static void judge_permissions(struct rig *rig, const struct rig_item *item)
{
	struct tally *permissions = item->user;
	(void)rig;
	answer_each (device, item->answer, devices) {
		const char *letters = device->permissions;
		tally_add(permissions,
			  strpbrk(letters, "rw") != NULL && letters[strspn(letters, "rwm")] == '\0',
			  "'%s' of %s", letters, device->host_path);
	}
}

const struct allocate_rule allocate_permissions = {
	"devices[].permissions", "r or w, or both, and perhaps m",
	"no answer hands out a device node", judge_permissions};

/* Of entries with the same key the kubelet keeps only the first, in random order of the resources. */
void allocate_across_resources(struct check_run *run)
{
	struct rig *rig = rig_ready(run);
	struct kubelet_limit limits[TOGETHER_MAX] = {0};
	struct grant grant CLEANUP_GRANT = {0};
	size_t count = 0;
	rig_each (resource, rig) {
		if (count == TOGETHER_MAX)
			break;
		limits[count] = (struct kubelet_limit){.resource = resource, .count = 1};
		count++;
	}
	if (rig == NULL)
		return;
	if (count < 2) {
		check_not_applicable(run, "the plugin offers one resource");
		return;
	}
	if (!rig_admit(rig, "together", limits, count, &grant))
		return;

	TALLY(entries, run, "entries of the answers for one container", "none dropped");
	array_each (list, grant.lists) {
		grant_each (entry, list)
			tally_add(&entries, true, "kept");
	}
	items_each (conflict, grant.conflicts, grant.conflict_count) {
		/* No plugin can keep device strings apart: windows.whole-answer says so. */
		if (rig_is_windows(rig) && conflict->kind == GRANT_DEVICE)
			continue;
		if (!text_equal(conflict->winner_resource, conflict->loser_resource))
			tally_add(&entries, conflict->same || conflict->dropped,
				  "%s: %s of %s, not %s of %s", conflict->key, conflict->winner,
				  conflict->winner_resource, conflict->loser,
				  conflict->loser_resource);
	}
	rig_release(rig, "together");
}
