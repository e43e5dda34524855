/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * A C++ program with the plugin headers, linked to libdnn.so: its functions carry the symbol version that the vendor's
 * do, and those that register layers refuse.
 */
#include <dlfcn.h>

#include <dnn/hb_dnn.h>
#include <dnn/hb_dnn_status.h>
#include <dnn/plugin/hb_dnn_layer.h>
#include <dnn/plugin/hb_dnn_plugin.h>

#include "host.h"

static hobot::dnn::Layer *none() { return nullptr; }

int main()
{
	host_begin();
	CHECK(hbDNNRegisterLayerCreator("Mine", none) == HB_DNN_API_USE_ERROR, "registered");
	CHECK(hbDNNRegisterLayerCreator(nullptr, nullptr) == HB_DNN_API_USE_ERROR, "registered");
	CHECK(hbDNNUnregisterLayerCreator("Mine") == HB_DNN_API_USE_ERROR, "removed");
	CHECK(!strcmp(hbDNNGetErrorDesc(HB_DNN_API_USE_ERROR), "wrong use of the API"), "%s",
		hbDNNGetErrorDesc(HB_DNN_API_USE_ERROR));
	CHECK(!strcmp(hbDNNGetErrorDesc(HB_SYS_OUT_OF_MEMORY), "out of memory in a memory function"), "%s",
	      hbDNNGetErrorDesc(HB_SYS_OUT_OF_MEMORY));
	CHECK(!strcmp(hbDNNGetErrorDesc(12345), "unknown error"), "%s", hbDNNGetErrorDesc(12345));
	void *lib = dlopen("libdnn.so", RTLD_NOW | RTLD_NOLOAD);
	CHECK(lib, "%s", dlerror());
	CHECK(dlvsym(lib, "hbDNNInfer", "CONFIG"), "hbDNNInfer@CONFIG: %s", dlerror());
	CHECK(dlvsym(lib, "hbSysAllocMem", "CONFIG"), "hbSysAllocMem@CONFIG: %s", dlerror());
	CHECK(dlsym(lib, "hbDNNInfer") == dlvsym(lib, "hbDNNInfer", "CONFIG"),
		"a program without versions gets another function");
	CHECK(!dlvsym(lib, "hbDNNInfer", "OTHER"), "any version will do");
	dlclose(lib);
	return host_end();
}
