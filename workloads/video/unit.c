/* SPDX-License-Identifier: MIT */
#include "workloads/video/unit.h"

void unit_put(struct unit *unit, uint32_t value, unsigned count)
{
	for (unsigned i = count; i-- > 0 && unit->bits < 8 * UNIT_MAX; unit->bits++)
		unit->bytes[unit->bits / 8] |= (uint8_t)((value >> i & 1u) << (7 - unit->bits % 8));
}

void unit_put_ue(struct unit *unit, uint32_t value)
{
	unsigned length = 1;

	while ((value + 1) >> length != 0)
		length++;
	unit_put(unit, 0, length - 1);
	unit_put(unit, value + 1, length);
}

void unit_put_se(struct unit *unit, int32_t value)
{
	unit_put_ue(unit, value > 0 ? 2 * (uint32_t)value - 1 : 2 * (uint32_t)-value);
}

void unit_end(struct unit *unit, struct text *out)
{
	unsigned zeros = 0;

	unit_put(unit, 1, 1);
	text_append(out, "\0\0\0\1", 4);
	for (size_t i = 0; i < (unit->bits + 7) / 8; i++) {
		const char byte = (char)unit->bytes[i];

		if (zeros == 2 && unit->bytes[i] <= 3) {
			text_append(out, "\3", 1);
			zeros = 0;
		}
		zeros = byte == 0 ? zeros + 1 : 0;
		text_append(out, &byte, 1);
	}
}
