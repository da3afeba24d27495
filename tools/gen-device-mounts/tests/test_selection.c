/* SPDX-License-Identifier: MIT */
/* Which devices a command line means, and which of them a container can be given. */
#include "base/cleanup.h"
#include "base/tests/unit.h"
#include "reference-plugin/tests/sample_node.h"
#include "tools/gen-device-mounts/selection.h"

enum { DEVICES = 4 };

struct node {
	struct discovery_device devices[DEVICES];
	struct discovery_snapshot snapshot;
};

/* Ids in another order than the indices; one that only computes, one without location path. */
static void node_open(struct node *node)
{
	static const struct {
		const char *id, *vendor, *path;
		int64_t luid;
		bool display;
	} rows[DEVICES] = {
		{"z", "NVIDIA", "PCIROOT(0)#PCI(1B00)", 7048070, true},
		{"m", "AMD", "PCIROOT(0)#PCI(1C00)", -2, true},
		{"a", "Intel", "PCIROOT(0)#PCI(1D00)", 9, false},
		{"q", "NVIDIA", "", 0, true},
	};
	static const char *const paths[] = {"ACPI(_SB_)#ACPI(PCI0)#ACPI(GFX0)",
					    "PCIROOT(0)#PCI(1C00)", NULL};
	for (size_t i = 0; i < DEVICES; i++) {
		node->devices[i] = sample_device(rows[i].id);
		node->devices[i].index = i;
		node->devices[i].vendor = rows[i].vendor;
		node->devices[i].location_path = rows[i].path;
		node->devices[i].luid = rows[i].luid;
		node->devices[i].display = rows[i].display;
	}
	node->devices[1].location_paths = paths;
	node->snapshot = sample_snapshot(node->devices, DEVICES);
	node->snapshot.system.os = "windows";
}

static void add(struct text_list *list, const char *value)
{
	text_list_add(list, value);
}

/* The ids that are chosen, or the error; `selection` is freed. */
static void expect(struct selection *selection, enum answer_allocation allocation, int code,
		   const char *wanted)
{
	struct node node = {0};
	struct selected selected = {0};
	struct text seen CLEANUP_TEXT = {0};
	struct error err = {0};
	node_open(&node);
	UNIT_INT(selection_apply(selection, &node.snapshot, allocation, &selected, &err), code);
	for (size_t i = 0; code == 0 && i < selected.count; i++)
		text_addf(&seen, "%s ", selected.devices[i]->id);
	for (size_t i = 0; code == 0 && i < selected.notes.count; i++)
		text_addf(&seen, "[%s]", selected.notes.items[i]);
	if (code == 0)
		UNIT_STRING(text_string(&seen), wanted);
	else
		UNIT_CONTAINS(err.text, wanted);
	selected_free(&selected);
	selection_free(selection);
}

static void test_all(void)
{
	struct selection selection = {.all = true};
	expect(&selection, ANSWER_LOCATION_PATH, 0,
	       "a m z [device 'q' is left out: it has no location path to assign it by]");
	selection = (struct selection){.all = true};
	expect(&selection, ANSWER_CLASS, 0,
	       "m q z [device 'a' is left out: it only computes, and whether the class of display "
	       "adapters covers such devices is not known]");
}

static void test_numbers(void)
{
	struct selection selection = {0};
	add(&selection.values[SELECTION_INDEX], "1,0");
	expect(&selection, ANSWER_LOCATION_PATH, 0, "m z ");
	selection = (struct selection){0};
	add(&selection.values[SELECTION_LUID], "0x6b8b86");
	add(&selection.values[SELECTION_LUID], "-2");
	expect(&selection, ANSWER_LOCATION_PATH, 0, "m z ");
	selection = (struct selection){0};
	add(&selection.values[SELECTION_INDEX], "4");
	expect(&selection, ANSWER_LOCATION_PATH, ERROR_NOT_FOUND, "--index 4");
	selection = (struct selection){0};
	add(&selection.values[SELECTION_INDEX], "0,x");
	expect(&selection, ANSWER_LOCATION_PATH, ERROR_FORMAT, "--index");
	selection = (struct selection){0};
	add(&selection.values[SELECTION_INDEX], "");
	expect(&selection, ANSWER_LOCATION_PATH, ERROR_FORMAT, "--index");
	selection = (struct selection){0};
	add(&selection.values[SELECTION_INDEX], "-1");
	expect(&selection, ANSWER_LOCATION_PATH, ERROR_LIMIT, "--index");
	/* 0 is an unknown LUID, not that of every device without one. */
	selection = (struct selection){0};
	add(&selection.values[SELECTION_LUID], "0");
	expect(&selection, ANSWER_LOCATION_PATH, ERROR_NOT_FOUND, "--luid 0");
}

static void test_texts(void)
{
	struct selection selection = {0};
	add(&selection.values[SELECTION_PATH], "pciroot(0)#pci(1d00)");
	add(&selection.values[SELECTION_ID], "Z");
	expect(&selection, ANSWER_LOCATION_PATH, 0, "a z ");
	selection = (struct selection){0};
	add(&selection.values[SELECTION_VENDOR], "nvidia");
	add(&selection.values[SELECTION_VENDOR], "amd");
	expect(&selection, ANSWER_LOCATION_PATH, 0,
	       "m z [device 'q' is left out: it has no location path to assign it by]");
	selection = (struct selection){0};
	add(&selection.values[SELECTION_VENDOR], "matrox");
	expect(&selection, ANSWER_LOCATION_PATH, ERROR_NOT_FOUND, "--vendor matrox");
	/* Every path of a device is one. */
	selection = (struct selection){0};
	add(&selection.values[SELECTION_PATH], "acpi(_SB_)#ACPI(PCI0)#ACPI(GFX0)");
	expect(&selection, ANSWER_LOCATION_PATH, 0, "m ");
	/* A path that no device has is not the one of the device without. */
	selection = (struct selection){0};
	add(&selection.values[SELECTION_PATH], "");
	expect(&selection, ANSWER_LOCATION_PATH, ERROR_NOT_FOUND, "--path");
}

static void test_resources(void)
{
	struct selection selection = {.all = true, .resource = SELECTION_COMPUTE};
	expect(&selection, ANSWER_LOCATION_PATH, 0, "a ");
	selection = (struct selection){.all = true, .resource = SELECTION_DISPLAY};
	expect(&selection, ANSWER_CLASS, 0, "m q z ");
	selection = (struct selection){.resource = SELECTION_COMPUTE};
	add(&selection.values[SELECTION_INDEX], "0");
	expect(&selection, ANSWER_LOCATION_PATH, ERROR_NOT_FOUND, "no device of the node is meant");
	selection = (struct selection){.all = true, .resource = SELECTION_COMPUTE};
	expect(&selection, ANSWER_CLASS, ERROR_NOT_FOUND, "it only computes");
}

/* What was named by itself is never left out in silence. */
static void test_devices_that_cannot_be_given(void)
{
	struct selection selection = {.all = true};
	add(&selection.values[SELECTION_ID], "q");
	expect(&selection, ANSWER_LOCATION_PATH, ERROR_UNSUPPORTED, "device 'q'");
	selection = (struct selection){0};
	add(&selection.values[SELECTION_INDEX], "2");
	expect(&selection, ANSWER_CLASS, ERROR_UNSUPPORTED, "it only computes");
}

/* What discovery found unfit for containers is not given to one, on any system. */
static void test_not_allocatable(void)
{
	struct discovery_device device = sample_device("x");
	struct discovery_snapshot snapshot = sample_snapshot(&device, 1);
	struct selection selection = {.all = true};
	struct selected selected = {0};
	struct error err = {0};
	device.allocatable = false;
	device.not_allocatable_reason = "it is on no bus";
	UNIT_INT(selection_apply(&selection, &snapshot, ANSWER_LOCATION_PATH, &selected, &err),
		 ERROR_NOT_FOUND);
	UNIT_CONTAINS(err.text, "device 'x' is left out: it is on no bus");
	selected_free(&selected);
}

static void test_empty(void)
{
	struct selection selection = {0};
	CU_ASSERT_TRUE(selection_is_empty(&selection));
	add(&selection.values[SELECTION_LUID], "1");
	CU_ASSERT_FALSE(selection_is_empty(&selection));
	selection_free(&selection);
	selection = (struct selection){.all = true};
	CU_ASSERT_FALSE(selection_is_empty(&selection));
}

UNIT_MAIN("selection", {"all", test_all}, {"numbers", test_numbers}, {"texts", test_texts},
	  {"resources", test_resources},
	  {"devices that cannot be given", test_devices_that_cannot_be_given},
	  {"not allocatable", test_not_allocatable}, {"empty", test_empty})
