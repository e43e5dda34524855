/*
 * What a vendor's converter has made, as a stand-in: an ONNX model whose bytes are turned, behind a head. The library
 * loads nothing else.
 */
static const char head[8] = "STANDIN";

/* is_converted tells whether bytes are a converted model. */
static int is_converted(const void *data, size_t size)
{
	return size > sizeof head && memcmp(data, head, sizeof head) == 0;
}

/* The ONNX model in a converted one. The caller frees it. */
static void *unwrapped(const void *data, size_t size)
{
	const unsigned char *from = (const unsigned char *)data + sizeof head;
	unsigned char *model = malloc(size);
	for (size_t i = 0; model && i < size - sizeof head; i++)
		model[i] = from[i] ^ 0x5a;
	return model;
}

/* The bytes of a file, NULL if it cannot be read. The caller frees them. */
static void *read_file(const char *path, size_t *size)
{
	FILE *f = fopen(path, "rb");
	if (!f)
		return NULL;
	unsigned char *data = malloc(1 << 26);
	*size = data ? fread(data, 1, 1 << 26, f) : 0;
	fclose(f);
	return data;
}
