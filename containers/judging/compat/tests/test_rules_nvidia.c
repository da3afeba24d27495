/* SPDX-License-Identifier: MIT */
/* NVIDIA's rules: the table of the CUDA toolkits, lock-step, both kinds of compatibility, variables. */
#include "base/version.h"
#include "containers/judging/compat/nvidia.h"
#include "containers/judging/compat/tests/rules_rig.h"

static struct image cuda(struct json_pair variables[2])
{
	struct image image = IMAGE(LINUX_AMD64, NO_VARIABLE);
	image.environment = variables;
	image.environment_count = 2;
	return image;
}

#define CUDA(version) cuda((struct json_pair[]){{"CUDA_VERSION", version}, NO_VARIABLE})

/* Every row: its own driver runs it, the table is in order, and it is found by its release. */
static void test_table(void)
{
	size_t count = 0;
	const struct cuda_release *rows = cuda_releases(&count);
	UNIT_INT(count, 43);
	for (size_t i = 0; i < count; i++) {
		CU_ASSERT_PTR_EQUAL(cuda_release_find(rows[i].release), &rows[i]);
		CU_ASSERT_TRUE(version_is_valid(rows[i].linux_driver));
		if (i > 0)
			CU_ASSERT_TRUE(version_compare(rows[i - 1].linux_driver,
						       rows[i].linux_driver) < 0);
		struct host_gpu device = gpu("nvidia", "Tesla T4", rows[i].linux_driver);
		struct host_facts on = host("linux", "", &device, 1);
		struct image image = CUDA(rows[i].release);
		EXPECT(&image, NULL, &on, NULL, "cuda.minimum-driver", COMPAT_WORKS,
		       rows[i].linux_driver);
	}
	UNIT_STRING(cuda_release_find("12.8.0")->linux_driver, "570.26");
	UNIT_STRING(cuda_release_find("12.8.1")->linux_driver, "570.124.06");
	UNIT_STRING(cuda_release_find("12.6.2")->linux_driver, "560.35.03");
	UNIT_STRING(cuda_release_find("12.6.2")->windows_driver, "560.94");
	UNIT_STRING(cuda_release_find("11.7.0")->linux_driver, "515.48.07");
	CU_ASSERT_PTR_NULL(cuda_release_find("12.7"));
	CU_ASSERT_PTR_NULL(cuda_release_find("99.0"));
}

static void test_cuda_of_driver(void)
{
	static const struct {
		const char *driver, *least, *below; /* below "=": exactly least */
	} rows[] = {
		{"550.54.15", "12.4", "="}, {"535.183.01", "12.2", "="},
		{"470.57.02", "11.4", "="}, {"565.57.01", "12.6", "12.8"},
		{"570.26", "12.8", "="},    {"595.71.05", "13.2", "="},
		{"610.1", "13.2", ""},	    {"367.44", "", "8.0"},
		{"384.81", "9.0", "="},
	};
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const char *least = NULL;
		const char *below = NULL;
		cuda_of_driver(rows[i].driver, false, &least, &below);
		UNIT_STRING(least, rows[i].least);
		UNIT_STRING(below != NULL ? below : "=", rows[i].below);
	}
	char text[NVIDIA_DRIVER_SIZE] = "";
	UNIT_STRING(nvidia_driver_of_windows("31.0.15.5222", text), "552.22");
	UNIT_STRING(nvidia_driver_of_windows("27.21.14.5671", text), "456.71");
	UNIT_STRING(nvidia_driver_of_windows("31.0.15", text), "31.0.15");
	UNIT_STRING(nvidia_driver_of_windows("9999999999.1.1.1", text), "9999999999.1.1.1");
}

static void expect_cuda(const char *version, const char *driver, int verdict, const char *says)
{
	struct host_gpu device = gpu("nvidia", "Tesla T4", driver);
	struct host_facts on = host("linux", "", &device, 1);
	struct image image = CUDA(version);
	EXPECT(&image, NULL, &on, NULL, "cuda.minimum-driver", verdict, says);
}

static void test_minimum_driver(void)
{
	expect_cuda("12.8.1", "570.26", COMPAT_WORKS,
		    "minor-version compatibility, which needs 525");
	expect_cuda("12.4.1", "535.183.01", COMPAT_WORKS, "550.54.15");
	expect_cuda(
		"12.4.1", "470.57.02", COMPAT_CANNOT_WORK,
		"CUDA 12.4.1 of the image needs driver 525 (all of it: 550.54.15), the host's is "
		"470.57.02, which runs CUDA 11.4");
	expect_cuda("11.8.0", "450.80.02", COMPAT_WORKS, "which needs 450.80.02");
	expect_cuda("11.8.0", "450.51.06", COMPAT_CANNOT_WORK, "450.80.02");
	expect_cuda("10.2", "418.39", COMPAT_CANNOT_WORK,
		    "needs driver 440.33, the host's is 418.39");
	expect_cuda("13.0.2", "575.57.08", COMPAT_CANNOT_WORK, "580");
	expect_cuda("12.7.0", "565.57.01", COMPAT_WORKS, "which needs 525");
	expect_cuda("42.0", "595.71.05", COMPAT_UNKNOWN, "no table names CUDA 42.0");
	expect_cuda("12.4", "", COMPAT_UNKNOWN, "not known");
	expect_cuda("twelve", "550.54.15", NOTHING, "");
	struct image image = CUDA("12.4.1");
	struct host_facts bare = host("linux", "", NULL, 0);
	EXPECT(&image, NULL, &bare, NULL, "gpu.vendor", COMPAT_CANNOT_WORK, "no NVIDIA GPU");
	/* Another module's version is not the driver's. */
	struct host_gpu device = gpu("nvidia", "Tesla T4", "6.1.0-18-amd64");
	struct host_facts nouveau = host("linux", "", &device, 1);
	device.driver = "nouveau";
	EXPECT(&image, NULL, &nouveau, NULL, "gpu.vendor", COMPAT_CANNOT_WORK, "NVIDIA's driver");
	EXPECT(&image, NULL, &nouveau, NULL, "cuda.minimum-driver", NOTHING, "");
}

/* The Windows column, with the version that Windows has for a driver. */
static void test_windows_driver(void)
{
	struct host_gpu device = gpu("nvidia", "NVIDIA GeForce RTX 3060", "31.0.15.3640");
	struct host_facts on = host("windows", "10.0.26100.2454", &device, 1);
	struct image image = IMAGE(WINDOWS("10.0.26100.1742"), {"CUDA_VERSION", "12.4.1"});
	EXPECT(&image, NULL, &on, NULL, "cuda.minimum-driver", COMPAT_WORKS,
	       "runs on driver 536.40 of the host by minor-version compatibility, which needs 525 (all "
	       "of it: 551.78)");
	device.driver_version = "30.0.14.7111";
	EXPECT(&image, NULL, &on, NULL, "cuda.minimum-driver", COMPAT_CANNOT_WORK,
	       "the host's is 471.11");
	device.driver_version = "31.0.15.5222";
	EXPECT(&image, NULL, &on, NULL, "cuda.minimum-driver", COMPAT_WORKS, "needs driver 551.78");
}

static struct contents_library library(const char *path, const char *version)
{
	return (struct contents_library){CONTENTS_DRIVER_LIBRARY, path, "cuda", version, 0};
}

static void expect_libraries(const char *driver, const struct contents_library *libraries,
			     size_t count, const char *rule, const char *name, int verdict,
			     const char *says)
{
	struct host_gpu device = gpu("nvidia", name, driver);
	struct host_facts on = host("linux", "", &device, 1);
	struct image image = CUDA("12.4.1");
	struct image_contents contents = {.libraries =
						  (struct contents_library *)(uintptr_t)libraries,
					  .library_count = count,
					  .glibc = "",
					  .glibc_needed = ""};
	EXPECT(&image, &contents, &on, NULL, rule, verdict, says);
}

static void test_lock_step(void)
{
	const struct contents_library equal[] = {
		library("usr/lib/x86_64-linux-gnu/libcuda.so.550.54.15", "550.54.15"),
		library("usr/lib/x86_64-linux-gnu/libnvidia-ml.so.550.54.15", "550.54.15")};
	const struct contents_library branch[] = {
		equal[0], library("usr/lib/libnvidia-ml.so.550.54.14", "550.54.14")};
	const struct contents_library others[] = {
		library("usr/local/cuda/lib64/stubs/libcuda.so", ""),
		library("usr/lib/libnvidia-container.so.1.14.6", "1.14.6"),
		library("usr/lib/libnvidia-egl-gbm.so.1.1.1", "1.1.1"),
		library("usr/local/cuda/compat/libcuda.so.550.90.07", "550.90.07")};
	expect_libraries("550.54.15", equal, 2, "nvidia.lock-step", "Tesla T4", COMPAT_WORKS,
			 "550.54.15");
	expect_libraries(
		"550.54.15", branch, 2, "nvidia.lock-step", "Tesla T4", COMPAT_CANNOT_WORK,
		"libnvidia-ml.so.550.54.14 in the image is of driver 550.54.14, and the host's "
		"kernel module is 550.54.15 (1 such libraries): CUDA fails with 803, NVML with "
		"18");
	expect_libraries("535.54.03", equal, 2, "nvidia.lock-step", "Tesla T4", COMPAT_CANNOT_WORK,
			 "(2 such libraries)");
	expect_libraries("", equal, 2, "nvidia.lock-step", "Tesla T4", COMPAT_UNKNOWN, "not known");
	expect_libraries("550.54.15", others, 4, "nvidia.lock-step", "Tesla T4", NOTHING, "");
}

static void test_forward(void)
{
	static const char rule[] = "cuda.forward-compatibility";
	const struct contents_library fits =
		library("usr/local/cuda-12.4/compat/libcuda.so.550.90.07", "550.90.07");
	const struct contents_library old =
		library("usr/local/cuda/compat/libcuda.so.495.29.05", "495.29.05");
	expect_libraries("470.57.02", &fits, 1, rule, "Tesla T4", COMPAT_WORKS, "550.90.07");
	expect_libraries("470.57.02", &fits, 1, rule, "NVIDIA A100-SXM4-80GB", COMPAT_WORKS, "");
	expect_libraries("470.57.02", &fits, 1, rule, "NVIDIA GeForce RTX 3060", COMPAT_CANNOT_WORK,
			 "fails with 804");
	expect_libraries("470.57.02", &fits, 1, rule, "NVIDIA RTX A6000", COMPAT_UNKNOWN,
			 "selected others");
	expect_libraries("470.57.02", &fits, 1, rule, "Graphics Device", COMPAT_UNKNOWN,
			 "not known");
	expect_libraries("470.57.02", &old, 1, rule, "Tesla T4", COMPAT_CANNOT_WORK, "495.29.05");
	expect_libraries("470.57.02", &fits, 1, "cuda.minimum-driver", "Tesla T4", NOTHING, "");
	expect_libraries("550.54.15", &fits, 1, rule, "Tesla T4", NOTHING, "");
	expect_libraries("550.54.15", &fits, 1, "cuda.minimum-driver", "Tesla T4", COMPAT_WORKS,
			 "");
}

/* An image without CUDA_VERSION tells its toolkit by libcudart, whose third number is a build's. */
static void test_runtime_library(void)
{
	struct host_gpu device = gpu("nvidia", "Tesla T4", "550.54.14");
	struct host_facts on = host("linux", "", &device, 1);
	struct image image = IMAGE(LINUX_AMD64, NO_VARIABLE);
	struct contents_library libraries[] = {library("usr/lib/libcudart.so", ""),
					       library("opt/libcudart.so.12.4.127", "12.4.127")};
	struct image_contents contents = {
		.libraries = libraries, .library_count = 2, .glibc = "", .glibc_needed = ""};
	EXPECT(&image, &contents, &on, NULL, "cuda.minimum-driver", COMPAT_WORKS,
	       "CUDA 12.4 of the image needs driver 550.54.14");
	contents.library_count = 1;
	EXPECT(&image, &contents, &on, NULL, "cuda.minimum-driver", NOTHING, "");
}

static void expect_device(const char *name, const char *version, int verdict, const char *says)
{
	struct host_gpu device = gpu("nvidia", name, "595.71.05");
	struct host_facts on = host("linux", "", &device, 1);
	struct image image = CUDA(version);
	EXPECT(&image, NULL, &on, NULL, "cuda.compute-capability", verdict, says);
}

static void test_capability(void)
{
	expect_device("Tesla V100-SXM2-16GB", "13.0.1", COMPAT_CANNOT_WORK,
		      "compute capability 7.0, and CUDA 13.0.1 knows 7.5 to 12.1");
	expect_device("Tesla V100-SXM2-16GB", "12.9.1", COMPAT_WORKS, "7.0");
	expect_device("Tesla K80", "12.0.1", COMPAT_CANNOT_WORK, "3.7");
	expect_device("NVIDIA H200", "11.7.1", COMPAT_UNKNOWN, "only programs that bring PTX run");
	expect_device("NVIDIA H200", "11.8.0", COMPAT_WORKS, "9.0");
	expect_device("NVIDIA B200", "12.6.3", COMPAT_UNKNOWN, "10.0");
	expect_device("NVIDIA GeForce RTX 5090", "12.8.1", COMPAT_WORKS, "12.0");
	expect_device("NVIDIA Something New", "12.8.1", NOTHING, "");
	struct host_gpu device = gpu("nvidia", "NVIDIA H200", "595.71.05");
	struct host_facts on = host("linux", "", &device, 1);
	struct image image = IMAGE(LINUX_AMD64, {"TORCH_CUDA_ARCH_LIST", "7.5 8.0 8.6+PTX"});
	EXPECT(&image, NULL, &on, NULL, "cuda.compute-capability", NOTHING, "");
	image.environment[0].value = "7.5;8.0;8.6";
	EXPECT(&image, NULL, &on, NULL, "cuda.compute-capability", COMPAT_UNKNOWN, "7.5;8.0;8.6");
	device.compute_capability = "8.9"; /* what the host tells goes before the table */
	EXPECT(&image, NULL, &on, NULL, "cuda.compute-capability", NOTHING, "");
}

/* One letter of a name may be another generation. A name that is in no row stays unknown. */
static void test_models(void)
{
	static const struct {
		const char *name, *capability;
	} models[] = {
		{"Tesla M10", "5.0"},	  {"Tesla M40 24GB", "5.2"},  {"Tesla M60", "5.2"},
		{"Tesla M4", "5.2"},	  {"NVIDIA H20", "9.0"},      {"NVIDIA H20-3e", "9.0"},
		{"NVIDIA H200", "9.0"},	  {"NVIDIA H800", "9.0"},     {"NVIDIA GB10", "12.1"},
		{"NVIDIA T400", "7.5"},	  {"NVIDIA T400 4GB", "7.5"}, {"NVIDIA T1000 8GB", "7.5"},
		{"NVIDIA GB200", "10.0"},
	};
	static const char *const unknown[] = {"Tesla M2090", "NVIDIA GB100", "NVIDIA H2",
					      "NVIDIA X1000", ""};
	for (size_t i = 0; i < ARRAY_SIZE(models); i++) {
		const struct nvidia_model *model = nvidia_model_find(models[i].name);
		UNIT_STRING(model != NULL ? model->compute_capability : "unknown",
			    models[i].capability);
	}
	for (size_t i = 0; i < ARRAY_SIZE(unknown); i++)
		CU_ASSERT_PTR_NULL(nvidia_model_find(unknown[i]));
}

/* Where GPUs differ, it depends on which one the container is given. */
static void test_different_gpus(void)
{
	struct host_gpu devices[] = {gpu("nvidia", "Tesla K80", "595.71.05"),
				     gpu("nvidia", "NVIDIA H200", "595.71.05"),
				     gpu("nvidia", "Tesla K80", "595.71.05")};
	struct host_facts on = host("linux", "", devices, 3);
	struct image image = CUDA("12.4.1");
	EXPECT(&image, NULL, &on, NULL, "cuda.compute-capability", COMPAT_UNKNOWN,
	       "'Tesla K80' has compute capability 3.7");
	devices[1] = devices[0];
	EXPECT(&image, NULL, &on, NULL, "cuda.compute-capability", COMPAT_CANNOT_WORK, "3.7");
	/* Two conditions, of which each holds on one GPU: there is none on which both do. */
	devices[1] = gpu("nvidia", "NVIDIA H200", "595.71.05");
	image.environment = (struct json_pair[]){{"NVIDIA_REQUIRE_A", "arch>=9.0"},
						 {"NVIDIA_REQUIRE_B", "arch<9.0"}};
	EXPECT(&image, NULL, &on, NULL, "nvidia.require", COMPAT_CANNOT_WORK, "REQUIRE_A");
	image.environment[1].value = "cuda>=12.0";
	EXPECT(&image, NULL, &on, NULL, "nvidia.require", COMPAT_UNKNOWN, "REQUIRE_A");
}

static void expect_variables(const char *name, const char *value, const char *second,
			     const char *second_value, const char *rule, int verdict,
			     const char *says)
{
	struct host_gpu devices[] = {gpu("nvidia", "Tesla T4", "535.183.01"),
				     gpu("nvidia", "NVIDIA H200", "535.183.01")};
	struct host_facts on = host("linux", "", devices, 2);
	struct image image = cuda((struct json_pair[]){{name, value}, {second, second_value}});
	EXPECT(&image, NULL, &on, NULL, rule, verdict, says);
}

static void test_require(void)
{
	static const char rule[] = "nvidia.require";
	static const char name[] = "NVIDIA_REQUIRE_CUDA";
	expect_variables(name, "cuda>=12.2", "A", "", rule, COMPAT_WORKS, "cuda>=12.2' holds");
	expect_variables(name, "cuda>=12.4", "A", "", rule, COMPAT_CANNOT_WORK,
			 "does not hold: 'Tesla T4' has driver 535.183.01, CUDA 12.2");
	expect_variables(name, "cuda>=12.4", "NVIDIA_DISABLE_REQUIRE", "true", rule, COMPAT_WORKS,
			 "switched off");
	expect_variables(name, "cuda>=12.4", "NVIDIA_DISABLE_REQUIRE", "no", rule,
			 COMPAT_CANNOT_WORK, "");
	expect_variables(name, "cuda>=12.9 brand=tesla,driver>=535,driver<536", "A", "", rule,
			 COMPAT_UNKNOWN, "is unknown");
	expect_variables(name, "arch>=9.0", "A", "", rule, COMPAT_UNKNOWN,
			 "compute capability 7.5");
	expect_variables(name, "nonsense", "A", "", rule, COMPAT_CANNOT_WORK,
			 "invalid constraint: 'nonsense'");
	expect_variables("NVIDIA_REQUIRE_X", "driver>=550", name, "cuda>=12.0", rule,
			 COMPAT_CANNOT_WORK, "NVIDIA_REQUIRE_X");
	expect_variables("NVIDIA_REQUIRE_JETPACK", "csv-mounts=all", "A", "", rule, NOTHING, "");
	expect_variables("CUDA_VERSION", "12.4.1", "A", "", rule, COMPAT_CANNOT_WORK,
			 "cuda>=12.4'");
	expect_variables("CUDA_VERSION", "12.1.0", "A", "", rule, COMPAT_WORKS, "cuda>=12.1'");
	expect_variables("CUDA_VERSION", "12.4.1", name, "cuda>=12.0", rule, COMPAT_WORKS, "12.0");
}

static void test_variables(void)
{
	static const char rule[] = "nvidia.variables";
	static const char name[] = "NVIDIA_DRIVER_CAPABILITIES";
	expect_variables(name, "compute,utility", "A", "", rule, NOTHING, "");
	expect_variables(name, "all", "CUDA_VERSION", "12.1", rule, NOTHING, "");
	expect_variables(name, "compute,gaming", "A", "", rule, COMPAT_CANNOT_WORK, "'gaming'");
	expect_variables(name, "utility,video", "CUDA_VERSION", "12.1", rule, COMPAT_CANNOT_WORK,
			 "lacks compute");
	expect_variables("NVIDIA_VISIBLE_DEVICES", "void", "A", "", rule, COMPAT_WORKS, "void");
	expect_variables("NVIDIA_VISIBLE_DEVICES", "all", "A", "", rule, NOTHING, "");
}

UNIT_MAIN("rules of NVIDIA", {"table", test_table}, {"CUDA of a driver", test_cuda_of_driver},
	  {"minimum driver", test_minimum_driver}, {"Windows driver", test_windows_driver},
	  {"lock-step", test_lock_step}, {"libcudart", test_runtime_library},
	  {"forward compatibility", test_forward}, {"compute capability", test_capability},
	  {"models", test_models}, {"different GPUs", test_different_gpus},
	  {"NVIDIA_REQUIRE_*", test_require}, {"variables", test_variables})
