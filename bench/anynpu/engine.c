/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * One engine of the comparison: this library through its C API. Loads a model file, runs it for some time, and prints
 * one JSON object; the outputs of the last run go to a file as they are in memory, one after another.
 *
 *     engine MODEL SECONDS RUNS OUTPUTS      (at least RUNS runs; the number of threads is ANYNPU_THREADS)
 *
 * Each run is followed by a call of getppid, at which an emulator can tell runs apart (bench/arm64_count.c).
 */
#include <unistd.h>

#include "model.h"

int main(int argc, char **argv)
{
	if (argc != 5) {
		fprintf(stderr, "usage: engine MODEL SECONDS RUNS OUTPUTS\n");
		return 2;
	}
	double limit = strtod(argv[2], NULL);
	size_t least = strtoul(argv[3], NULL, 10);
	const char *version = anynpu_version(); /* the first call starts the library: not part of loading */
	double start = now();
	struct model m = {.compilation = open_compilation(argv[1])};
	make_executor(&m);
	double load = now() - start;

	/* Warm up for a tenth of the time, at least twice. */
	start = now();
	for (int i = 0; i < 2 || now() - start < limit / 10; i++) {
		run_model(&m);
		getppid();
	}
	struct samples s = {NULL, 0, 0};
	for (double begin = now(), t = begin, end; s.count < least || t - begin < limit; t = end) {
		run_model(&m);
		end = now();
		add_sample(&s, end - t);
		getppid();
	}
	double peak = peak_rss();

	FILE *f = fopen(argv[4], "wb");
	CHECK(f != NULL, "%s", argv[4]);
	for (size_t i = 0; i < m.outs; i++) {
		size_t n;
		OK(OH_NNTensorDesc_GetByteSize(OH_NNTensor_GetTensorDesc(m.out[i]), &n));
		CHECK(fwrite(OH_NNTensor_GetDataBuffer(m.out[i]), 1, n, f) == n, "%s", argv[4]);
	}
	CHECK(fclose(f) == 0, "%s", argv[4]);
	printf("{\"version\": \"%s\", \"load\": %.9f, \"runs\": %zu, \"best\": %.9f, \"median\": %.9f, \"peak_rss\": %.0f}\n",
		version, load, s.count,
	       quantile(&s, 0), quantile(&s, 0.5), peak);
	drop_executor(&m);
	OH_NNCompilation_Destroy(&m.compilation);
	free(s.at);
	return 0;
}
