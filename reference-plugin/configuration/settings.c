/* SPDX-License-Identifier: MIT */
#include "reference-plugin/configuration/setting.h"

#include <string.h>
#include <strings.h>

static const char *const truth[] = {"true", "false", NULL};
static const char *const resources[] = {"both", "display", "compute", NULL};
static const char *const policies[] = {"spread", "pack", NULL};
static const char *const allocations[] = {"location-path", "class", NULL};
static const char *const severals[] = {"refuse", "allow", NULL};
static const char *const log_levels[] = {"error", "warning", "info", "debug", NULL};
static const char *const log_formats[] = {"text", "json", NULL};

enum { SECOND = 1000, HOUR = 3600 * SECOND, DAY = 24 * HOUR };

#ifdef _WIN32
#define PLUGIN_DIR "\\var\\lib\\kubelet\\device-plugins" /* on the system drive */
#else
#define PLUGIN_DIR "/var/lib/kubelet/device-plugins"
#endif

#define MEMBER(name) .offset = offsetof(struct config, name)

const struct setting settings[CONFIG_SETTING_COUNT] = {
	{"resource", "resource", SETTING_CHOICE, MEMBER(resource), "both", "RESOURCE",
	 "Which resources to serve: display (devices that render), compute (devices that only "
	 "compute) or both.",
	 .choices = resources, .scope = SETTING_LINUX},
	{"resource-name", "resourceName", SETTING_TEXT, MEMBER(resource_name), "", "NAME",
	 "Name of the resource, instead of the program's own; where a program serves both, with "
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
	 .choices = truth, .directx_initial = "false"},
	{"vendor", "vendors", SETTING_LIST, MEMBER(vendors), "", "VENDOR",
	 "Offer devices of this vendor alone (name or PCI id)."},
	{"preferred-allocation", "preferredAllocation", SETTING_CHOICE,
	 MEMBER(preferred_allocation), "spread", "POLICY",
	 "Which of several free ids to prefer: spread over devices, or pack onto few.",
	 .choices = policies},
	{"allocation", "allocation", SETTING_CHOICE, MEMBER(allocation), "location-path", "WAY",
	 "How a container is given a device: location-path names the one device, class (for "
	 "containers of Windows Server 2019) gives all display adapters and names the one in "
	 "DIRECTX_GPU_Name, DIRECTX_GPU_PNPDeviceID and DIRECTX_GPU_DriverVersion.",
	 .choices = allocations, .scope = SETTING_DIRECTX},
	{"several-devices", "severalDevices", SETTING_CHOICE, MEMBER(several_devices), "refuse",
	 "POLICY",
	 "Whether one container may have several devices: a kubelet up to 1.36 passes only the "
	 "first on.",
	 .choices = severals, .scope = SETTING_DIRECTX},
	{"skip-runtime-mounts", "skipRuntimeMounts", SETTING_BOOL, MEMBER(skip_runtime_mounts),
	 "false", "BOOL", "Mount no driver files: the device alone is given.", .choices = truth,
	 .scope = SETTING_DIRECTX},
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
	{"plugin-dir", "pluginDir", SETTING_TEXT, MEMBER(plugin_dir), PLUGIN_DIR, "DIR",
	 "Directory for the plugin's sockets."},
	{"kubelet-socket", "kubeletSocket", SETTING_TEXT, MEMBER(kubelet_socket), "", "FILE",
	 "The kubelet's socket, instead of kubelet.sock in the plugin directory."},
	{"node", "node", SETTING_TEXT, MEMBER(node), "", "FILE",
	 "Offer the devices of this recorded node instead of this machine's."},
	{"root", "root", SETTING_TEXT, MEMBER(root), "", "DIR",
	 "Look for devices and drivers below this directory.", .scope = SETTING_LINUX},
	{"sysfs", "sysfs", SETTING_TEXT, MEMBER(sysfs), "", "DIR", "Directory to use as /sys.",
	 .scope = SETTING_LINUX},
	{"proc", "proc", SETTING_TEXT, MEMBER(proc), "", "DIR", "Directory to use as /proc.",
	 .scope = SETTING_LINUX},
	{"dev", "dev", SETTING_TEXT, MEMBER(dev), "", "DIR", "Directory to use as /dev.",
	 .scope = SETTING_LINUX},
	{"vulkan-icd-dir", "vulkanIcdDirs", SETTING_LIST, MEMBER(vulkan_icd_dirs), "", "DIR",
	 "Directory with manifests of Vulkan drivers, instead of the loader's.",
	 .scope = SETTING_LINUX},
	{"opencl-vendors", "openclVendors", SETTING_TEXT, MEMBER(opencl_vendors), "", "DIR",
	 "Directory with manifests of OpenCL drivers, instead of /etc/OpenCL/vendors.",
	 .scope = SETTING_LINUX},
	{"log-level", "logLevel", SETTING_CHOICE, MEMBER(log_level), "info", "LEVEL",
	 "Least urgent level to log.", .choices = log_levels},
	{"log-format", "logFormat", SETTING_CHOICE, MEMBER(log_format), "text", "FORMAT",
	 "How to log: lines of text or of JSON.", .choices = log_formats},
	{"log-file", "logFile", SETTING_TEXT, MEMBER(log_file), "", "FILE",
	 "Append the log to this file, instead of writing it to standard error."},
};

bool setting_is_for(const struct setting *setting, const struct config_program *program)
{
	return setting->scope == SETTING_ANY ||
	       (setting->scope == SETTING_DIRECTX) == program->directx;
}

const char *setting_initial(const struct setting *setting, const struct config_program *program)
{
	return program->directx && setting->directx_initial[0] != '\0' ? setting->directx_initial
								       : setting->initial;
}

static struct option_spec option_of(const struct setting *setting, const char **value,
				    struct text_list *values)
{
	bool list = setting->type == SETTING_LIST;
	bool choice = setting->type == SETTING_BOOL || setting->type == SETTING_CHOICE;

	return (struct option_spec){
		.name = setting->option,
		.type = list ? OPTION_LIST : (choice ? OPTION_CHOICE : OPTION_STRING),
		.target = list ? (void *)values : (void *)value,
		.value = setting->value,
		.help = setting->help,
		.choices = setting->choices,
	};
}

void setting_options(const struct config_program *program, struct config_options *options,
		     struct option_spec rows[CONFIG_SETTING_COUNT])
{
	for (size_t i = 0; i < CONFIG_SETTING_COUNT; i++) {
		const struct setting *setting = &settings[i];

		if (!setting_is_for(setting, program))
			continue;
		if (setting->type != SETTING_LIST)
			options->values[i] = setting_initial(setting, program);
		*rows++ = option_of(setting, &options->values[i], &options->lists[i]);
	}
}

const struct setting *setting_find(const struct config_program *program, const char *key)
{
	for (size_t i = 0; i < CONFIG_SETTING_COUNT; i++) {
		if (setting_is_for(&settings[i], program) && strcasecmp(settings[i].key, key) == 0)
			return &settings[i];
	}
	return NULL;
}
