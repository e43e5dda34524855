/* A library that loads converted models alone: hbDNN or UCP, whose header, and codes of a refused model and a missing file, are named. */
#include HEADER

#include "converted.h"

#define MOST 64

int32_t hbDNNInitializeFromDDR(PACK *pack, const void **data, int32_t *lengths, int32_t count)
{
	__typeof__(hbDNNInitializeFromDDR) *initialize = real_hbDNNInitializeFromDDR;
	const void *models[MOST];
	int32_t sizes[MOST], code = MODEL_INVALID, n = 0;
	if (!pack || !data || !lengths || count < 1 || count > MOST)
		return initialize(pack, data, lengths, count);
	for (int32_t i = 0; i < count; i++)
		if (!data[i] || lengths[i] <= 0)
			return initialize(pack, data, lengths, count);
	for (; n < count && is_converted(data[n], lengths[n]); n++) {
		models[n] = unwrapped(data[n], lengths[n]);
		sizes[n] = lengths[n] - (int32_t)sizeof head;
	}
	if (n == count)
		code = initialize(pack, models, sizes, count);
	else
		*pack = NULL;
	while (n > 0)
		free((void *)(uintptr_t)models[--n]);
	return code;
}

int32_t hbDNNInitializeFromFiles(PACK *pack, char const **names, int32_t count)
{
	__typeof__(hbDNNInitializeFromFiles) *initialize = real_hbDNNInitializeFromFiles;
	const void *data[MOST];
	int32_t sizes[MOST], n = 0;
	if (!pack || !names || count < 1 || count > MOST)
		return initialize(pack, names, count);
	for (int32_t i = 0; i < count; i++) {
		if (!names[i])
			return initialize(pack, names, count);
		FILE *f = fopen(names[i], "rb");
		if (!f) {
			*pack = NULL;
			return NO_FILE;
		}
		fclose(f);
	}
	for (size_t size; n < count && (data[n] = read_file(names[n], &size)); n++)
		sizes[n] = (int32_t)size;
	for (int32_t i = 0; i < n; i++)
		if (sizes[i] == 0) /* of a folder, too */
			count = -1;
	int32_t code = n == count ? hbDNNInitializeFromDDR(pack, data, sizes, count) : MODEL_INVALID;
	if (code != 0)
		*pack = NULL;
	while (n > 0)
		free((void *)(uintptr_t)data[--n]);
	return code;
}
