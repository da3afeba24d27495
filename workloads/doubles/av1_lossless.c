/* SPDX-License-Identifier: MIT */
/* Sections of the specification of AV1: 5.11 (blocks), 7.11.2 (prediction), 7.13.2.10 (transform), 8.3
 * (choice of tables). */
#include "workloads/doubles/av1_lossless.h"

#include <stdlib.h>
#include <string.h>

enum { SIDE = AV1_LOSSLESS_SIDE, BLOCK = 4, SAMPLES = 16, UNITS = SIDE / BLOCK };
enum { BASE_LEVELS = 2, RANGE_STEP = 3, RANGE_STEPS = 4, LEVEL_MAX = 14 };
enum { CULLED_MAX = 63 };

/* Section 9.3, for base_q_idx up to 20 and transforms of 4 by 4, without unused tables. */
static const uint16_t partition[] = {20137, 21547, 23078, 29566, 29837, 30261, 30524, 30892, 31724};
static const uint16_t skip[] = {31671};
static const uint16_t key_mode[] = {15588, 17027, 19338, 20218, 20682, 21110,
				    21825, 23244, 24189, 28165, 29093, 30466};
static const uint16_t mode[] = {20155, 21301, 22838, 23178, 23261, 23532,
				23703, 24804, 25352, 26575, 27016, 28049};
static const uint16_t chroma_mode[] = {22631, 24152, 25378, 25661, 25986, 26520,
				       27055, 27923, 28244, 30059, 30941, 31961};
static const uint16_t inter[] = {806};
static const uint16_t all_zero[][1] = {{31849}, {5892},	 {12112}, {21935}, {20289},
				       {27473}, {32487}, {7654},  {19473}, {29984},
				       {9961},	{30242}, {32117}};
static const uint16_t ends[][4] = {{840, 1039, 1980, 4895}, {3247, 4950, 9688, 14563}};
static const uint16_t ends_extra[][1] = {{16961}, {17223}, {7621}, {19069}, {22525}, {13377}};
static const uint16_t dc_sign[][1] = {{16000}, {13056}, {18816}, {15232}, {12928}, {17280}};
static const uint16_t last[][2] = {{17837, 29055}, {29600, 31446}, {30844, 31878}, {24926, 28948},
				   {21365, 30026}, {30512, 32423}, {31658, 32621}, {29630, 31881}};
static const uint16_t base[][3] = {
	{4034, 8930, 12727},   {18082, 29741, 31877}, {12596, 26124, 30493}, {9446, 21118, 27005},
	{6308, 15141, 21279},  {2463, 6357, 9783},    {20667, 30546, 31929}, {13043, 26123, 30134},
	{8151, 18757, 24778},  {5255, 12839, 18632},  {2820, 7206, 11161},   {15736, 27553, 30604},
	{11210, 23794, 28787}, {5947, 13874, 19701},  {4215, 9323, 13891},   {2833, 6462, 10059},
	{6302, 16444, 21761},  {23040, 31538, 32475}, {15196, 28452, 31496}, {10020, 22946, 28514},
	{6533, 16862, 23501},  {3538, 9816, 15076},   {24444, 31875, 32525}, {15881, 28924, 31635},
	{9922, 22873, 28466},  {6527, 16966, 23691},  {4114, 11303, 17220},  {20201, 30770, 32209},
	{14754, 28071, 31258}, {8378, 20186, 26517},  {5916, 15299, 21978},  {4268, 11583, 17901}};
static const uint16_t more[][3] = {
	{14298, 20718, 24174}, {12536, 19601, 23789}, {8712, 15051, 19503},  {6170, 11327, 15434},
	{4742, 8926, 12538},   {3803, 7317, 10546},   {1696, 3317, 4871},    {14392, 19951, 22756},
	{15978, 23218, 26818}, {12187, 19474, 23889}, {9176, 15640, 20259},  {7068, 12655, 17028},
	{5656, 10442, 14472},  {2580, 4992, 7244},    {12136, 18049, 21426}, {13784, 20721, 24481},
	{10836, 17621, 21900}, {8372, 14444, 18847},  {6523, 11779, 16000},  {5337, 9898, 13760},
	{3034, 5860, 8462},    {15967, 22905, 26286}, {13534, 20654, 24579}, {9504, 16092, 20535},
	{6975, 12568, 16903},  {5364, 10091, 14020},  {4357, 8370, 11857},   {2506, 4934, 7218},
	{23032, 28815, 30936}, {19540, 26704, 29719}, {15158, 22969, 27097}, {11408, 18865, 23650},
	{8885, 15448, 20250},  {7108, 12853, 17416},  {4231, 8041, 11480},   {19823, 26490, 29156},
	{18890, 25929, 28932}, {15660, 23491, 27433}, {12147, 19776, 24488}, {9728, 16774, 21649},
	{7919, 14277, 19066},  {5440, 10170, 14185}};

static void fill(av1_cdf *cdfs, const uint16_t *values, size_t rows, size_t symbols)
{
	for (size_t i = 0; i < rows; i++) {
		memcpy(cdfs[i], values + i * (symbols - 1), (symbols - 1) * sizeof(*values));
		cdfs[i][symbols - 1] = 32768;
		cdfs[i][symbols] = 0;
	}
}

static void begin_tables(struct av1_tables *tables)
{
	fill(&tables->partition, partition, 1, 10);
	fill(&tables->skip, skip, 1, 2);
	fill(&tables->key_mode, key_mode, 1, 13);
	fill(&tables->mode, mode, 1, 13);
	fill(&tables->chroma_mode, chroma_mode, 1, 13);
	fill(&tables->inter, inter, 1, 2);
	fill(tables->all_zero, all_zero[0], 13, 2);
	fill(tables->ends, ends[0], 2, 5);
	fill(tables->ends_extra[0], ends_extra[0], 6, 2);
	fill(tables->dc_sign[0], dc_sign[0], 6, 2);
	fill(tables->last[0], last[0], 8, 3);
	fill(tables->base[0], base[0], 32, 4);
	fill(tables->more[0], more[0], 42, 4);
}

/* The counts of symbols start at 0 in each frame. */
static void forget(av1_cdf *cdfs, size_t rows, size_t symbols)
{
	for (size_t i = 0; i < rows; i++)
		cdfs[i][symbols] = 0;
}

static void take_over(struct av1_tables *tables)
{
	forget(&tables->partition, 1, 10);
	forget(&tables->skip, 1, 2);
	forget(&tables->key_mode, 1, 13);
	forget(&tables->mode, 1, 13);
	forget(&tables->chroma_mode, 1, 13);
	forget(&tables->inter, 1, 2);
	forget(tables->all_zero, 13, 2);
	forget(tables->ends, 2, 5);
	forget(tables->ends_extra[0], 6, 2);
	forget(tables->dc_sign[0], 6, 2);
	forget(tables->last[0], 8, 3);
	forget(tables->base[0], 32, 4);
	forget(tables->more[0], 42, 4);
}

/* The state of a plane that later blocks use, above and to the left. */
struct edges {
	unsigned above[UNITS], left[UNITS];	 /* sums of levels */
	int above_sign[UNITS], left_sign[UNITS]; /* sign of the mean: -1, 0 or 1 */
};

struct coder {
	struct av1_symbols symbols;
	struct av1_tables *tables;
	const struct video_planes *frame;
	struct edges edges;
	unsigned plane;
};

/* The scan order of levels. */
static const uint8_t scan[SAMPLES] = {0, 1, 4, 8, 5, 2, 3, 6, 9, 12, 13, 10, 7, 11, 14, 15};

static int sample_at(const struct coder *coder, unsigned x, unsigned y)
{
	return coder->frame->data[coder->plane][y * coder->frame->pitch[coder->plane] + x];
}

/* 7.11.2.5: coding is lossless, so neighbours are the frame's own samples. */
static int mean_of(const struct coder *coder, unsigned x, unsigned y)
{
	const unsigned sides = (x > 0 ? 1u : 0u) + (y > 0 ? 1u : 0u);
	int sum = 0;
	for (unsigned i = 0; i < BLOCK; i++)
		sum += (x > 0 ? sample_at(coder, x - 1, y + i) : 0) +
		       (y > 0 ? sample_at(coder, x + i, y - 1) : 0);
	return sides == 0 ? 128 : sides == 1 ? (sum + 2) >> 2 : (sum + 4) >> 3;
}

/* The inverse of 7.13.2.10, for a row or a column. */
static void transform(int *values, size_t step)
{
	int a = values[0], b = values[step], c = values[2 * step], d = values[3 * step];
	d -= c;
	a += b;
	const int middle = (a - d) >> 1;
	b = middle - b;
	c = middle - c;
	values[0] = a - c;
	values[step] = c;
	values[2 * step] = d + b;
	values[3 * step] = b;
}

static void find_levels(const struct coder *coder, unsigned x, unsigned y, int *levels)
{
	const int mean = mean_of(coder, x, y);
	for (unsigned i = 0; i < SAMPLES; i++)
		levels[i] = sample_at(coder, x + i % BLOCK, y + i / BLOCK) - mean;
	for (unsigned i = 0; i < BLOCK; i++)
		transform(levels + i, BLOCK);
	for (size_t i = 0; i < BLOCK; i++)
		transform(levels + i * BLOCK, 1);
}

static unsigned max(unsigned left, unsigned right)
{
	return left > right ? left : right;
}

static unsigned min(unsigned left, unsigned right)
{
	return left < right ? left : right;
}

static unsigned all_zero_context(const struct coder *coder, unsigned column, unsigned row)
{
	const struct edges *edges = &coder->edges;
	const unsigned above = edges->above[column], left = edges->left[row];
	if (coder->plane > 0)
		return 10 + (above > 0 || edges->above_sign[column] != 0 ? 1u : 0u) +
		       (left > 0 || edges->left_sign[row] != 0 ? 1u : 0u);
	if (above == 0 || left == 0)
		return above + left == 0 ? 1 : 2 + (max(above, left) > 3);
	return max(above, left) <= 3 ? 4 : min(above, left) <= 3 ? 5 : 6;
}

/* The sum of levels to the right and below, each up to a limit. */
static unsigned sum_near(const int *levels, unsigned at, const uint8_t (*places)[2], size_t count,
			 unsigned limit)
{
	unsigned sum = 0;
	for (size_t i = 0; i < count; i++) {
		const unsigned row = at / BLOCK + places[i][0], column = at % BLOCK + places[i][1];
		if (row < BLOCK && column < BLOCK)
			sum += min((unsigned)abs(levels[row * BLOCK + column]), limit);
	}
	return sum;
}

static unsigned base_context(const int *levels, unsigned at)
{
	static const uint8_t places[][2] = {{0, 1}, {1, 0}, {1, 1}, {0, 2}, {2, 0}};
	static const uint8_t begins[SAMPLES] = {0, 1, 6,  6,  1, 6,  6,	 11,
						6, 6, 11, 11, 6, 11, 11, 11};
	const unsigned near = min((sum_near(levels, at, places, 5, 3) + 1) >> 1, 4);
	return at == 0 ? 0 : begins[at] + near;
}

static unsigned more_context(const int *levels, unsigned at)
{
	static const uint8_t places[][2] = {{0, 1}, {1, 0}, {1, 1}};
	const unsigned near = min((sum_near(levels, at, places, 3, LEVEL_MAX + 1) + 1) >> 1, 6);
	return near + (at == 0 ? 0 : at / BLOCK < 2 && at % BLOCK < 2 ? 7 : 14);
}

/* 5.11.39: the position of the last level. */
static void put_end(struct coder *coder, unsigned count)
{
	const unsigned type = coder->plane > 0;
	const unsigned part = count < 3 ? count - 1 : count < 5 ? 2 : count < 9 ? 3 : 4;
	const unsigned rest = part >= 2 ? count - (1u << (part - 1)) - 1 : 0;
	av1_put_symbol(&coder->symbols, coder->tables->ends[type], 5, part);
	if (part < 2)
		return;
	av1_put_symbol(&coder->symbols, coder->tables->ends_extra[type][part - 2], 2,
		       rest >> (part - 2) & 1);
	av1_put_literal(&coder->symbols, rest & ((1u << (part - 2)) - 1), part - 2);
}

static void put_level(struct coder *coder, const int *levels, unsigned index, unsigned count)
{
	struct av1_tables *tables = coder->tables;
	const unsigned type = coder->plane > 0, at = scan[index], level = (unsigned)abs(levels[at]);
	const unsigned place = index == 0 ? 0 : index <= 2 ? 1 : index <= 4 ? 2 : 3;
	if (index + 1 == count)
		av1_put_symbol(&coder->symbols, tables->last[type][place], 3,
			       min(level, BASE_LEVELS + 1) - 1);
	else
		av1_put_symbol(&coder->symbols, tables->base[type][base_context(levels, at)], 4,
			       min(level, BASE_LEVELS + 1));
	unsigned known = BASE_LEVELS + 1;
	for (unsigned i = 0; i < RANGE_STEPS && level >= known; i++) {
		const unsigned step = min(level - known, RANGE_STEP);
		av1_put_symbol(&coder->symbols, tables->more[type][more_context(levels, at)], 4,
			       step);
		if (step < RANGE_STEP)
			break;
		known += step;
	}
}

static void put_golomb(struct coder *coder, unsigned value)
{
	unsigned length = 0;
	while (value >> length > 1)
		length++;
	av1_put_literal(&coder->symbols, 0, length);
	av1_put_literal(&coder->symbols, value, length + 1);
}

static void put_signs(struct coder *coder, const int *levels, unsigned count, unsigned column,
		      unsigned row)
{
	const int near = coder->edges.above_sign[column] + coder->edges.left_sign[row];
	const unsigned context = near < 0 ? 1 : near > 0 ? 2 : 0;
	for (unsigned i = 0; i < count; i++) {
		const int level = levels[scan[i]];
		if (level == 0)
			continue;
		if (i == 0)
			av1_put_symbol(&coder->symbols,
				       coder->tables->dc_sign[coder->plane > 0][context], 2,
				       level < 0);
		else
			av1_put_literal(&coder->symbols, level < 0, 1);
		if (abs(level) > LEVEL_MAX)
			put_golomb(coder, (unsigned)abs(level) - LEVEL_MAX);
	}
}

static void put_block(struct coder *coder, unsigned column, unsigned row)
{
	int levels[SAMPLES] = {0};
	unsigned count = SAMPLES, sum = 0;
	find_levels(coder, column * BLOCK, row * BLOCK, levels);
	while (count > 0 && levels[scan[count - 1]] == 0)
		count--;
	av1_put_symbol(&coder->symbols,
		       coder->tables->all_zero[all_zero_context(coder, column, row)], 2,
		       count == 0);
	if (count > 0)
		put_end(coder, count);
	for (unsigned i = count; i-- > 0;)
		put_level(coder, levels, i, count);
	put_signs(coder, levels, count, column, row);
	for (unsigned i = 0; i < SAMPLES; i++)
		sum += (unsigned)abs(levels[i]);
	coder->edges.above[column] = coder->edges.left[row] = min(sum, CULLED_MAX);
	coder->edges.above_sign[column] = coder->edges.left_sign[row] =
		(levels[0] > 0) - (levels[0] < 0);
}

/* One block, which is not skipped. */
static void put_modes(struct coder *coder, bool key)
{
	struct av1_tables *tables = coder->tables;
	av1_put_symbol(&coder->symbols, tables->partition, 10, 0);
	av1_put_symbol(&coder->symbols, tables->skip, 2, 0);
	if (!key)
		av1_put_symbol(&coder->symbols, tables->inter, 2, 0);
	av1_put_symbol(&coder->symbols, key ? tables->key_mode : tables->mode, 13, 0);
	av1_put_symbol(&coder->symbols, tables->chroma_mode, 13, 0);
}

void av1_lossless_add(struct av1_tables *tables, bool key, bool begin,
		      const struct video_planes *frame, struct text *tile)
{
	struct coder coder = {.tables = tables, .frame = frame};
	if (begin)
		begin_tables(tables);
	else
		take_over(tables);
	av1_symbols_begin(&coder.symbols);
	put_modes(&coder, key);
	for (coder.plane = 0; coder.plane < VIDEO_PLANES; coder.plane++) {
		const unsigned units = coder.plane == 0 ? UNITS : UNITS / 2;
		memset(&coder.edges, 0, sizeof(coder.edges));
		for (unsigned i = 0; i < units * units; i++)
			put_block(&coder, i % units, i / units);
	}
	av1_symbols_end(&coder.symbols, tile);
}
