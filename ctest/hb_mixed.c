/*
 * SPDX-License-Identifier: Apache-2.0
 *
 *     hb_mixed FOLDER
 *
 * Which generation of hbDNN a process uses, without headers of either: by ANYNPU_HBDNN_ABI, by libhbucp.so if that is
 * opened before the first call, else the older one. Calls of the other generation are refused with its code for wrong
 * use. Each case is a process, as its first call decides.
 */
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host.h"

enum { OLDER_USE = -6000015, NEWER_USE = -100002, OLDER_NULL = -6000001, NEWER_NULL = -100001 };

static char folder[1024];

static void *open_library(const char *name)
{
	char path[1200];
	snprintf(path, sizeof path, "%s/%s", folder, name);
	void *l = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
	CHECK(l, "%s", dlerror());
	return l;
}

static void *find(void *library, const char *name)
{
	void *f = dlsym(library, name);
	CHECK(f, "%s is missing", name);
	return f;
}

static int call(void *f) { return ((int (*)(void *, void *, void *, void *, void *, void *))f)(NULL, NULL, NULL, NULL, NULL, NULL); }

static void newer(void *dnn, void *ucp)
{
	CHECK(call(find(dnn, "hbDNNGetModelNameList")) == NEWER_NULL, "a name that both have");
	CHECK(call(find(dnn, "hbDNNInferV2")) == NEWER_NULL, "hbDNNInferV2");
	CHECK(call(find(dnn, "hbDNNInfer")) == OLDER_USE, "hbDNNInfer");
	CHECK(call(find(dnn, "hbSysFreeMem")) == OLDER_USE, "hbSysFreeMem");
	CHECK(!strncmp(((char *(*)(void))find(dnn, "hbDNNGetVersion"))(), "3.", 2), "hbDNNGetVersion");
	if (ucp)
		CHECK(call(find(ucp, "hbUCPFree")) == NEWER_NULL, "hbUCPFree");
}

static void older(void *dnn, void *ucp)
{
	CHECK(call(find(dnn, "hbDNNGetInputCount")) != NEWER_NULL, "a name that both have");
	CHECK(call(find(dnn, "hbDNNInferV2")) == NEWER_USE, "hbDNNInferV2");
	CHECK(call(find(dnn, "hbSysFreeMem")) != OLDER_USE, "hbSysFreeMem");
	CHECK(!strncmp(((char *(*)(void))find(dnn, "hbDNNGetVersion"))(), "1.", 2), "hbDNNGetVersion");
	if (ucp)
		CHECK(call(find(ucp, "hbUCPFree")) == NEWER_USE, "hbUCPFree");
}

static void plain(void) { older(open_library("libdnn.so"), NULL); }
static void opened(void)
{
	void *ucp = open_library("libhbucp.so");
	newer(open_library("libdnn.so"), ucp);
}
static void opened_late(void)
{
	void *dnn = open_library("libdnn.so");
	call(find(dnn, "hbDNNGetModelNameList"));
	older(dnn, open_library("libhbucp.so"));
}
static void by_call(void)
{
	void *dnn = open_library("libdnn.so");
	call(find(dnn, "hbDNNInferV2"));
	newer(dnn, NULL);
}
static void set_newer(void)
{
	static char variable[] = "ANYNPU_HBDNN_ABI=ucp";
	putenv(variable);
	newer(open_library("libdnn.so"), NULL);
}
static void set_older(void)
{
	static char variable[] = "ANYNPU_HBDNN_ABI=1.23";
	putenv(variable);
	void *ucp = open_library("libhbucp.so");
	older(open_library("libdnn.so"), ucp);
}
static void others(void)
{
	opened();
	CHECK(call(find(open_library("libhbvp.so"), "hbVPResize")) == NEWER_USE, "hbVPResize");
	CHECK(call(find(open_library("libhbhpl.so"), "hbFFT1D")) == NEWER_USE, "hbFFT1D");
	CHECK(call(find(open_library("libhbdsp_plugin.so"), "hbDSPRpcV2")) == NEWER_USE, "hbDSPRpcV2");
}
/* In a forked child every call has the code of the process's generation. */
static void forked(void)
{
	int status;
	opened();
	void *dnn = open_library("libdnn.so");
	pid_t child = fork();
	if (child == 0)
		_exit(call(find(dnn, "hbDNNGetModelNameList")) == NEWER_USE && call(find(dnn, "hbSysFreeMem")) == OLDER_USE ? 0 : 1);
	CHECK(waitpid(child, &status, 0) == child && status == 0, "status %#x", (unsigned)status);
}

static const struct {
	const char *name;
	void (*f)(void);
} cases[] = {{"plain", plain}, {"opened", opened}, {"opened late", opened_late}, {"by call", by_call}, {"set newer", set_newer},
	{"set older", set_older}, {"others", others}, {"forked", forked}};

static const char *core_name(void)
{
	static char name[sizeof folder + 32];
	snprintf(name, sizeof name, "%s/libanynpu.so.0", folder);
	return name;
}

int main(int argc, char **argv)
{
	CHECK(argc == 2, "usage: hb_mixed FOLDER");
	snprintf(folder, sizeof folder, "%s", argv[1]);
	/* The core alone, which says nothing of generations, so that what is left behind can be counted. */
	CHECK(dlopen(core_name(), RTLD_NOW | RTLD_GLOBAL), "%s", dlerror());
	host_begin();
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		int status;
		pid_t child = fork();
		if (child == 0) {
			cases[i].f();
			_exit(0);
		}
		CHECK(waitpid(child, &status, 0) == child && status == 0, "%s: status %#x", cases[i].name, (unsigned)status);
	}
	printf("hb_mixed: %zu cases\n", sizeof cases / sizeof *cases);
	return host_end();
}
