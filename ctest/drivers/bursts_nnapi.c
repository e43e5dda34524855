/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * A program for NNAPI that computes in bursts on a device of the library behind which the fake driver is, on two
 * threads at once. The driver, which is asked itself, has one burst for each of the program's, and frees it with that.
 *
 *     bursts_nnapi DRIVER
 */
#include <dlfcn.h>
#include <pthread.h>

#include "nnapi_host.h"

enum { N = 4, RUNS = 50, THREADS = 2 };

static void *driver;

static int count(const char *what)
{
	int32_t (*ask)(const char *);
	*(void **)&ask = dlsym(driver, "fake_count");
	return ask(what);
}

static int live(void)
{
	int (*ask)(void);
	*(void **)&ask = dlsym(driver, "fake_live");
	return ask();
}

/* A burst of its own: in it every other run is of a second execution. */
static void *computes(void *compilation)
{
	const float x[N] = {1, 2, 3, 4};
	float y[N], z[N];
	ANeuralNetworksExecution *e[] = {nn_execution(compilation), nn_execution(compilation)};
	ANeuralNetworksBurst *burst = NULL;
	OK(ANeuralNetworksBurst_create(compilation, &burst));
	for (int i = 0; i < 2; i++) {
		OK(ANeuralNetworksExecution_setReusable(e[i], true));
		nn_bind(e[i], x, y, z, N);
	}
	for (int run = 0; run < RUNS; run++) {
		y[0] = y[1] = y[2] = y[3] = (float)run;
		OK(ANeuralNetworksExecution_burstCompute(e[run % 2], burst));
		for (int i = 0; i < N; i++)
			CHECK(z[i] == x[i] + (float)run, "run %d: element %d: %g", run, i, (double)z[i]);
	}
	ANeuralNetworksBurst_free(burst);
	for (int i = 0; i < 2; i++)
		ANeuralNetworksExecution_free(e[i]);
	return NULL;
}

int main(int argc, char **argv)
{
	if (argc != 2)
		return puts("usage: bursts_nnapi DRIVER"), 2;
	host_keeps = argv[1];
	host_begin();
	pthread_t threads[THREADS];
	ANeuralNetworksCompilation *c = NULL;
	const ANeuralNetworksDevice *d = nn_device(0);
	ANeuralNetworksModel *m = nn_sum(N);
	OK(ANeuralNetworksCompilation_createForDevices(m, &d, 1, &c));
	OK(ANeuralNetworksCompilation_finish(c));
	ANeuralNetworksModel_free(m);
	driver = dlopen(argv[1], RTLD_NOW | RTLD_NOLOAD);
	CHECK(driver != NULL, "the driver is not open");
	int before = live();
	for (int i = 0; i < THREADS; i++)
		CHECK(pthread_create(&threads[i], NULL, computes, c) == 0, "no thread");
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	CHECK(live() == before, "%d objects of the driver, %d before the bursts", live(), before);
	CHECK(count("bursts") == THREADS, "%d bursts of the driver", count("bursts"));
	CHECK(count("computed in a burst") == THREADS * RUNS, "%d runs in bursts", count("computed in a burst"));
	CHECK(count("computed alone") == 0, "%d runs in no burst", count("computed alone"));
	ANeuralNetworksCompilation_free(c);
	CHECK(live() == 0, "%d objects of the driver", live());
	CHECK(count("freed too early") == 0, "the driver was to free what is in use");
	dlclose(driver);
	return host_end();
}
