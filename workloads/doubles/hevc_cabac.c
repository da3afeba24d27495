/* SPDX-License-Identifier: MIT */
#include "workloads/doubles/hevc_cabac.h"

/* Table 9-52: rangeTabLps. */
static const uint8_t ranges[64][4] = {
	{128, 176, 208, 240}, {128, 167, 197, 227}, {128, 158, 187, 216}, {123, 150, 178, 205},
	{116, 142, 169, 195}, {111, 135, 160, 185}, {105, 128, 152, 175}, {100, 122, 144, 166},
	{95, 116, 137, 158},  {90, 110, 130, 150},  {85, 104, 123, 142},  {81, 99, 117, 135},
	{77, 94, 111, 128},   {73, 89, 105, 122},   {69, 85, 100, 116},	  {66, 80, 95, 110},
	{62, 76, 90, 104},    {59, 72, 86, 99},	    {56, 69, 81, 94},	  {53, 65, 77, 89},
	{51, 62, 73, 85},     {48, 59, 69, 80},	    {46, 56, 66, 76},	  {43, 53, 63, 72},
	{41, 50, 59, 69},     {39, 48, 56, 65},	    {37, 45, 54, 62},	  {35, 43, 51, 59},
	{33, 41, 48, 56},     {32, 39, 46, 53},	    {30, 37, 43, 50},	  {29, 35, 41, 48},
	{27, 33, 39, 45},     {26, 31, 37, 43},	    {24, 30, 35, 41},	  {23, 28, 33, 39},
	{22, 27, 32, 37},     {21, 26, 30, 35},	    {20, 24, 29, 33},	  {19, 23, 27, 31},
	{18, 22, 26, 30},     {17, 21, 25, 28},	    {16, 20, 23, 27},	  {15, 19, 22, 25},
	{14, 18, 21, 24},     {14, 17, 20, 23},	    {13, 16, 19, 22},	  {12, 15, 18, 21},
	{12, 14, 17, 20},     {11, 14, 16, 19},	    {11, 13, 15, 18},	  {10, 12, 15, 17},
	{10, 12, 14, 16},     {9, 11, 13, 15},	    {9, 11, 12, 14},	  {8, 10, 12, 14},
	{8, 9, 11, 13},	      {7, 9, 11, 12},	    {7, 9, 10, 12},	  {7, 8, 10, 11},
	{6, 8, 9, 11},	      {6, 7, 9, 10},	    {6, 7, 8, 9},	  {2, 2, 2, 2},
};

/* Table 9-53: transIdxLps. */
static const uint8_t after_unlikely[64] = {
	0,  0,	1,  2,	2,  4,	4,  5,	6,  7,	8,  9,	9,  11, 11, 12, 13, 13, 15, 15, 16, 16,
	18, 18, 19, 19, 21, 21, 22, 22, 23, 24, 24, 25, 26, 26, 27, 27, 28, 29, 29, 30, 30, 30,
	31, 32, 32, 33, 33, 33, 34, 34, 35, 35, 35, 36, 36, 36, 37, 37, 37, 38, 38, 63,
};

void hevc_context_begin(struct hevc_context *context, unsigned value, unsigned quality)
{
	const int slope = ((int)value >> 4) * 5 - 45, offset = (((int)value & 15) << 3) - 16;
	int state = ((slope * (int)quality) >> 4) + offset;
	state = state < 1 ? 1 : state > 126 ? 126 : state;
	context->likely = state > 63;
	context->state = (unsigned)(state > 63 ? state - 64 : 63 - state);
}

void hevc_cabac_begin(struct hevc_cabac *cabac)
{
	cabac->low = cabac->outstanding = 0;
	cabac->range = 510;
	cabac->begun = false;
}

static void put_bit(struct hevc_cabac *cabac, unsigned bit)
{
	if (cabac->begun)
		h264_put_bits(&cabac->out, bit, 1);
	cabac->begun = true;
	for (; cabac->outstanding > 0; cabac->outstanding--)
		h264_put_bits(&cabac->out, 1 - bit, 1);
}

/* Writes the next bit, if it is known: not while `low` is between the halves. */
static void settle(struct hevc_cabac *cabac, unsigned half)
{
	if (cabac->low < half) {
		put_bit(cabac, 0);
	} else if (cabac->low >= 2 * half) {
		cabac->low -= 2 * half;
		put_bit(cabac, 1);
	} else {
		cabac->low -= half;
		cabac->outstanding++;
	}
}

static void renormalise(struct hevc_cabac *cabac)
{
	for (; cabac->range < 256; cabac->range <<= 1, cabac->low <<= 1)
		settle(cabac, 256);
}

void hevc_put_bin(struct hevc_cabac *cabac, struct hevc_context *context, bool bin)
{
	const unsigned unlikely = ranges[context->state][cabac->range >> 6 & 3];
	cabac->range -= unlikely;
	if (bin == context->likely) {
		context->state += context->state < 62;
	} else {
		cabac->low += cabac->range;
		cabac->range = unlikely;
		context->likely ^= context->state == 0;
		context->state = after_unlikely[context->state];
	}
	renormalise(cabac);
}

void hevc_put_bypass(struct hevc_cabac *cabac, unsigned value, unsigned count)
{
	while (count-- > 0) {
		cabac->low <<= 1;
		if (value >> count & 1u)
			cabac->low += cabac->range;
		settle(cabac, 512);
	}
}

void hevc_put_end(struct hevc_cabac *cabac, bool bin)
{
	cabac->range -= 2;
	if (bin) {
		cabac->low += cabac->range;
		cabac->range = 2;
	}
	renormalise(cabac);
	if (!bin)
		return;
	put_bit(cabac, cabac->low >> 9 & 1);
	h264_put_bits(&cabac->out, (cabac->low >> 7 & 3) | 1, 2);
}
