/* SPDX-License-Identifier: MIT */
/* Runs in a bare root folder: builds an OpenCL kernel from source on the first device of the first
 * platform, runs it and compares every element. Prints the platform's name. */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ELEMENTS = 4096 };

/* Declares a pointer to the loader's entry point of the same name and fills it. */
#define ENTRY(name)                                                                                \
	__typeof__(&(name)) name##_ = NULL;                                                        \
	load(loader, #name, &name##_)

static void load(void *loader, const char *name, void *entry)
{
	void *symbol = dlsym(loader, name);
	if (symbol == NULL) {
		(void)fprintf(stderr, "libOpenCL.so.1 has no %s\n", name);
		exit(3);
	}
	memcpy(entry, &symbol, sizeof(symbol));
}

static void check(cl_int status, const char *step)
{
	if (status != CL_SUCCESS) {
		(void)fprintf(stderr, "%s: %d\n", step, status);
		exit(1);
	}
}

static const char *source = "__kernel void combine(__global float *values, float factor)\n"
			    "{\n"
			    "	size_t i = get_global_id(0);\n"
			    "	values[i] = fma(values[i], factor, sqrt((float)(i * i)));\n"
			    "}\n";

static int run_kernel(void *loader, cl_device_id device)
{
	ENTRY(clCreateContext);
	ENTRY(clCreateCommandQueue);
	ENTRY(clCreateProgramWithSource);
	ENTRY(clBuildProgram);
	ENTRY(clCreateKernel);
	ENTRY(clCreateBuffer);
	ENTRY(clSetKernelArg);
	ENTRY(clEnqueueNDRangeKernel);
	ENTRY(clEnqueueReadBuffer);
	static float values[ELEMENTS];
	const float factor = 2.0F;
	const size_t global = ELEMENTS;
	cl_int status = CL_SUCCESS;
	for (int i = 0; i < ELEMENTS; i++)
		values[i] = (float)i;
	cl_context context = clCreateContext_(NULL, 1, &device, NULL, NULL, &status);
	check(status, "clCreateContext");
	cl_command_queue queue = clCreateCommandQueue_(context, device, 0, &status);
	check(status, "clCreateCommandQueue");
	cl_program program = clCreateProgramWithSource_(context, 1, &source, NULL, &status);
	check(status, "clCreateProgramWithSource");
	check(clBuildProgram_(program, 1, &device, "", NULL, NULL), "clBuildProgram");
	cl_kernel kernel = clCreateKernel_(program, "combine", &status);
	check(status, "clCreateKernel");
	cl_mem buffer = clCreateBuffer_(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
					sizeof(values), values, &status);
	check(status, "clCreateBuffer");
	check(clSetKernelArg_(kernel, 0, sizeof(cl_mem), &buffer), "clSetKernelArg 0");
	check(clSetKernelArg_(kernel, 1, sizeof(factor), &factor), "clSetKernelArg 1");
	check(clEnqueueNDRangeKernel_(queue, kernel, 1, NULL, &global, NULL, 0, NULL, NULL),
	      "clEnqueueNDRangeKernel");
	check(clEnqueueReadBuffer_(queue, buffer, CL_TRUE, 0, sizeof(values), values, 0, NULL,
				   NULL),
	      "clEnqueueReadBuffer");
	for (int i = 0; i < ELEMENTS; i++) {
		if (values[i] < 3.0F * (float)i - 0.01F || values[i] > 3.0F * (float)i + 0.01F) {
			(void)fprintf(stderr, "element %d is %f\n", i, (double)values[i]);
			return 1;
		}
	}
	return 0;
}

int main(void)
{
	void *loader = dlopen("libOpenCL.so.1", RTLD_NOW);
	if (loader == NULL) {
		(void)fprintf(stderr, "%s\n", dlerror());
		return 3;
	}
	ENTRY(clGetPlatformIDs);
	ENTRY(clGetPlatformInfo);
	ENTRY(clGetDeviceIDs);
	cl_platform_id platform = NULL;
	cl_device_id device = NULL;
	cl_uint count = 0;
	char name[256] = "";
	check(clGetPlatformIDs_(1, &platform, &count), "clGetPlatformIDs");
	check(clGetPlatformInfo_(platform, CL_PLATFORM_NAME, sizeof(name), name, NULL),
	      "clGetPlatformInfo");
	check(clGetDeviceIDs_(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL), "clGetDeviceIDs");
	(void)printf("%u %s\n", count, name);
	return run_kernel(loader, device);
}
