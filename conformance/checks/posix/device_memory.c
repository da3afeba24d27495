/* SPDX-License-Identifier: MIT */
/* A limit on the memory of a device, by the controller "dmem": set on the run's own control group, observed
 * while a container works, and reached by one that needs more. */
#include "conformance/checks/device_memory.h"

#include "base/file.h"
#include "base/os_version.h"
#include "base/path.h"
#include "conformance/checks/isolation.h"
#include "conformance/checks/suites.h"
#include "containers/inspect/dmem.h"
#include "reports/view.h"

#include <inttypes.h>
#include <string.h>

void device_memory_judge(struct check_run *run, const struct device_memory *seen)
{
	const char *what = check_format(run, "%s: %s", seen->label, seen->region);
	if (seen->used == 0) {
		check_unsupported(run,
				  "%s: nothing is charged to the group of a container that "
				  "works on it",
				  what);
		return;
	}
	(void)check_expect_varying(run, seen->used <= seen->capacity, what,
				   "no more than its capacity", "%" PRIu64 " of %" PRIu64 " bytes",
				   seen->used, seen->capacity);
	(void)check_expect_varying(run, seen->read == seen->set,
				   check_format(run, "%s: limit", what), "as it was set",
				   "%" PRIu64 ", set to %" PRIu64, seen->read, seen->set);
	(void)check_expect_varying(run, seen->used_within <= seen->set,
				   check_format(run, "%s: used under the limit", what),
				   "no more than the limit", "%" PRIu64 " of %" PRIu64 " bytes",
				   seen->used_within, seen->set);
	check_note(run, "%s: a container that needs more than its limit: %s", what, seen->end);
}

/* Reads the memory of a container in the middle of its work; *end describes the outcome of the work.
 * False: recorded. */
static bool use(struct tenant *tenant, const char *label, const char *group, const char *region,
		uint64_t *used, const char **end)
{
	const cJSON *document = NULL;
	struct error err = {0};
	struct probe *probe = tenant_start_paused_or_not(tenant, 0, label);
	if (probe == NULL)
		return false;
	bool paused = stage_wait_paused(tenant->stage, probe);
	int rc = dmem_read(group, "dmem.current", region, used, &err);
	if (paused)
		stage_resume(tenant->stage, probe);
	const struct launch_result *result = stage_end(tenant->stage, probe, false, &document);
	if (result == NULL || !check_works(tenant->run, rc, label, &err))
		return false;
	char how[512] = "";
	launch_describe(result, how, sizeof(how));
	*end = check_format(tenant->run, "%s %s",
			    document != NULL ? view_string(document, "/work/status") : how,
			    view_string(document, "/work/reason"));
	return true;
}

/* The second container may use half of what the first one used; without the limit the third works again. */
static void limit(struct tenant *tenant, const char *group, const struct dmem_region *region)
{
	struct device_memory seen = {
		.label = tenant->device->id,
		.region = region->name,
		.capacity = region->bytes,
	};
	struct error err = {0};
	const cJSON *document = NULL;
	if (!use(tenant, "without a limit", group, region->name, &seen.used, &seen.end))
		return;
	if (seen.used == 0) {
		device_memory_judge(tenant->run, &seen);
		return;
	}
	seen.set = seen.used / 2 & ~(uint64_t)0xffff; /* whole pages, of whatever size */
	int rc = dmem_limit(group, region->name, seen.set, &err);
	if (rc == 0)
		rc = dmem_read(group, "dmem.max", region->name, &seen.read, &err);
	bool went =
		check_works(tenant->run, rc, NULL, &err) &&
		use(tenant, "within its limit", group, region->name, &seen.used_within, &seen.end);
	rc = dmem_limit(group, region->name, DMEM_NO_LIMIT, &err);
	if (!check_works(tenant->run, rc, NULL, &err) || !went)
		return;
	device_memory_judge(tenant->run, &seen);
	document = tenant_run(tenant, "without it again", NULL);
	if (document != NULL)
		(void)tenant_expect_work(tenant, "after the limit", document);
}

/* Why nothing can be limited here; NULL: it can. No release of Linux has weights of the DRM scheduler
 * (an RFC of May 2025); a note reports whether this kernel has them. */
static const char *missing(struct check_run *run, const char *controllers)
{
	struct os_version version = {0};
	check_note(run, "weights of the DRM scheduler (drm.weight): the kernel has %s",
		   controllers != NULL && strstr(controllers, "drm") != NULL ? "them" : "none");
	(void)os_version_read(&version, NULL);
	if (controllers == NULL || strstr(controllers, "dmem") == NULL)
		return check_format(
			run,
			"Linux %s has no dmem cgroup controller here (it needs Linux 6.14, "
			"CONFIG_CGROUP_DMEM and control groups version 2)",
			version.kernel);
	return check_context(run)->cgroup_parent[0] == '\0'
		       ? "only the control group of a private containerd can be limited"
		       : NULL;
}

void isolation_device_memory(struct check_run *run)
{
	char *root CLEANUP_FREE = NULL;
	char *controllers CLEANUP_FREE = NULL;
	struct error err = {0};
	int rc = dmem_find_root(&root, &controllers, &err);
	const char *reason = missing(run, controllers);
	if (!check_works(run, rc, NULL, &err))
		return;
	if (reason != NULL) {
		check_unsupported(run, "memory of devices cannot be limited: %s", reason);
		return;
	}

	struct isolation isolation CLEANUP_ISOLATION = {0};
	struct dmem dmem = {0};
	char *text CLEANUP_FREE = NULL;
	char *path CLEANUP_FREE = path_join(root, "dmem.capacity");
	rc = file_read(path, DMEM_FILE_MAX, &text, NULL, &err);
	if (rc == 0)
		rc = dmem_parse(text, &dmem, &err);
	if (!check_works(run, rc, "dmem.capacity", &err) || !tenants_open(&isolation, run, false) ||
	    !stage_can_pause(isolation.stage))
		return;

	char *group CLEANUP_FREE = NULL;
	bool existed = false;
	rc = dmem_make_group(root, check_context(run)->cgroup_parent, &existed, &group, &err);
	if (check_works(run, rc, NULL, &err)) {
		items_each (tenant, isolation.tenants, isolation.count) {
			const struct dmem_region *region =
				dmem_find_device(&dmem, tenant->device->pci_address);
			if (region == NULL)
				check_unsupported(run, "%s: the driver reports no memory region",
						  tenant->device->id);
			else if (tenant_find_api(tenant, "fills") != NULL)
				limit(tenant, group, region);
		}
	}
	if (!existed)
		dmem_withdraw(root);
}
