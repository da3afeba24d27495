/* SPDX-License-Identifier: MIT */
/*
 * An empty program that links the libraries of the reference plugin: the floor of its start and of
 * its memory. usage: bench_empty [MILLISECONDS FILE]: makes the file, then waits
 */
#include <cjson/cJSON.h>
#include <nghttp2/nghttp2.h>
#include <protobuf-c/protobuf-c.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <uv.h>
#include <yaml.h>

int main(int argc, char **argv)
{
	/* Referenced, so that the linker keeps each library. */
	const void *const used[] = {
		(const void *)cJSON_Version(),	    (const void *)nghttp2_version(0),
		(const void *)protobuf_c_version(), (const void *)sodium_version_string(),
		(const void *)uv_version_string(),  (const void *)yaml_get_version_string(),
	};
	if (argc == 3) {
		FILE *file = fopen(argv[2], "w");
		if (file == NULL || fclose(file) != 0)
			return 1;
		uv_sleep((unsigned)strtoul(argv[1], NULL, 10));
	}
	return used[0] == NULL;
}
