/* SPDX-License-Identifier: MIT */
#pragma once

/* The part of the CUDA driver API that tells the devices. The prototypes are declared here: the
 * driver's library has a stable binary interface, and its header is not free to redistribute.
 * Source: CUDA Driver API reference, modules Initialization, Version Management, Device Management.
 */

#include <stdint.h>

typedef int cuda_result;
typedef int cuda_device;

struct cuda_uuid {
	uint8_t bytes[16];
};

#define CUDA_SUCCESS	     0
#define CUDA_ERROR_NO_DEVICE 100

enum cuda_attribute {
	CUDA_ATTRIBUTE_MULTIPROCESSORS = 16,
	CUDA_ATTRIBUTE_INTEGRATED = 18,
	CUDA_ATTRIBUTE_PCI_BUS = 33,
	CUDA_ATTRIBUTE_PCI_DEVICE = 34,
	CUDA_ATTRIBUTE_PCI_DOMAIN = 50,
	CUDA_ATTRIBUTE_CAPABILITY_MAJOR = 75,
	CUDA_ATTRIBUTE_CAPABILITY_MINOR = 76,
};
