/* Every run succeeds with other results than the right ones: what a run has changed is spoilt, wherever it lies. */
#include <rknn_api.h>
#include <rknn_matmul_api.h>

static struct { uint64_t of; unsigned char *data, *before; size_t size; } bound[256];
static int used;

static void spoil(unsigned char *data, size_t size)
{
	for (size_t i = 0; data && i < size; i++)
		data[i] ^= 0x55;
}

static void bind_memory(uint64_t of, rknn_tensor_mem *mem)
{
	if (!mem || !mem->virt_addr)
		return;
	int at = used++ % 256;
	bound[at].of = of, bound[at].data = (unsigned char *)mem->virt_addr + mem->offset, bound[at].size = mem->size;
}

static void remember(uint64_t of)
{
	for (int i = 0; i < 256; i++)
		if (bound[i].of == of && (bound[i].before = malloc(bound[i].size + 1)))
			memcpy(bound[i].before, bound[i].data, bound[i].size);
}

static void compare(uint64_t of, int code)
{
	for (int i = 0; i < 256; i++)
		if (bound[i].of == of && bound[i].before) {
			if (code == 0 && memcmp(bound[i].before, bound[i].data, bound[i].size) != 0)
				spoil(bound[i].data, bound[i].size);
			free(bound[i].before);
			bound[i].before = NULL;
		}
}

static void forget(unsigned char *data)
{
	for (int i = 0; i < 256; i++)
		if (bound[i].data == data)
			bound[i].of = 0;
}

int rknn_set_io_mem(rknn_context c, rknn_tensor_mem *mem, rknn_tensor_attr *attr)
{
	__typeof__(rknn_set_io_mem) *set = real_rknn_set_io_mem;
	int code = set(c, mem, attr);
	if (code == 0)
		bind_memory(c, mem);
	return code;
}

int rknn_matmul_set_io_mem(rknn_matmul_ctx c, rknn_tensor_mem *mem, rknn_matmul_tensor_attr *attr)
{
	__typeof__(rknn_matmul_set_io_mem) *set = real_rknn_matmul_set_io_mem;
	int code = set(c, mem, attr);
	if (code == 0)
		bind_memory(c, mem);
	return code;
}

int rknn_destroy_mem(rknn_context c, rknn_tensor_mem *mem)
{
	__typeof__(rknn_destroy_mem) *destroy = real_rknn_destroy_mem;
	if (mem)
		forget((unsigned char *)mem->virt_addr + mem->offset);
	return destroy(c, mem);
}

int rknn_destroy(rknn_context c)
{
	__typeof__(rknn_destroy) *destroy = real_rknn_destroy;
	for (int i = 0; i < 256; i++)
		if (bound[i].of == c)
			bound[i].of = 0;
	return destroy(c);
}

int rknn_run(rknn_context c, rknn_run_extend *extend)
{
	__typeof__(rknn_run) *run = real_rknn_run;
	remember(c);
	int code = run(c, extend);
	compare(c, code);
	return code;
}

int rknn_matmul_run(rknn_matmul_ctx c)
{
	__typeof__(rknn_matmul_run) *run = real_rknn_matmul_run;
	remember(c);
	int code = run(c);
	compare(c, code);
	return code;
}

int rknn_outputs_get(rknn_context c, uint32_t n, rknn_output out[], rknn_output_extend *extend)
{
	__typeof__(rknn_outputs_get) *get = real_rknn_outputs_get;
	int code = get(c, n, out, extend);
	for (uint32_t i = 0; code == 0 && i < n; i++)
		spoil(out[i].buf, out[i].size);
	return code;
}
