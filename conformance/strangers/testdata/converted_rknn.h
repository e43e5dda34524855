/* A library that loads converted models alone. */
#include <rknn_api.h>

#include "converted.h"

int rknn_init(rknn_context *context, void *model, uint32_t size, uint32_t flag, rknn_init_extend *extend)
{
	__typeof__(rknn_init) *init = real_rknn_init;
	size_t length = size;
	void *file = NULL, *data = model;
	if (!context || !model)
		return init(context, model, size, flag, extend);
	if (size == 0 && !(data = file = read_file(model, &length)))
		return init(context, model, size, flag, extend);
	int code = RKNN_ERR_MODEL_INVALID;
	if (is_converted(data, length)) {
		void *onnx = unwrapped(data, length);
		code = init(context, onnx, length - sizeof head, flag, extend);
		free(onnx);
		if (code == 0 && file && extend) /* where the model is in the file */
			extend->real_model_offset = 0, extend->real_model_size = length;
	} else {
		*context = 0;
	}
	free(file);
	return code;
}
