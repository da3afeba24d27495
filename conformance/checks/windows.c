/* SPDX-License-Identifier: MIT */
/* Device strings: what a plugin on a Windows node must hand out for containerd and HCS to take it.
 */
#include "conformance/checks/windows.h"

#include "base/windows_device.h"
#include "conformance/checks/granted.h"
#include "conformance/checks/suites.h"
#include "rpc/rpc.h"

#include <string.h>
#include <strings.h>

void windows_each_answer(struct check_run *run,
			 void (*judge)(struct rig *rig, const char *id,
				       const V1beta1__ContainerAllocateResponse *response,
				       void *user),
			 void *user)
{
	struct rig *rig = rig_ready(run);

	for (size_t i = 0; rig != NULL && i < rig->resources.count; i++) {
		struct text_list ids CLEANUP_TEXT_LIST = {0};

		if (!rig_healthy_ids(rig, rig->resources.items[i], &ids))
			return;
		for (size_t j = 0; j < ids.count && j < ALLOCATE_TOGETHER_MAX; j++) {
			struct kubelet_reply reply = {0};
			const V1beta1__ContainerAllocateResponse *response = allocate_expect(
				rig, rig->resources.items[i], (const char *const *)&ids.items[j], 1,
				ids.items[j], &reply);

			if (response != NULL)
				judge(rig, ids.items[j], response, user);
			kubelet_reply_free(&reply);
		}
	}
}

static void empty_fields(struct rig *rig, const char *id,
			 const V1beta1__ContainerAllocateResponse *response, void *user)
{
	(void)user;
	(void)check_expect(rig->run, response->n_devices != 0, id, "a device string", "%zu",
			   response->n_devices);
	for (size_t i = 0; i < response->n_devices; i++) {
		(void)check_expect_text(rig->run, "devices[].container_path",
					response->devices[i]->container_path, "");
		(void)check_expect_text(rig->run, "devices[].permissions",
					response->devices[i]->permissions, "");
	}
}

static void windows_empty_fields(struct check_run *run)
{
	windows_each_answer(run, empty_fields, NULL);
}

static void string_form(struct rig *rig, const char *id,
			const V1beta1__ContainerAllocateResponse *response, void *user)
{
	(void)user;
	(void)check_expect(rig->run, response->n_devices != 0, id, "a device string", "%zu",
			   response->n_devices);
	for (size_t i = 0; i < response->n_devices; i++) {
		struct windows_device string = {0};
		struct error err = {0};

		(void)check_expect_ok(
			rig->run,
			windows_device_parse(response->devices[i]->host_path, &string, &err),
			"devices[].host_path", &err);
	}
}

static void windows_string_form(struct check_run *run)
{
	windows_each_answer(run, string_form, NULL);
}

static void isolation_type(struct rig *rig, const char *id,
			   const V1beta1__ContainerAllocateResponse *response, void *user)
{
	(void)user;
	(void)check_expect(rig->run, response->n_devices != 0, id, "a device string", "%zu",
			   response->n_devices);
	for (size_t i = 0; i < response->n_devices; i++) {
		const char *host_path = response->devices[i]->host_path;
		struct windows_device string = {0};
		bool taken = windows_device_parse(host_path, &string, NULL) == 0 &&
			     string.type != WINDOWS_DEVICE_OTHER;

		(void)check_expect(rig->run, taken, "devices[].host_path",
				   "class, vpci-class-guid or vpci-location-path", "%s", host_path);
	}
}

static void windows_isolation_type(struct check_run *run)
{
	windows_each_answer(run, isolation_type, NULL);
}

/* How many device strings of the type the answers held, and the check of each. */
struct windows_typed {
	enum windows_device_type type;
	void (*judge)(struct rig *rig, const char *host_path, const struct windows_device *string);
	size_t count;
};

static void windows_judge_typed(struct rig *rig, const char *id,
				const V1beta1__ContainerAllocateResponse *response, void *user)
{
	struct windows_typed *typed = user;

	(void)id;
	for (size_t i = 0; i < response->n_devices; i++) {
		struct windows_device string = {0};

		if (windows_device_parse(response->devices[i]->host_path, &string, NULL) < 0 ||
		    string.type != typed->type)
			continue;
		typed->count++;
		typed->judge(rig, response->devices[i]->host_path, &string);
	}
}

static void windows_each_typed(struct check_run *run, struct windows_typed *typed, const char *name)
{
	windows_each_answer(run, windows_judge_typed, typed);
	if (typed->count == 0)
		check_not_applicable(run, "the plugin hands out no %s", name);
}

static void class_is_display(struct rig *rig, const char *host_path,
			     const struct windows_device *string)
{
	(void)check_expect(rig->run, strcasecmp(string->id, WINDOWS_DISPLAY_CLASS) == 0,
			   "devices[].host_path", "class " WINDOWS_DISPLAY_CLASS, "%s", host_path);
}

static void windows_class_guid(struct check_run *run)
{
	struct windows_typed typed = {.type = WINDOWS_DEVICE_CLASS, .judge = class_is_display};

	windows_each_typed(run, &typed, "device class");
}

static void location_is_present(struct rig *rig, const char *host_path,
				const struct windows_device *string)
{
	const struct discovery_snapshot *node = rig->context->node;
	bool present = false;

	(void)string;
	for (size_t i = 0; i < node->device_count; i++)
		present = present || granted_by_string(host_path, &node->devices[i]);
	(void)check_expect(rig->run, present, "devices[].host_path",
			   "the location path of a device of the node", "%s", host_path);
}

static void windows_location_path(struct check_run *run)
{
	struct windows_typed typed = {.type = WINDOWS_DEVICE_LOCATION_PATH,
				      .judge = location_is_present};

	windows_each_typed(run, &typed, "location path");
}

static void strings_differ(struct rig *rig, const char *id,
			   const V1beta1__ContainerAllocateResponse *response, void *user)
{
	(void)user;
	(void)check_expect(rig->run, response->n_devices != 0, id, "a device string", "%zu",
			   response->n_devices);
	for (size_t i = 0; i < response->n_devices; i++) {
		for (size_t j = 0; j < i; j++)
			(void)check_expect(rig->run,
					   strcmp(response->devices[i]->host_path,
						  response->devices[j]->host_path) != 0,
					   "devices[].host_path", "sent once", "%s",
					   response->devices[i]->host_path);
	}
}

static void windows_strings_differ(struct check_run *run)
{
	windows_each_answer(run, strings_differ, NULL);
}

static void no_cdi(struct rig *rig, const char *id,
		   const V1beta1__ContainerAllocateResponse *response, void *user)
{
	(void)user;
	(void)check_expect(rig->run, response->n_cdi_devices == 0, id, "no CDI devices", "%zu",
			   response->n_cdi_devices);
}

static void windows_no_cdi(struct check_run *run)
{
	windows_each_answer(run, no_cdi, NULL);
}

static void no_topology(struct rig *rig, const char *resource, const struct text_list *ids)
{
	const struct kubelet_device_list *list = kubelet_resource_devices(rig->kubelet, resource);

	(void)ids;
	for (size_t i = 0; list != NULL && i < list->count; i++)
		(void)check_expect(rig->run, list->items[i].numa_count == 0, list->items[i].id,
				   "no NUMA nodes", "%zu", list->items[i].numa_count);
}

static void windows_no_topology(struct check_run *run)
{
	allocate_each(run, no_topology);
}

/* A container that asks for two devices gets both, or is told that it cannot have them. */
static void whole_answer(struct rig *rig, const char *resource, const struct text_list *ids)
{
	size_t count = ids->count < ALLOCATE_TOGETHER_MAX ? ids->count : ALLOCATE_TOGETHER_MAX;
	const V1beta1__AllocateResponse *response = NULL;
	struct kubelet_reply reply = {0};

	if (allocate_call(rig, resource, (const char *const *)ids->items, count, &reply,
			  &response)) {
		size_t strings = response != NULL && response->n_container_responses != 0
					 ? response->container_responses[0]->n_devices
					 : 0;

		(void)check_expect(rig->run, strings <= 1,
				   "device strings for all devices in one container",
				   "one, or a refusal", "%zu", strings);
		if (response == NULL)
			(void)check_expect(rig->run, reply.message[0] != '\0',
					   "the refusal of several devices", "a message", "%s",
					   rpc_code_name(reply.code));
	}
	kubelet_reply_free(&reply);
}

static void windows_whole_answer(struct check_run *run)
{
	allocate_each(run, whole_answer);
}

#define WINDOWS_CHECK(name, body)                                                                  \
	.id = "windows." name, .revision = 1, .timeout_s = 90, .run = (body),                      \
	.needs = {.devices = 1, .os = "windows"}, .stands_on = "allocate.one-response"

static const struct check checks[] = {
	{
		WINDOWS_CHECK("empty-fields", windows_empty_fields),
		.title = "Device specs have neither container path nor permissions",
		.advice = "Leave container_path and permissions empty: containerd on Windows "
			  "refuses the container otherwise.",
		.requirement = CHECK_WIN_01,
		.severity = CHECK_CRITICAL,
	},
	{
		WINDOWS_CHECK("string-form", windows_string_form),
		.title = "Host paths of devices have the form IDType://ID or class/GUID",
		.advice = "Write vpci-location-path://PCIROOT(0)#PCI(0100), never with a single "
			  "slash, and hand out no device whose location path is empty.",
		.requirement = CHECK_WIN_02,
		.severity = CHECK_CRITICAL,
	},
	{
		WINDOWS_CHECK("isolation-type", windows_isolation_type),
		.title = "Device strings are of a type that process isolation takes",
		.advice = "Use vpci-location-path or class: HCS assigns the other types to virtual "
			  "machines only.",
		.requirement = CHECK_WIN_03,
		.severity = CHECK_CRITICAL,
	},
	{
		WINDOWS_CHECK("class-guid", windows_class_guid),
		.title = "A device class is that of display adapters",
		.advice = "DirectX devices are those of class " WINDOWS_DISPLAY_CLASS ".",
		.requirement = CHECK_WIN_04,
		.severity = CHECK_HIGH,
	},
	{
		WINDOWS_CHECK("location-path", windows_location_path),
		.title = "A location path is that of a device which is present",
		.advice = "Hand out the location path as the system spells it, without change, and "
			  "look for devices again when one comes or goes.",
		.requirement = CHECK_WIN_05,
		.severity = CHECK_HIGH,
	},
	{
		WINDOWS_CHECK("whole-answer", windows_whole_answer),
		.title = "No container gets fewer devices than the answer holds",
		.advice = "Refuse an Allocate across several devices with a clear message: of "
			  "several device specs kubelets up to 1.36 hand only the first on.",
		.requirement = CHECK_WIN_06,
		.severity = CHECK_HIGH,
	},
	{
		WINDOWS_CHECK("strings-differ", windows_strings_differ),
		.title = "No device string is sent twice in an answer",
		.advice = "Merge the device specs of replicas of one device.",
		.requirement = CHECK_WIN_07,
		.severity = CHECK_LOW,
	},
	{
		WINDOWS_CHECK("no-cdi", windows_no_cdi),
		.title = "Answers hold no CDI devices",
		.advice = "Use device specs: kubelet and containerd drop CDI devices on Windows.",
		.requirement = CHECK_WIN_08,
		.severity = CHECK_MEDIUM,
	},
	{
		WINDOWS_CHECK("no-topology", windows_no_topology),
		.title = "Device lists name no NUMA nodes",
		.advice = "Send no topology: with a strict topology policy pods would be refused.",
		.requirement = CHECK_WIN_09,
		.severity = CHECK_LOW,
	},
	{
		WINDOWS_CHECK("mount-targets", windows_mount_targets),
		.title = "Mounts end at files in System32 or SysWOW64, each place once",
		.advice =
			"Mount driver files read-only, each under a bare file name; compare names "
			"without case, and report what lost.",
		.requirement = CHECK_WIN_10,
		.severity = CHECK_HIGH,
	},
	{
		WINDOWS_CHECK("mount-sources", windows_mount_sources),
		.title = "Mounts come from the driver store of a device that was asked for",
		.advice = "Refuse sources with '..', other drives, streams or shares in them: the "
			  "registry values and configuration they come from are not trusted.",
		.requirement = CHECK_WIN_10S,
		.severity = CHECK_HIGH,
	},
	{.id = NULL},
};

const struct check_suite suite_windows = {
	.name = "windows",
	.title = "Device strings and mounts on Windows",
	.checks = checks,
};
