/* SPDX-License-Identifier: MIT */
#pragma once

/* Objects of the component object model, of whatever interface. To be included behind the headers
 * that declare IUnknown. */

#include <stddef.h>

/* Releases an object; NULL is none. */
static inline void com_release(void *object)
{
	IUnknown *unknown = object;
	if (unknown != NULL)
		(void)unknown->lpVtbl->Release(unknown);
}
