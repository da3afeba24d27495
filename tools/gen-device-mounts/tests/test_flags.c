/* SPDX-License-Identifier: MIT */
/* An answer in the words of ctr, nerdctl, docker and crictl. */
#include "base/cleanup.h"
#include "base/json.h"
#include "base/tests/unit.h"
#include "rpc/message.h"
#include "tools/gen-device-mounts/container_flags.h"

/* An answer with one of each. */
struct sample {
	V1beta1__ContainerAllocateResponse message;
	V1beta1__DeviceSpec device;
	V1beta1__Mount mount;
	V1beta1__ContainerAllocateResponse__EnvsEntry variable;
	V1beta1__DeviceSpec *devices[1];
	V1beta1__Mount *mounts[1];
	V1beta1__ContainerAllocateResponse__EnvsEntry *variables[1];
};

static void sample_open(struct sample *sample, const char *device, const char *source,
			const char *destination)
{
	v1beta1__container_allocate_response__init(&sample->message);
	v1beta1__device_spec__init(&sample->device);
	v1beta1__mount__init(&sample->mount);
	v1beta1__container_allocate_response__envs_entry__init(&sample->variable);
	sample->device.host_path = wire_string(device);
	sample->mount.host_path = wire_string(source);
	sample->mount.container_path = wire_string(destination);
	sample->mount.read_only = 1;
	sample->variable.key = wire_string("A");
	sample->variable.value = wire_string("b c");
	sample->devices[0] = &sample->device;
	sample->mounts[0] = &sample->mount;
	sample->variables[0] = &sample->variable;
	sample->message.devices = sample->devices;
	sample->message.n_devices = 1;
	sample->message.mounts = sample->mounts;
	sample->message.n_mounts = 1;
	sample->message.envs = sample->variables;
	sample->message.n_envs = 1;
}

/* The flags, one a line, or the error. */
static char *flags_of(const struct sample *sample, enum container_tool tool, bool windows)
{
	struct text_list flags CLEANUP_TEXT_LIST = {0};
	struct text lines = {0};
	struct error err = {0};
	if (container_flags_add(&flags, tool, windows, &sample->message, &err) < 0)
		text_add(&lines, err.text);
	for (size_t i = 0; err.code == 0 && i < flags.count; i++)
		text_addf(&lines, "%s\n", flags.items[i]);
	return text_take(&lines);
}

static void expect(const struct sample *sample, enum container_tool tool, bool windows,
		   const char *wanted)
{
	char *seen CLEANUP_FREE = flags_of(sample, tool, windows);
	UNIT_STRING(seen, wanted);
}

#define LOCATION "vpci-location-path://PCIROOT(0)#PCI(1B00)"
#define CLASS	 "5B45201D-F2F2-4F3B-85BB-30FF1F953599"

static void test_windows(void)
{
	struct sample sample = {0};
	sample_open(&sample, LOCATION, "C:\\Store\\a.dll", "C:\\Windows\\System32\\b.dll");
	expect(&sample, TOOL_CTR, true,
	       "--device\n" LOCATION "\n"
	       "--mount\nsrc=C:\\Store\\a.dll,dst=C:\\Windows\\System32\\b.dll,options=ro\n"
	       "--env\nA=b c\n");
	expect(&sample, TOOL_NERDCTL, true,
	       "--isolation\nprocess\n--device\n" LOCATION "\n"
	       "--volume\nC:\\Store\\a.dll:C:\\Windows\\System32\\b.dll:ro\n--env\nA=b c\n");
	expect(&sample, TOOL_DOCKER, true,
	       "docker cannot assign '" LOCATION
	       "': it uses the first interface of the Host Compute Service, which knows only "
	       "classes of devices");
}

static void test_class(void)
{
	struct sample sample = {0};
	sample_open(&sample, "class/" CLASS, "C:\\Store\\a.dll", "C:\\Windows\\System32\\b.dll");
	expect(&sample, TOOL_DOCKER, true,
	       "--isolation\nprocess\n--device\nclass/" CLASS "\n--env\nA=b c\n");
	sample.message.n_mounts = 0;
	sample.message.n_envs = 0;
	expect(&sample, TOOL_CTR, true, "--device\nclass://" CLASS "\n");
	expect(&sample, TOOL_NERDCTL, true, "--isolation\nprocess\n--device\nclass://" CLASS "\n");
}

static void test_linux(void)
{
	struct sample sample = {0};
	sample_open(&sample, "/dev/dri/card0", "/usr/lib/a.so", "/usr/lib/b.so");
	sample.device.container_path = wire_string("/dev/dri/card0");
	sample.device.permissions = wire_string("rw");
	expect(&sample, TOOL_CTR, false,
	       "--device\n/dev/dri/card0\n"
	       "--mount\ntype=bind,src=/usr/lib/a.so,dst=/usr/lib/b.so,options=rbind:ro\n"
	       "--env\nA=b c\n");
	expect(&sample, TOOL_DOCKER, false,
	       "--device\n/dev/dri/card0:/dev/dri/card0:rw\n"
	       "--mount\ntype=bind,source=/usr/lib/a.so,target=/usr/lib/b.so,readonly\n"
	       "--env\nA=b c\n");
	sample.device.container_path = wire_string("/dev/dri/card1");
	expect(&sample, TOOL_CTR, false,
	       "ctr cannot give '/dev/dri/card0' to a container as '/dev/dri/card1'");
	sample.device.container_path = wire_string("/dev/a:b");
	expect(&sample, TOOL_NERDCTL, false,
	       "nerdctl cannot take '/dev/dri/card0', because of the colon in it");
}

/* --mount is a line of comma-separated values. */
static void test_commas(void)
{
	struct sample sample = {0};
	sample_open(&sample, LOCATION, "C:\\a,b\\c.dll", "C:\\x\"y.dll");
	sample.message.n_envs = 0;
	expect(&sample, TOOL_CTR, true,
	       "--device\n" LOCATION
	       "\n--mount\n\"src=C:\\a,b\\c.dll\",\"dst=C:\\x\"\"y.dll\",options=ro\n");
}

static void test_container_config(void)
{
	struct sample sample = {0};
	cJSON *config CLEANUP_JSON = NULL;
	char *text CLEANUP_FREE = NULL;
	sample_open(&sample, LOCATION, "C:\\a.dll", "C:\\Windows\\System32\\a.dll");
	config = container_config(&sample.message);
	text = json_print_compact(config);
	UNIT_STRING(text, "{\"devices\":[{\"container_path\":\"\",\"host_path\":\"" LOCATION
			  "\",\"permissions\":\"\"}],\"mounts\":[{\"container_path\":"
			  "\"C:\\\\Windows\\\\System32\\\\a.dll\",\"host_path\":\"C:\\\\a.dll\","
			  "\"readonly\":true}],\"envs\":[{\"key\":\"A\",\"value\":\"b c\"}]}");
}

UNIT_MAIN("flags", {"windows", test_windows}, {"class", test_class}, {"linux", test_linux},
	  {"commas", test_commas}, {"container config", test_container_config})
