/* SPDX-License-Identifier: MIT */
/* Linker scripts over arbitrary bytes: a bounded number of names, none of them empty. */
#include "discovery/linux/linker_script.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct text_list inputs CLEANUP_TEXT_LIST = {0};
	(void)linker_script_inputs((const char *)data, size, &inputs, NULL);
	if (inputs.count > LINKER_SCRIPT_INPUTS_MAX)
		abort();
	for (size_t i = 0; i < inputs.count; i++) {
		if (inputs.items[i][0] == '\0')
			abort();
	}
	return 0;
}
