/* SPDX-License-Identifier: MIT */
/* What a line of the log means for a run. */
#include "base/cleanup.h"
#include "base/tests/unit.h"
#include "conformance/system_log/system_log.h"

/* Two GPUs of AMD, one each of NVIDIA and Intel, a virtual function beside its GPU, a GPU of a
 * system on a chip, two virtual GPUs of which one is for display only. */
static const char *const apis[] = {"vulkan", NULL};
static struct discovery_device devices[] = {
	{.id = "amd-1", .pci_address = "0000:03:00.0", .driver_name = "amdgpu"},
	{.id = "amd-2", .pci_address = "0000:0a:00.0", .driver_name = "amdgpu"},
	{.id = "nvidia", .pci_address = "0000:65:00.0", .driver_name = "nvidia"},
	{.id = "intel", .pci_address = "0000:00:02.0", .driver_name = "i915"},
	{.id = "arc", .pci_address = "0001:b3:00.1", .driver_name = "xe"},
	{.id = "soc", .pci_address = "", .driver_name = "panfrost"},
	{.id = "virtual", .pci_address = "0000:00:03.0", .driver_name = "virtio_gpu", .apis = apis},
	{.id = "display", .pci_address = "0000:00:04.0", .driver_name = "virtio_gpu"},
	{.id = "software", .pci_address = "", .driver_name = "", .kind = DISCOVERY_SOFTWARE},
};
static struct discovery_snapshot node = {.devices = devices, .device_count = ARRAY_SIZE(devices)};

static const char *const meanings[] = {"foreign", "related", "warning", "fault"};

static enum log_meaning judge(const char *text, const char *only)
{
	struct log_line line = {.text = ""};
	struct text_list ids CLEANUP_TEXT_LIST = {0};
	const char *id = "";
	if (only != NULL)
		text_list_add(&ids, only);
	log_line_set(&line, text, strlen(text));
	return log_line_judge(&line, &node, &ids, &id);
}

static void expect(const char *text, enum log_meaning wanted)
{
	enum log_meaning meaning = judge(text, NULL);
	if (meaning != wanted)
		(void)fprintf(stderr, "%s\n", text);
	UNIT_STRING(meanings[meaning], meanings[wanted]);
}

/* As the drivers print them. */
static void test_faults(void)
{
	static const char *const faults[] = {
		"NVRM: Xid (PCI:0000:65:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen "
		"off the bus.",
		"NVRM: Xid (PCI:0000:65:00): 13, pid=77, name=probe-cuda, Graphics Exception",
		"NVRM: Xid (PCI:0000:65:00.0): 48, DBE (double bit error) ECC Error",
		"NVRM: GPU 0000:65:00.0: RmInitAdapter failed! (0x26:0x56:1474)",
		"NVRM: GPU at PCI:0000:65:00: has fallen off the bus",
		"amdgpu 0000:03:00.0: amdgpu: ring gfx_0.0.0 timeout, signaled seq=4, emitted seq=6",
		"amdgpu 0000:03:00.0: amdgpu: GPU reset begin!",
		"amdgpu 0000:0a:00.0: amdgpu: GPU reset(2) succeeded!",
		"amdgpu 0000:03:00.0: amdgpu: [gfxhub] page fault (src_id:0 ring:24 vmid:3 "
		"pasid:32770)",
		"i915 0000:00:02.0: [drm] GPU HANG: ecode 12:1:85dffffb, in probe-vulkan [4711]",
		"i915 0000:00:02.0: [drm] Resetting rcs0 for preemption time out",
		"xe 0001:b3:00.1: [drm] GT0: Engine reset: engine_class=rcs, logical_mask: 0x1, "
		"guc_id=3",
		"xe 0001:b3:00.1: [drm] GT0: Timedout job: seqno=4294967169, lrc_seqno=4294967169, "
		"guc_id=4",
		"pcieport 0000:00:01.0: AER: Uncorrectable (Fatal) error message received from "
		"0000:65:00.0",
		"AMD-Vi: Event logged [IO_PAGE_FAULT device=0000:03:00.0 domain=0x000e "
		"address=0x0 flags=0x0000]",
		/* without an address: one device of that driver alone */
		"i915: Resetting chip for hang on rcs0",
		"[drm] GPU HANG: ecode 12:1:85dffffb, in probe-vulkan [4711]",
		"panfrost fde60000.gpu: gpu sched timeout, js=1, config=0x0, status=0x8",
		/* the only one of its driver that computes */
		"[drm:virtio_gpu_dequeue_ctrl_func [virtio_gpu]] *ERROR* response 0x1200 (command "
		"0x207)",
	};
	for (size_t i = 0; i < ARRAY_SIZE(faults); i++)
		expect(faults[i], LOG_FAULT);
}

/* What accuses nobody: another device, another program, two that it may be, a machine that stumbled. */
static void test_warnings(void)
{
	static const char *const warnings[] = {
		"NVRM: Xid (PCI:0000:65:00): 13, pid=99, name=python3, Graphics Exception",
		"NVRM: Xid (PCI:0000:65:00): 45, pid=99, name=stress, Ch 00000008",
		"NVRM: Xid (PCI:0000:65:00): 63, pid=99, name=x, Row Remapper: New row marked",
		"NVRM: Xid (PCI:0000:65:00): 154, GPU recovery action changed from 0x0 (None)",
		"[drm:amdgpu_job_timedout [amdgpu]] *ERROR* ring gfx timeout, signaled seq=1",
		"[drm:virtio_gpu_dequeue_ctrl_func [virtio_gpu]] *ERROR* response 0x1201 (command "
		"0x10c)",
		"Display 4101: ",
		"BUG: kernel NULL pointer dereference, address: 0000000000000008",
		"Oops: Oops: 0002 [#1] PREEMPT SMP PTI",
		"watchdog: BUG: soft lockup - CPU#3 stuck for 26s!",
	};
	for (size_t i = 0; i < ARRAY_SIZE(warnings); i++)
		expect(warnings[i], LOG_WARNING);
	UNIT_INT(judge("amdgpu 0000:03:00.0: amdgpu: GPU reset begin!", "amd-1"), LOG_FAULT);
	UNIT_INT(judge("amdgpu 0000:03:00.0: amdgpu: GPU reset begin!", "amd-2"), LOG_WARNING);
	UNIT_INT(judge("[drm] GPU HANG: ecode 12:1:85dffffb", "nvidia"), LOG_WARNING);
}

static void test_what_is_kept(void)
{
	expect("amdgpu 0000:03:00.0: [drm] fence driver on ring gfx use gpu addr 0x1", LOG_RELATED);
	expect("nvidia 0000:65:00.0: enabling device (0000 -> 0003)", LOG_RELATED);
	expect("NVRM: loading NVIDIA UNIX x86_64 Kernel Module  580.159.04", LOG_RELATED);
}

static void test_what_is_not(void)
{
	static const char *const foreign[] = {
		"",
		"amdgpu 0000:04:00.0: amdgpu: GPU reset begin!", /* no device of the node */
		"amdgpu 0001:03:00.0: amdgpu: GPU reset begin!",
		"xe 0001:b3:00.0: [drm] GT0: reset started", /* the GPU of our virtual function */
		"xe 0001:b3:00.2: [drm] GT0: reset started",
		"nouveau 0000:01:00.0: fifo: fault 00 [READ] at 0000000000001000",
		"nouveau: GPU lockup",
		"NVRM: Xid (PCI:0000:66:00): 79, GPU has fallen off the bus.",
		"probe-test[13976]: segfault at 0 ip 0000000000401289 sp 00007ffc error 6",
		"IN=eth0 OUT= MAC=00:11:22:33:44:55 SRC=192.0.2.1 DST=192.0.2.2",
		"usb 1-1: SerialNumber: 4C530001",
	};
	for (size_t i = 0; i < ARRAY_SIZE(foreign); i++)
		expect(foreign[i], LOG_FOREIGN);
	const struct discovery_snapshot software = {.devices = &devices[8], .device_count = 1};
	const struct text_list all = {0};
	const char *id = "";
	struct log_line line = {.text = "Display 4101: nvlddmkm"};
	UNIT_INT(log_line_judge(&line, &software, &all, &id), LOG_FOREIGN);
}

static void test_windows(void)
{
	struct discovery_device gpu = {
		.id = "gpu", .pci_address = "0000:01:00.0", .driver_name = "nvlddmkm"};
	const struct discovery_snapshot windows = {.devices = &gpu, .device_count = 1};
	const struct text_list all = {0};
	const char *id = "";
	static const struct {
		struct log_line line;
		enum log_meaning wanted;
	} rows[] = {
		{{.text = "Display 4101: nvlddmkm"}, LOG_FAULT},
		{{.text = "nvlddmkm 153: \\Device\\Video3"}, LOG_FAULT},
		{{.text = "Display 4101: amdkmdag"}, LOG_FOREIGN},
		{{.text = "amdwddmg 4: x"}, LOG_FOREIGN},
		{{.text = "nvlddmkm 1: x"}, LOG_FOREIGN},
	};
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		UNIT_INT(log_line_judge(&rows[i].line, &windows, &all, &id), rows[i].wanted);
}

static void expect_record(const char *data, const char *when, const char *text, const char *rest)
{
	struct log_line line = {.text = ""};
	UNIT_STRING(log_line_of_kernel(data, &line), rest);
	UNIT_STRING(line.when, when);
	UNIT_STRING(line.text, text);
}

static void test_records(void)
{
	expect_record("3,12,39612840964,-;amdgpu: x\n SUBSYSTEM=pci\n", "39612.840964", "amdgpu: x",
		      " SUBSYSTEM=pci\n");
	expect_record("6,12,5,-,caller=T1;a;b", "0.000005", "a;b", "");
	expect_record("4,12,5,-;bell \a and \xff\n", "0.000005", "bell ? and ?", "");
	/* of user space, and no records */
	expect_record("12,12,5,-;amdgpu: x\n", "", "", "");
	expect_record(" DEVICE=+pci:0000:03:00.0\n", "", "", "");
	expect_record("3,12,5", "", "", "");
	expect_record("3,,5,-;x", "", "", "");
	expect_record("-3,1,5,-;x", "", "", "");
	expect_record("3;1,5,-,x", "", "", "");
	expect_record("99999999999999999999999,1,5,-;x", "", "", "");
	expect_record("", "", "", "");
	struct log_line line = {.text = ""};
	char longer[3000] = "";
	memset(longer, 'x', sizeof(longer) - 1);
	log_line_set(&line, longer, strlen(longer));
	UNIT_INT(strlen(line.text), sizeof(line.text) - 1);
}

static void count(const struct log_line *line, void *user)
{
	CU_ASSERT_STRING_NOT_EQUAL(line->text, "");
	++*(size_t *)user;
}

/* Where there is a log it is read; else it is said why not, as of Wine's stub. */
static void test_this_systems_own(void)
{
	size_t lines = 0;
	struct system_log *log = NULL;
	struct error err = {0};
	if (system_log_open("/dev/kmsg", &log, &err) == 0) {
		CU_ASSERT_TRUE(system_log_read(log, count, &lines));
		system_log_close(&log);
	} else {
		CU_ASSERT_STRING_NOT_EQUAL(err.text, "");
		(void)printf("%s\n", err.text);
	}
}

UNIT_MAIN("lines of the system log", {"faults", test_faults}, {"warnings", test_warnings},
	  {"what is kept", test_what_is_kept}, {"what is not", test_what_is_not},
	  {"Windows", test_windows}, {"records", test_records},
	  {"this system's own", test_this_systems_own})
