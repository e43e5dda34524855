/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * hbDNNResize of a gray image and of a region of it, against the formula of the documents. The task handle that is
 * passed was never set, as public programs do.
 */
#include "hbdnn_sample.h"

enum { H = 12, W = 18, PITCH = 32, OH = 5, OW = 7, OPITCH = 16 };

static int64_t step(int64_t src, int64_t dst) { return dst == 1 ? 0 : ((src - 1) * 65536 + (dst - 1) / 2) / (dst - 1); }

/* The pixel of a result: bilinear, between pixels of the region, with weights of 16 bits. */
static int expected(const uint8_t *image, hbDNNRoi r, int row, int column)
{
	int64_t h = r.bottom - r.top + 1, w = r.right - r.left + 1;
	int64_t y = row * step(h, OH), x = column * step(w, OW), fy = y & 65535, fx = x & 65535, sum = 0;
	for (int k = 0; k < 4; k++) {
		int64_t yy = (y >> 16) + k / 2, xx = (x >> 16) + k % 2;
		int64_t weight = (k / 2 ? fy : 65536 - fy) * (k % 2 ? fx : 65536 - fx);
		yy = yy < h ? yy : h - 1;
		xx = xx < w ? xx : w - 1;
		sum += weight * image[(r.top + yy) * PITCH + r.left + xx];
	}
	return (int)((sum + ((int64_t)1 << 31)) >> 32);
}

int main(void)
{
	host_begin();
	hbDNNTensor from, to;
	hbDNNResizeCtrlParam control = {0};
	const hbDNNRoi whole = {0, 0, W - 1, H - 1}, part = {3, 2, 15, 9};
	sample_gray(&from, H, W, PITCH);
	sample_gray(&to, OH, OW, OPITCH);
	for (int i = 0; i < H * PITCH; i++)
		sample_bytes(&from)[i] = (uint8_t)(i * 37 + i / PITCH * 11);
	sample_clean(&from);
	for (int k = 0; k < 2; k++) {
		hbDNNTaskHandle_t task = (hbDNNTaskHandle_t)&task;
		memset(to.sysMem[0].virAddr, 0xa5, to.sysMem[0].memSize);
		OK(hbDNNResize(&task, &to, &from, k ? &part : NULL, &control));
		sample_finish(task);
		sample_invalidate(&to);
		for (int i = 0; i < OH * OW; i++) {
			int want = expected(sample_bytes(&from), k ? part : whole, i / OW, i % OW),
				got = sample_bytes(&to)[i / OW * OPITCH + i % OW];
			CHECK(got == want, "image %d, pixel %d: %d, want %d", k, i, got, want);
		}
	}
	OK(hbSysFreeMem(&from.sysMem[0]));
	OK(hbSysFreeMem(&to.sysMem[0]));
	printf("hbdnn_resize: an image and a region of it\n");
	return host_end();
}
