/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The log: one line per refused call with function, argument and value; errors only by default; levels, components,
 * file and trace by variables that the program sets itself before its first call; a callback; the last error of each
 * thread.
 *
 *     logging default|off|trace|other|callback|bad FILE
 */
#include <pthread.h>

#include "host.h"

static char text[1 << 16];

static const char *contents(const char *path)
{
	FILE *f = fopen(path, "r");
	size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;
	text[n] = 0;
	if (f)
		fclose(f);
	return text;
}

static void has(const char *log, const char *line) { CHECK(strstr(log, line) != NULL, "want \"%s\" in:\n%s", line, log);
	}
static void lacks(const char *log, const char *line) { CHECK(strstr(log, line) == NULL, "did not want \"%s\" in:\n%s",
	line, log); }

/* One good call and two refused ones. */
static void calls(void)
{
	const char *name = NULL;
	NN_TensorDesc *desc = OH_NNTensorDesc_Create();
	CHECK(OH_NNTensorDesc_SetName(desc, "a b") == OH_NN_SUCCESS, "SetName");
	CHECK(OH_NNTensorDesc_SetDataType(desc, (OH_NN_DataType)77) == OH_NN_INVALID_PARAMETER, "SetDataType");
	CHECK(OH_NNTensorDesc_GetName(NULL, &name) == OH_NN_INVALID_PARAMETER, "GetName");
	CHECK(OH_NNTensorDesc_Destroy(&desc) == OH_NN_SUCCESS, "Destroy");
}

static int got;

static void on_message(int level, const char *component, const char *message, void *user)
{
	got++;
	CHECK(user == &got && level == ANYNPU_LOG_ERROR && strcmp(component, "ohnn") == 0, "level %d component %s", level,
		component);
	CHECK(strchr(message, '\n') == NULL && strstr(message, "function=OH_NN"), "message %s", message);
}

static void *other_thread(void *unused)
{
	CHECK(strcmp(anynpu_last_error(), "") == 0, "another thread's error: %s", anynpu_last_error());
	OH_NNTensorDesc_SetName(NULL, "x");
	CHECK(strcmp(anynpu_last_error(), "OH_NNTensorDesc_SetName: tensorDesc: NULL [argument-null]") == 0, "%s",
			anynpu_last_error());
	return unused;
}

int main(int argc, char **argv)
{
	CHECK(argc == 3, "usage: logging MODE FILE");
	const char *mode = argv[1], *file = argv[2];
	remove(file);
	host_begin();
	unsetenv("ANYNPU_LOG");
	setenv("ANYNPU_LOG_FILE", file, 1);
	if (strcmp(mode, "default") == 0) {
		calls();
		const char *log = contents(file);
		has(log, "ohnn: call failed function=OH_NNTensorDesc_SetDataType result=2 error=\"dataType: ");
		has(log, "ohnn: call failed function=OH_NNTensorDesc_GetName result=2 error=\"tensorDesc: NULL\" [argument-null]\n");
		lacks(log, "SetName");
	} else if (strcmp(mode, "off") == 0) {
		setenv("ANYNPU_LOG", "off", 1);
		calls();
		CHECK(*contents(file) == 0, "%s", text);
	} else if (strcmp(mode, "trace") == 0) {
		setenv("ANYNPU_LOG", "off, ohnn=trace", 1);
		calls();
		const char *log = contents(file);
		has(log, "ohnn: OH_NNTensorDesc_SetName(tensorDesc=0x");
		has(log, ", name=\"a b\") = OH_NN_SUCCESS in ");
		has(log, ", dataType=77) = OH_NN_INVALID_PARAMETER in ");
		has(log, "ohnn: OH_NNTensorDesc_GetName(tensorDesc=NULL, name=0x");
	} else if (strcmp(mode, "other") == 0) {
		setenv("ANYNPU_LOG", "trace,ohnn=off", 1);
		calls();
		anynpu_live_handles();
		const char *log = contents(file);
		lacks(log, "OH_NN");
		has(log, "anynpu: anynpu_live_handles() = 0 in ");
		has(log, " ms\n");
	} else if (strcmp(mode, "callback") == 0) {
		pthread_t t;
		CHECK(strcmp(anynpu_last_error(), "") == 0, "%s", anynpu_last_error());
		anynpu_set_log_callback(on_message, &got);
		calls();
		CHECK(got == 2, "%d messages", got);
		CHECK(strcmp(anynpu_last_error(), "OH_NNTensorDesc_GetName: tensorDesc: NULL [argument-null]") == 0, "%s",
			anynpu_last_error());
		pthread_create(&t, NULL, other_thread, NULL);
		pthread_join(t, NULL);
		CHECK(strcmp(anynpu_last_error(), "OH_NNTensorDesc_GetName: tensorDesc: NULL [argument-null]") == 0, "%s",
			anynpu_last_error());
		CHECK(*contents(file) == 0, "written although there is a callback: %s", text);
		anynpu_set_log_callback(NULL, NULL);
		calls();
		CHECK(got == 3, "%d messages", got);
		has(contents(file), "function=OH_NNTensorDesc_GetName");
	} else if (strcmp(mode, "bad") == 0) {
		setenv("ANYNPU_LOG", "loud,ohnn=quiet,error", 1);
		calls();
		const char *log = contents(file);
		has(log, "boundary: unknown level ignored ANYNPU_LOG=loud");
		has(log, "boundary: unknown level ignored ANYNPU_LOG=\"ohnn=quiet\"");
		has(log, "function=OH_NNTensorDesc_GetName");
	} else
		CHECK(0, "mode %s", mode);
	int left = host_end(); /* while the log still has its name */
	remove(file);
	return left;
}
