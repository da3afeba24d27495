/* SPDX-License-Identifier: MIT */
/* usage: print_product FILE: product.yaml as JSON, every value as text. */
#include "base/cleanup.h"
#include "base/file.h"
#include "reports/certificates/product.h"

#include <stdio.h>

int main(int argc, char **argv)
{
	struct product product CLEANUP_PRODUCT = {0};
	cJSON *json CLEANUP_JSON = NULL;
	char *data CLEANUP_FREE = NULL;
	struct error err = {0};
	size_t size = 0;
	int rc = argc == 2 ? file_read(argv[1], PRODUCT_FILE_MAX, &data, &size, &err) : -1;
	if (rc == 0)
		rc = product_parse(data, size, &product, &err);
	if (rc == 0)
		rc = product_to_json(data, size, &json, &err);
	char *text CLEANUP_FREE = json_print(json);
	if (rc < 0 || text == NULL) {
		(void)fprintf(stderr, "print_product: %s\n", err.text);
		return 1;
	}
	return fputs(text, stdout) < 0;
}
