/* SPDX-License-Identifier: MIT */
/* The answers that containerd and HCS on a Windows node accept: device strings, and mounts from and to
 * the right places. */
#include "base/windows_device.h"
#include "base/windows_path.h"
#include "conformance/checks/allocate.h"
#include "conformance/checks/granted.h"
#include "conformance/checks/suites.h"

#include <string.h>
#include <strings.h>

static void judge_answers(struct rig *rig, const struct rig_item *item)
{
	allocate_for_each(rig, item, check_row(rig->run)->judge);
}

/* A body: the row's judge for the answer for each id. A row with a param, the reason why it may not
 * apply, counts its judgements. */
static void each_answer(struct check_run *run)
{
	const char *none = check_row(run)->param;
	struct rig *rig = rig_ready(run);
	size_t seen = 0;
	if (rig == NULL)
		return;
	(void)rig_for_each(rig, judge_answers, &seen);
	if (seen == 0 && none != NULL)
		check_not_applicable(run, "%s", none);
}

/* An answer without a device string is recorded. */
static void expect_strings(struct rig *rig, const struct rig_item *item)
{
	(void)check_expect(rig->run, item->answer->n_devices != 0, item->id, "a device string",
			   "%zu", item->answer->n_devices);
}

static void empty_fields(struct rig *rig, const struct rig_item *item)
{
	expect_strings(rig, item);
	answer_each (device, item->answer, devices) {
		(void)check_expect_text(rig->run, "devices[].container_path",
					device->container_path, "");
		(void)check_expect_text(rig->run, "devices[].permissions", device->permissions, "");
	}
}

static void string_form(struct rig *rig, const struct rig_item *item)
{
	expect_strings(rig, item);
	answer_each (device, item->answer, devices) {
		struct windows_device string = {0};
		struct error err = {0};
		(void)check_expect_ok(rig->run,
				      windows_device_parse(device->host_path, &string, &err),
				      "devices[].host_path", &err);
	}
}

static bool is_of_type(const V1beta1__DeviceSpec *device, enum windows_device_type type,
		       struct windows_device *string)
{
	return windows_device_parse(device->host_path, string, NULL) == 0 && string->type == type;
}

static void isolation_type(struct rig *rig, const struct rig_item *item)
{
	expect_strings(rig, item);
	answer_each (device, item->answer, devices) {
		struct windows_device string = {0};
		bool accepted = is_of_type(device, WINDOWS_DEVICE_CLASS, &string) ||
				is_of_type(device, WINDOWS_DEVICE_LOCATION_PATH, &string);
		(void)check_expect(rig->run, accepted, "devices[].host_path",
				   "class, vpci-class-guid or vpci-location-path", "%s",
				   device->host_path);
	}
}

static void class_is_display(struct rig *rig, const struct rig_item *item)
{
	size_t *seen = item->user;
	answer_each (device, item->answer, devices) {
		struct windows_device string = {0};
		if (!is_of_type(device, WINDOWS_DEVICE_CLASS, &string))
			continue;
		++*seen;
		(void)check_expect(rig->run, strcasecmp(string.id, WINDOWS_DISPLAY_CLASS) == 0,
				   "devices[].host_path", "class " WINDOWS_DISPLAY_CLASS, "%s",
				   device->host_path);
	}
}

static void location_is_present(struct rig *rig, const struct rig_item *item)
{
	size_t *seen = item->user;
	answer_each (device, item->answer, devices) {
		struct windows_device string = {0};
		bool present = false;
		if (!is_of_type(device, WINDOWS_DEVICE_LOCATION_PATH, &string))
			continue;
		++*seen;
		node_each (other, rig->context->node)
			present = present || granted_by_string(device->host_path, other);
		(void)check_expect(rig->run, present, "devices[].host_path",
				   "the location path of a device of the node", "%s",
				   device->host_path);
	}
}

static void strings_differ(struct rig *rig, const struct rig_item *item)
{
	expect_strings(rig, item);
	for (size_t i = 0; i < item->answer->n_devices; i++) {
		const char *host_path = item->answer->devices[i]->host_path;
		for (size_t j = 0; j < i; j++)
			(void)check_expect(rig->run,
					   strcmp(host_path, item->answer->devices[j]->host_path) !=
						   0,
					   "devices[].host_path", "sent once", "%s", host_path);
	}
}

static void no_cdi(struct rig *rig, const struct rig_item *item)
{
	(void)check_expect(rig->run, item->answer->n_cdi_devices == 0, item->id, "no CDI devices",
			   "%zu", item->answer->n_cdi_devices);
}

static void no_topology(struct rig *rig, const struct rig_item *item)
{
	const struct kubelet_device_list *list =
		kubelet_resource_devices(rig->kubelet, item->resource);
	listed_each (device, list)
		(void)check_expect(rig->run, device->numa_count == 0, device->id, "no NUMA nodes",
				   "%zu", device->numa_count);
}

/* A container that asks for two devices gets both, or a refusal. */
static void whole_answer(struct rig *rig, const struct rig_item *item)
{
	struct rpc_answer reply CLEANUP_RPC_ANSWER = {0};
	const V1beta1__ContainerAllocateResponse *response = allocate_together(rig, item, &reply);
	size_t strings = response != NULL ? response->n_devices : 0;
	(void)check_expect(rig->run, strings <= 1,
			   "device strings for all devices in one container", "one, or a refusal",
			   "%zu", strings);
}

static void mount_targets(struct rig *rig, const struct rig_item *item)
{
	size_t *seen = item->user;
	*seen += item->answer->n_mounts;
	for (size_t i = 0; i < item->answer->n_mounts; i++) {
		const V1beta1__Mount *mount = item->answer->mounts[i];
		const char *target = mount->container_path;
		bool again = false;
		(void)check_expect(rig->run,
				   windows_path_is_in(target, WINDOWS_SYSTEM32) ||
					   windows_path_is_in(target, WINDOWS_SYSWOW64),
				   "mounts[].container_path", "a file in System32 or SysWOW64",
				   "%s", target);
		(void)check_expect(rig->run, mount->read_only, "mounts[].read_only", "true",
				   "%s: %s", target, mount->read_only ? "true" : "false");
		for (size_t j = 0; j < i; j++)
			again = again ||
				strcasecmp(item->answer->mounts[j]->container_path, target) == 0;
		(void)check_expect(rig->run, !again, "mounts[].container_path",
				   "used once, whatever the case", "%s", target);
	}
}

/* Is the path in the driver store folder of a device that the answer grants? Where that folder is unknown,
 * any path is. */
static bool is_source(const struct rig *rig, const struct rig_item *item, const char *path)
{
	const V1beta1__ContainerAllocateResponse *answer = item->answer;
	node_each (device, rig->context->node) {
		const char *store = device->driver_store_path;
		if (store[0] != '\0' && !windows_path_is_within(path, store))
			continue;
		answer_each (spec, answer, devices) {
			if (granted_by_string(spec->host_path, device))
				return true;
		}
	}
	return false;
}

static void mount_sources(struct rig *rig, const struct rig_item *item)
{
	size_t *seen = item->user;
	*seen += item->answer->n_mounts;
	answer_each (mount, item->answer, mounts) {
		const char *source = mount->host_path;
		(void)check_expect(
			rig->run, windows_path_is_absolute(source) && is_source(rig, item, source),
			"mounts[].host_path", "a file below the driver store folder of the device",
			"%s", source);
	}
}

#define WINDOWS(name, rule, severity, body, judging, ...)                                          \
	CHECK("windows." name, rule, severity, 1, body, .timeout_s = 90,                           \
	      .needs = {.devices = 1, .os = "windows"}, .depends_on = "allocate.one-response",     \
	      .judge = (judging), __VA_ARGS__)

const struct check windows_checks[] = {
	WINDOWS("empty-fields", WIN_01, CRITICAL, each_answer, empty_fields,
		.title = "Device specs have neither container path nor permissions",
		.advice = "Leave container_path and permissions empty: containerd on Windows "
			  "refuses the container otherwise."),
	WINDOWS("string-form", WIN_02, CRITICAL, each_answer, string_form,
		.title = "Host paths have the form IDType://ID or class/GUID",
		.advice = "Write vpci-location-path://PCIROOT(0)#PCI(0100), never with a single "
			  "slash, and hand out no device whose location path is empty."),
	WINDOWS("isolation-type", WIN_03, CRITICAL, each_answer, isolation_type,
		.title = "Device strings have a type that process isolation accepts",
		.advice = "Use vpci-location-path or class: HCS assigns the other types to virtual "
			  "machines only."),
	WINDOWS("class-guid", WIN_04, HIGH, each_answer, class_is_display,
		.param = "the plugin hands out no device class",
		.title = "A device class is the class of display adapters",
		.advice = "DirectX devices are those of class " WINDOWS_DISPLAY_CLASS "."),
	WINDOWS("location-path", WIN_05, HIGH, each_answer, location_is_present,
		.param = "the plugin hands out no location path",
		.title = "A location path belongs to a present device",
		.advice = "Send the location path exactly as the system spells it, and enumerate "
			  "devices again when one appears or disappears."),
	WINDOWS("whole-answer", WIN_06, HIGH, rig_each_resource, whole_answer,
		.title = "No container gets fewer devices than the answer holds",
		.advice =
			"Refuse an Allocate across several devices with a clear message: kubelets "
			"up to 1.36 pass on only the first of several device specs."),
	WINDOWS("strings-differ", WIN_07, LOW, each_answer, strings_differ,
		.title = "No device string is sent twice in an answer",
		.advice = "Merge the device specs of replicas of one device."),
	WINDOWS("no-cdi", WIN_08, MEDIUM, each_answer, no_cdi,
		.title = "Answers hold no CDI devices",
		.advice = "Use device specs: kubelet and containerd drop CDI devices on Windows."),
	WINDOWS("no-topology", WIN_09, LOW, rig_each_resource, no_topology,
		.title = "Device lists name no NUMA nodes",
		.advice = "Send no topology: with a strict topology policy pods would be refused."),
	WINDOWS("mount-targets", WIN_10, HIGH, each_answer, mount_targets,
		.param = "the answers hold no mounts",
		.title = "Mounts end at different files in System32 or SysWOW64",
		.advice =
			"Mount driver files read-only, each under a bare file name; compare names "
			"without case, and log the file that was left out."),
	WINDOWS("mount-sources", WIN_10S, HIGH, each_answer, mount_sources,
		.param = "the answers hold no mounts",
		.title = "Mounts come from the driver store of a requested device",
		.advice = "Refuse sources with '..', other drives, streams or shares: registry "
			  "values and configuration are not trusted."),
	{.id = NULL},
};
