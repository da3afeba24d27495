/* SPDX-License-Identifier: MIT */
#include "reference-plugin/configuration/settings.h"

#include "base/cleanup.h"
#include "base/memory.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

static const char *const truth[] = {"true", "false", NULL};
static const char *const resources[] = {"both", "display", "compute", NULL};
static const char *const policies[] = {"spread", "pack", NULL};
static const char *const allocations[] = {"location-path", "class", NULL};
static const char *const deliveries[] = {"direct", "cdi", NULL};
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

const struct setting settings[CONFIG_KEY_COUNT] = {
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
	 "false", "BOOL", "Offer integrated GPUs."},
	{"include-detachable", "includeDetachable", SETTING_BOOL, MEMBER(include_detachable),
	 "false", "BOOL", "Offer GPUs that can be unplugged."},
	{"include-software", "includeSoftware", SETTING_BOOL, MEMBER(include_software), "true",
	 "BOOL", "Offer software implementations of GPU APIs, such as lavapipe and PoCL.",
	 .directx_initial = "false"},
	{"vendor", "vendors", SETTING_LIST, MEMBER(vendors), "", "VENDOR",
	 "Offer only devices of this vendor (name or PCI id)."},
	{"api", "apis", SETTING_LIST, MEMBER(apis), "", "API",
	 "Offer only devices that offer this API (vulkan, opengl, opencl, cuda, ...): with "
	 "--resource-name, a resource for each API.",
	 .scope = SETTING_LINUX},
	{"preferred-allocation", "preferredAllocation", SETTING_CHOICE,
	 MEMBER(preferred_allocation), "spread", "POLICY",
	 "Which of several free ids to prefer: spread over devices, or pack onto few.",
	 .choices = policies},
	{"allocation", "allocation", SETTING_CHOICE, MEMBER(allocation), "location-path", "WAY",
	 "How a container gets a device: location-path names the one device, class (for "
	 "containers of Windows Server 2019) passes all display adapters and names the one in "
	 "DIRECTX_GPU_Name, DIRECTX_GPU_PNPDeviceID and DIRECTX_GPU_DriverVersion.",
	 .choices = allocations, .scope = SETTING_DIRECTX},
	{"delivery", "delivery", SETTING_CHOICE, MEMBER(delivery), "direct", "WAY",
	 "How a container gets devices: direct (device nodes, files and variables are in the "
	 "answer) or cdi (names of CDI devices, which the container runtime finds in the Spec that "
	 "gen-device-mounts --for cdi writes).",
	 .choices = deliveries, .scope = SETTING_LINUX},
	{"several-devices", "severalDevices", SETTING_CHOICE, MEMBER(several_devices), "refuse",
	 "POLICY",
	 "Whether one container may have several devices: a kubelet up to 1.36 passes only the "
	 "first on.",
	 .choices = severals, .scope = SETTING_DIRECTX},
	{"skip-runtime-mounts", "skipRuntimeMounts", SETTING_BOOL, MEMBER(skip_runtime_mounts),
	 "false", "BOOL", "Mount no driver files: give only the device.", .scope = SETTING_DIRECTX},
	{"poll-interval", "pollInterval", SETTING_DURATION, MEMBER(poll_interval_ms), "10s",
	 "DURATION",
	 "How often to check for new, removed and unhealthy devices, in addition to the system's events.",
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
	{"egl-vendor-dir", "eglVendorDirs", SETTING_LIST, MEMBER(egl_vendor_dirs), "", "DIR",
	 "Directory with manifests of EGL drivers, instead of the loader's.",
	 .scope = SETTING_LINUX},
	{"opencl-vendors", "openclVendors", SETTING_TEXT, MEMBER(opencl_vendors), "", "DIR",
	 "Directory with manifests of OpenCL drivers, instead of /etc/OpenCL/vendors.",
	 .scope = SETTING_LINUX},
	{"metrics-address", "metricsAddress", SETTING_TEXT, MEMBER(metrics_address), "", "ADDRESS",
	 "Serve metrics for Prometheus and health (/metrics, /healthz, /readyz, /livez) at "
	 "127.0.0.1:PORT, [::1]:PORT or unix:PATH."},
	{"log-level", "logLevel", SETTING_CHOICE, MEMBER(log_level), "info", "LEVEL",
	 "Least urgent level to log.", .choices = log_levels},
	{"log-format", "logFormat", SETTING_CHOICE, MEMBER(log_format), "text", "FORMAT",
	 "How to log: lines of text or of JSON.", .choices = log_formats},
	{"log-file", "logFile", SETTING_TEXT, MEMBER(log_file), "", "FILE",
	 "Append the log to this file, instead of writing it to standard error."},
	{NULL, "additionalMounts", SETTING_MOUNTS, .mounts = ADDITIONAL_MOUNT_LINUX,
	 .scope = SETTING_LINUX},
	{NULL, "additionalMounts", SETTING_MOUNTS, .mounts = ADDITIONAL_MOUNT_SYSTEM32,
	 .scope = SETTING_DIRECTX},
	{NULL, "additionalMountsWow64", SETTING_MOUNTS, .mounts = ADDITIONAL_MOUNT_SYSWOW64,
	 .scope = SETTING_DIRECTX},
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

void setting_options(const struct config_program *program, struct config_options *options,
		     struct option_spec rows[CONFIG_SETTING_COUNT])
{
	for (size_t i = 0; i < CONFIG_SETTING_COUNT; i++) {
		const struct setting *setting = &settings[i];
		bool list = setting->type == SETTING_LIST;
		const char *const *choices =
			setting->type == SETTING_BOOL ? truth : setting->choices;
		if (!setting_is_for(setting, program))
			continue;
		if (!list)
			options->values[i] = setting_initial(setting, program);
		*rows++ = (struct option_spec){
			.name = setting->option,
			.type = list ? OPTION_LIST
				     : (choices != NULL ? OPTION_CHOICE : OPTION_STRING),
			.target = list ? (void *)&options->lists[i] : (void *)&options->values[i],
			.value = setting->value,
			.help = setting->help,
			.choices = choices,
		};
	}
}

const struct setting *setting_find(const struct config_program *program, const char *key)
{
	for (size_t i = 0; i < CONFIG_KEY_COUNT; i++) {
		if (setting_is_for(&settings[i], program) && strcasecmp(settings[i].key, key) == 0)
			return &settings[i];
	}
	return NULL;
}

static void *member(const struct setting *setting, struct config *config)
{
	return (char *)config + setting->offset;
}

static int parse_duration(const struct setting *setting, const char *value, uint64_t *out,
			  struct error *err)
{
	enum { DIGITS_MAX = 12 };
	static const struct {
		const char *name;
		uint64_t ms;
	} units[] = {
		{"", SECOND}, {"ms", 1}, {"s", SECOND}, {"m", UINT64_C(60) * SECOND}, {"h", HOUR}};
	size_t digits = strspn(value, "0123456789");
	size_t unit = 0;
	while (unit < ARRAY_SIZE(units) && strcmp(units[unit].name, value + digits) != 0)
		unit++;
	if (digits == 0 || digits > DIGITS_MAX || unit == ARRAY_SIZE(units))
		return error_set(err, ERROR_FORMAT,
				 "'%s' is not a duration such as 500ms, 10s, 5m or 1h", value);
	uint64_t number = strtoull(value, NULL, 10) * units[unit].ms;
	if (number < setting->min || number > setting->max)
		return error_set(err, ERROR_LIMIT, "'%s' is not between %llu ms and %llu s", value,
				 (unsigned long long)setting->min,
				 (unsigned long long)setting->max / 1000);
	*out = number;
	return 0;
}

void setting_take_list(const struct setting *setting, struct text_list *values,
		       struct config *config)
{
	struct text_list *list = member(setting, config);
	text_list_free(list);
	*list = *values;
	*values = (struct text_list){0};
}

int setting_set(const struct setting *setting, const char *value, struct config *config,
		struct error *err)
{
	struct text_list values CLEANUP_TEXT_LIST = {0};
	struct text names CLEANUP_TEXT = {0};
	void *target = member(setting, config);
	long long number = 0;
	size_t choice = 0;
	int rc = 0;
	switch (setting->type) {
	case SETTING_BOOL:
		if (text_to_bool(value, "", target, NULL) < 0)
			rc = error_set(err, ERROR_FORMAT, "'%s' is neither true nor false", value);
		break;
	case SETTING_COUNT:
		rc = text_to_int64(value, "", (long long)setting->min, (long long)setting->max,
				   &number, NULL);
		if (rc < 0)
			rc = error_set(err, rc, "'%s' is not a whole number from %llu to %llu",
				       value, (unsigned long long)setting->min,
				       (unsigned long long)setting->max);
		else
			*(uint32_t *)target = (uint32_t)number;
		break;
	case SETTING_DURATION:
		rc = parse_duration(setting, value, target, err);
		break;
	case SETTING_TEXT:
		free(*(char **)target);
		*(char **)target = memory_copy(value);
		rc = *(char **)target != NULL ? 0 : error_memory(err);
		break;
	case SETTING_LIST:
		text_list_split(&values, value, ',');
		rc = text_list_check(&values, err);
		if (rc == 0)
			setting_take_list(setting, &values, config);
		break;
	case SETTING_CHOICE:
		choice = text_position(setting->choices, value);
		if (setting->choices[choice] != NULL) {
			*(int *)target = (int)choice;
			break;
		}
		text_add_joined(&names, ", ", setting->choices);
		rc = error_set(err, ERROR_FORMAT, "'%s' is not one of %s", value,
			       text_string(&names));
		break;
	case SETTING_MOUNTS:
		break;
	}
	return rc;
}

void setting_format(const struct setting *setting, const struct config *config, struct text *out)
{
	const void *value = (const char *)config + setting->offset;
	const struct text_list *list = value;
	unsigned long long ms = 0;
	switch (setting->type) {
	case SETTING_BOOL:
		text_add(out, *(const bool *)value ? "true" : "false");
		break;
	case SETTING_COUNT:
		text_addf(out, "%u", *(const uint32_t *)value);
		break;
	case SETTING_DURATION:
		ms = *(const uint64_t *)value;
		text_addf(out, ms % 1000 != 0 ? "%llums" : "%llus",
			  ms % 1000 != 0 ? ms : ms / 1000);
		break;
	case SETTING_TEXT:
		text_add(out, *(const char *const *)value);
		break;
	case SETTING_LIST:
		text_add_joined(out, ",", (const char *const *)list->items);
		break;
	case SETTING_CHOICE:
		text_add(out, setting->choices[*(const int *)value]);
		break;
	case SETTING_MOUNTS:
		break;
	}
}

void setting_add_variable(const struct setting *setting, const char *prefix, struct text *out)
{
	text_add(out, prefix);
	for (const char *at = setting->option; *at != '\0'; at++)
		text_addf(out, "%c", *at == '-' ? '_' : toupper((unsigned char)*at));
}
