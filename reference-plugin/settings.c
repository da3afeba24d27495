/* SPDX-License-Identifier: MIT */
#include "reference-plugin/setting.h"

#include <string.h>

static const char *const truth[] = {"true", "false", NULL};
static const char *const resources[] = {"both", "display", "compute", NULL};
static const char *const policies[] = {"spread", "pack", NULL};
static const char *const log_levels[] = {"error", "warning", "info", "debug", NULL};
static const char *const log_formats[] = {"text", "json", NULL};

enum { SECOND = 1000, HOUR = 3600 * SECOND, DAY = 24 * HOUR };

#define MEMBER(name) .offset = offsetof(struct config, name)

const struct setting settings[CONFIG_SETTING_COUNT] = {
	{"resource", "resource", SETTING_CHOICE, MEMBER(resource), "both", "RESOURCE",
	 "Which resources to serve: display (devices that render), compute (devices that only "
	 "compute) "
	 "or both.",
	 .choices = resources},
	{"resource-name", "resourceName", SETTING_TEXT, MEMBER(resource_name), "", "NAME",
	 "Name of the resource, instead of gpucert.internal/display or gpucert.internal/compute; "
	 "with "
	 "--resource display or compute."},
	{"multitenancy", "multitenancy", SETTING_COUNT, MEMBER(multitenancy), "1", "COUNT",
	 "How many containers may share a device: that many ids are listed for each.",
	 .max = 10000},
	{"include-integrated", "includeIntegrated", SETTING_BOOL, MEMBER(include_integrated),
	 "false", "BOOL", "Offer integrated GPUs.", .choices = truth},
	{"include-detachable", "includeDetachable", SETTING_BOOL, MEMBER(include_detachable),
	 "false", "BOOL", "Offer GPUs that can be unplugged.", .choices = truth},
	{"include-software", "includeSoftware", SETTING_BOOL, MEMBER(include_software), "true",
	 "BOOL", "Offer software implementations of GPU APIs, such as lavapipe and PoCL.",
	 .choices = truth},
	{"vendor", "vendors", SETTING_LIST, MEMBER(vendors), "", "VENDOR",
	 "Offer devices of this vendor alone (name or PCI id)."},
	{"preferred-allocation", "preferredAllocation", SETTING_CHOICE,
	 MEMBER(preferred_allocation), "spread", "POLICY",
	 "Which of several free ids to prefer: spread over devices, or pack onto few.",
	 .choices = policies},
	{"poll-interval", "pollInterval", SETTING_DURATION, MEMBER(poll_interval_ms), "10s",
	 "DURATION",
	 "How often to look for devices that came, went or fell ill, besides the system's events.",
	 .min = 100, .max = HOUR},
	{"removal-grace", "removalGrace", SETTING_DURATION, MEMBER(removal_grace_ms), "5m",
	 "DURATION",
	 "How long a device that is gone stays listed as unhealthy before it is removed.",
	 .max = DAY},
	{"register-timeout", "registerTimeout", SETTING_DURATION, MEMBER(register_timeout_ms),
	 "30s", "DURATION", "How long to wait for the kubelet's answer to a registration.",
	 .min = 100, .max = HOUR},
	{"plugin-dir", "pluginDir", SETTING_TEXT, MEMBER(plugin_dir),
	 "/var/lib/kubelet/device-plugins", "DIR", "Directory for the plugin's sockets."},
	{"kubelet-socket", "kubeletSocket", SETTING_TEXT, MEMBER(kubelet_socket), "", "FILE",
	 "The kubelet's socket, instead of kubelet.sock in the plugin directory."},
	{"node", "node", SETTING_TEXT, MEMBER(node), "", "FILE",
	 "Offer the devices of this recorded node instead of this machine's."},
	{"root", "root", SETTING_TEXT, MEMBER(root), "", "DIR",
	 "Look for devices and drivers below this directory."},
	{"sysfs", "sysfs", SETTING_TEXT, MEMBER(sysfs), "", "DIR", "Directory to use as /sys."},
	{"proc", "proc", SETTING_TEXT, MEMBER(proc), "", "DIR", "Directory to use as /proc."},
	{"dev", "dev", SETTING_TEXT, MEMBER(dev), "", "DIR", "Directory to use as /dev."},
	{"vulkan-icd-dir", "vulkanIcdDirs", SETTING_LIST, MEMBER(vulkan_icd_dirs), "", "DIR",
	 "Directory with manifests of Vulkan drivers, instead of the loader's."},
	{"opencl-vendors", "openclVendors", SETTING_TEXT, MEMBER(opencl_vendors), "", "DIR",
	 "Directory with manifests of OpenCL drivers, instead of /etc/OpenCL/vendors."},
	{"log-level", "logLevel", SETTING_CHOICE, MEMBER(log_level), "info", "LEVEL",
	 "Least urgent level to log.", .choices = log_levels},
	{"log-format", "logFormat", SETTING_CHOICE, MEMBER(log_format), "text", "FORMAT",
	 "How to log, to stderr: lines of text or of JSON.", .choices = log_formats},
};

void setting_options(struct config_options *options, struct option_spec rows[CONFIG_SETTING_COUNT])
{
	for (size_t i = 0; i < CONFIG_SETTING_COUNT; i++) {
		const struct setting *setting = &settings[i];
		bool list = setting->type == SETTING_LIST;
		bool choice = setting->type == SETTING_BOOL || setting->type == SETTING_CHOICE;

		options->values[i] = list ? NULL : setting->initial;
		rows[i] = (struct option_spec){
			.name = setting->option,
			.type = list ? OPTION_LIST : (choice ? OPTION_CHOICE : OPTION_STRING),
			.target = list ? (void *)&options->lists[i] : (void *)&options->values[i],
			.value = setting->value,
			.help = setting->help,
			.choices = setting->choices,
		};
	}
}

const struct setting *setting_find(const char *key)
{
	for (size_t i = 0; i < CONFIG_SETTING_COUNT; i++) {
		if (strcmp(settings[i].key, key) == 0)
			return &settings[i];
	}
	return NULL;
}
