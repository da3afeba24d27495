/* SPDX-License-Identifier: MIT */
/* The same on every system: what a launch in a Windows container may look like. */
#include "containers/launch/launch.h"

#include "base/cleanup.h"
#include "base/tests/unit.h"
#include "containers/grant/tests/entries.h"

#include <string.h>

#define GUID "5B45201D-F2F2-4F3B-85BB-30FF1F953599"

/* There on every Windows; elsewhere nobody looks. */
#define A_FOLDER "C:\\Windows\\System32"

static void expect(const struct grant *grant, const char *sentence)
{
	struct text_list offences CLEANUP_TEXT_LIST = {0};
	launch_check_grant(grant, LAUNCH_WINDOWS, &offences);
	UNIT_INT(offences.count, sentence != NULL ? 1 : 0);
	if (offences.count > 0)
		UNIT_STRING(offences.items[0], sentence != NULL ? sentence : "nothing");
}

static void test_devices(void)
{
	static struct {
		struct grant_entry device;
		const char *sentence;
	} cases[] = {
		{DEVICE("vpci-location-path://PCIROOT(0)#PCI(0100)#PCI(0000)", "", ""), NULL},
		{DEVICE("vpci-location-path://PCIROOT(0)", "", ""), NULL},
		{DEVICE("class/" GUID, "", ""), NULL},
		{DEVICE("class://" GUID, "", ""), NULL},
		{DEVICE("vpci-class-guid://" GUID, "", ""), NULL},
		{DEVICE("gpu://0", "", ""), NULL},
		{DEVICE("/dev/dri/card0", "", ""),
		 "device '/dev/dri/card0' is neither IDType://ID nor class/GUID"},
		{DEVICE("://x", "", ""), "device '://x' has no id type"},
		{DEVICE("vpci-location-path://", "", ""),
		 "device 'vpci-location-path://' has no id"},
		{DEVICE("", "", ""), "device '' is neither IDType://ID nor class/GUID"},
		{DEVICE("class/", "", ""), "device 'class/' has no id"},
		{DEVICE("class/{" GUID "}", "", ""),
		 "device 'class/{" GUID "}': '{" GUID "}' is not a GUID"},
		{DEVICE("class://5B45201D", "", ""),
		 "device 'class://5B45201D': '5B45201D' is not a GUID"},
		{DEVICE("gpu://0", "C:\\gpu", ""),
		 "device gpu://0: container path \"C:\\gpu\", which containerd refuses"},
		{DEVICE("gpu://0", "", "rwm"),
		 "device gpu://0: permissions \"rwm\", which containerd refuses"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		expect(&(struct grant){.devices = {&cases[i].device, 1}}, cases[i].sentence);
}

/* Several devices have no place in common. */
static void test_many_devices(void)
{
	struct grant_entry devices[] = {DEVICE("gpu://0", "", ""), DEVICE("gpu://1", "", "")};
	expect(&(struct grant){.devices = {devices, 2}}, NULL);
}

static void test_targets(void)
{
	static const struct {
		const char *target;
		const char *sentence;
	} cases[] = {
		{"C:\\Windows\\System32\\nvapi64.dll", NULL},
		{"c:/Windows/System32/nvapi64.dll", NULL},
		{"\\Windows\\System32\\\xc3\xa9.dll", NULL},
		{"D:\\x", NULL},
		{"x.dll", "mount target 'x.dll': does not begin at the root of a drive"},
		{"C:x.dll", "mount target 'C:x.dll': does not begin at the root of a drive"},
		{"C:", "mount target 'C:': does not begin at the root of a drive"},
		{"C:\\", "mount target 'C:\\': is the root of a drive of the container"},
		{"/", "mount target '/': is the root of a drive of the container"},
		{"", "mount target: path is empty"},
		{"C:\\Windows\\..\\x",
		 "mount target 'C:\\\\Windows\\\\..\\\\x': '..' steps up or stays"},
		{"C:\\x.dll:s",
		 "mount target 'C:\\\\x.dll:s': 'x.dll:s' names an alternate data stream"},
		{"C:\\nul.dll", "mount target 'C:\\\\nul.dll': 'nul.dll' is the name of a device"},
		{"C:\\a.\\x",
		 "mount target 'C:\\\\a.\\\\x': 'a.' ends with a dot or a blank, which Windows drops"},
		{"\\\\server\\share\\x",
		 "mount target '\\\\\\\\server\\\\share\\\\x': is a network or device path"},
		{"\\\\.\\pipe\\x",
		 "mount target '\\\\\\\\.\\\\pipe\\\\x': is a network or device path"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct grant_entry mount = MOUNT(A_FOLDER, cases[i].target, true);
		expect(&(struct grant){.mounts = {&mount, 1}}, cases[i].sentence);
	}
}

static void test_pipes(void)
{
	struct grant_entry pipe = MOUNT("\\\\.\\pipe\\ContainerD", "//./PIPE/x", false);
	struct grant_entry nameless = MOUNT("\\\\.\\pipe\\", "C:\\x", false);
	expect(&(struct grant){.mounts = {&pipe, 1}}, NULL);
	expect(&(struct grant){.mounts = {&nameless, 1}},
	       "mount source '\\\\\\\\.\\\\pipe\\\\': is a network or device path");
}

static void test_targets_are_used_once(void)
{
	static const struct {
		const char *a, *b;
		bool same;
	} cases[] = {
		{"C:\\Windows\\x.dll", "c:/windows//X.DLL", true},
		{"\\x\\y", "C:\\x\\y\\", true},
		{"C:\\x", "D:\\x", false},
		{"C:\\x", "C:\\x\\y", false},
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct grant_entry mounts[] = {MOUNT(A_FOLDER, cases[i].a, true),
					       MOUNT(A_FOLDER, cases[i].b, true)};
		char *sentence CLEANUP_FREE =
			text_format("container path %s: used twice", cases[i].b);
		expect(&(struct grant){.mounts = {mounts, 2}}, cases[i].same ? sentence : NULL);
	}
}

static void test_sources(void)
{
	struct grant_entry relative = MOUNT("x", "C:\\x", true);
	struct grant_entry missing = MOUNT("C:\\no\\such\\file.dll", "C:\\x", true);
	expect(&(struct grant){.mounts = {&relative, 1}},
	       "mount source 'x': does not begin at the root of a drive");
#ifdef _WIN32
	expect(&(struct grant){.mounts = {&missing, 1}},
	       "mount source C:\\no\\such\\file.dll: no such file or directory");
#else
	expect(&(struct grant){.mounts = {&missing, 1}}, NULL);
#endif
}

UNIT_MAIN("launch_check_grant for Windows", {"devices", test_devices},
	  {"many devices", test_many_devices}, {"targets", test_targets}, {"pipes", test_pipes},
	  {"targets are used once", test_targets_are_used_once}, {"sources", test_sources})
