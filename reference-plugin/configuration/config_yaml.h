/* SPDX-License-Identifier: MIT */
#pragma once

#include "reference-plugin/configuration/config.h"

/*
 * Reads a YAML file over the values in `config`:
 *
 *   multitenancy: 4
 *   vendors: [NVIDIA, AMD]
 *   additionalMounts:
 *     NVIDIA:
 *       - {source: /usr/bin/nvidia-smi}                  # destination: the same path
 *       - {source: /opt/a, destination: /opt/b}
 *
 * and for the DirectX plugins, whose files lie in the driver's directory:
 *
 *   additionalMounts:
 *     Advanced Micro Devices, Inc.:
 *       - {source: amf\amfrt64.dll}                      # destination: System32\amfrt64.dll
 *   additionalMountsWow64:
 *     "0x10de":
 *       - {source: nvml32.dll, destination: nvml.dll}     # SysWOW64\nvml.dll
 *
 * A key without a value counts as not given. Errors are "FILE:LINE: ...". ERROR_FORMAT: no YAML, an
 * unknown key, a key given twice (in any case), a value of another type; ERROR_LIMIT: more than 1
 * MiB; and those of setting_set(), additional_mounts_add() and file_read().
 */
int config_read_yaml(const char *path, struct config *config, struct error *err);

/* The same for a text in memory; `name` stands in errors. */
int config_parse_yaml(const char *name, const char *data, size_t size, struct config *config,
		      struct error *err);
