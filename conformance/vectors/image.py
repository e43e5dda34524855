#!/usr/bin/env python3
"""Writes backends/cpu/ref/testdata/image/decode.json and resize.json: images of every kind, range, order and odd size with
results in float64 and in Python's integers, from the formulas of docs/abi/hbdnn.md, sections 6, 8 and 11.

usage: pip install -r requirements.txt; python image.py <repository>

Where a rule of OpenCV is the same but for its rounding, the results are held against it, and the largest difference in levels of
a byte is printed. A case is as spatial.py writes it.
"""
import itertools
import json
import os
import sys

import cv2
import numpy as np

GRAY, RGB, BGR, YUV444, NV12, NV21 = range(6)
NAMES = ["gray", "rgb", "bgr", "yuv444", "nv12", "nv21"]
ORDERS = ["rgb", "bgr", "yuv444", "gray"]
rng = np.random.default_rng(7)
cases = {"decode_image": [], "resize_image": []}


def tensor(a):
    data = [float(str(np.float32(v))) if a.dtype == np.float64 else int(v) for v in a.ravel()]
    return {"dtype": "float32" if a.dtype == np.float64 else str(a.dtype), "dims": list(a.shape), "data": data}


def add(op, name, attrs, ins, outs):
    cases[op].append({"name": name, "op": op, "attrs": attrs, "in": [None if i is None else tensor(i) for i in ins],
                      "out": [tensor(o) for o in outs], "by": "image.py"})


def image(pixel, n, h, w, interleaved):
    """Returns the inputs of an image and its components [n, h, w, 3 or 1] in the order y, u, v or r, g, b."""
    if pixel in (NV12, NV21):
        y = rng.integers(0, 256, (n, h, w)).astype(np.uint8)
        uv = rng.integers(0, 256, (n, h // 2, w // 2, 2)).astype(np.uint8)
        whole = np.zeros((n, h, w, 3), np.uint8)
        for row, col in itertools.product(range(h), range(w)):
            pair = uv[:, min(row // 2, h // 2 - 1), min(col // 2, w // 2 - 1)]
            whole[:, row, col, 0] = y[:, row, col]
            whole[:, row, col, 1:] = pair if pixel == NV12 else pair[:, ::-1]
        return [y, uv], whole
    x = rng.integers(0, 256, (n, h, w, 1 if pixel == GRAY else 3)).astype(np.uint8)
    stored = x if interleaved else np.ascontiguousarray(x.transpose(0, 3, 1, 2))
    return [stored], x[..., ::-1] if pixel == BGR else x


def block(planes):
    """Puts luma and chroma into one tensor; the byte of an odd row that belongs to no pair is not 0."""
    y, uv = planes
    n, h, w = y.shape
    out = np.full((n, h + h // 2, w), 201, np.uint8)
    out[:, :h] = y
    out[:, h:, :w // 2 * 2] = uv.reshape(n, h // 2, w // 2 * 2)
    return out


def decode(pixel, x, order, video):
    """Returns the channels in float64 before mean and scale."""
    x = x.astype(np.float64)
    if pixel in (YUV444, NV12, NV21) and order != 2:
        y, u, v = x[..., 0], x[..., 1] - 128, x[..., 2] - 128
        if video:
            z = 1.164 * (y - 16)
            r, g, b = z + 1.596 * v, z - 0.391 * u - 0.813 * v, z + 2.018 * u
        else:
            z = y
            r, g, b = y + 1.402 * v, y - 0.344136 * u - 0.714136 * v, y + 1.772 * u
        if order == 3:
            return z[..., None]
        x = np.stack([r, g, b], -1)
    return x[..., ::-1] if order == 1 else x


def decode_cases():
    norms = [([], []), ([123.675, 116.28, 103.53], [0.01712475, 0.017507, 0.01742919]), ([127.5], [0.0078125]), ([10], []),
             ([], [0.00392157])]
    k = 0
    for pixel in range(6):
        yuv = pixel >= YUV444
        for order, video, interleaved, last in itertools.product(range(4), (False, True), (False, True), (False, True)):
            ok = order == 3 if pixel == GRAY else yuv or order < 2
            if not ok or video and (not yuv or order == 2) or interleaved and pixel >= NV12:
                continue
            for h, w in ((4, 6), (5, 7)) if yuv else ((3, 5),):
                mean, scale = norms[k % len(norms)]
                if order == 3:
                    mean, scale = mean[:1], scale[:1]
                k += 1
                n = 1 + k % 2
                ins, x = image(pixel, n, h, w, interleaved)
                f32 = lambda v, none: np.array(v if v else [none], np.float32).astype(np.float64)
                y = (decode(pixel, x, order, video) - f32(mean, 0)) * f32(scale, 1)
                y = np.ascontiguousarray(y if last else y.transpose(0, 3, 1, 2))
                attrs = {"Pixel": pixel, "Interleaved": interleaved, "Range": int(video), "Order": order, "Mean": mean,
                         "Scale": scale, "ChannelsLast": last}
                name = f"{NAMES[pixel]} to {ORDERS[order]}{', video range' if video else ''}"
                name += f"{', interleaved' if interleaved else ''}{', channels last' if last else ''}, {h} x {w}"
                add("decode_image", name, attrs, ins, [y])
                if pixel >= NV12:
                    add("decode_image", name + ", one block", attrs, [block(ins)], [y])


def resized(x, region, h, w):
    """Resizes the region of x [H, W, C]; region is left, top, right, bottom."""
    left, top, right, bottom = region

    def cells(first, last, dst):
        src = last - first + 1
        step = 0 if dst == 1 else ((src - 1) * 65536 + (dst - 1) // 2) // (dst - 1)
        for i in range(dst):
            at = i * step
            cell = at >> 16
            yield first + min(cell, src - 1), first + min(cell + 1, src - 1), at & 65535

    out = np.zeros((h, w, x.shape[2]), np.uint8)
    for i, (a, b, fy) in enumerate(cells(top, bottom, h)):
        for j, (c, d, fx) in enumerate(cells(left, right, w)):
            for k in range(x.shape[2]):
                p = lambda row, col: int(x[row, col, k])
                s = (65536 - fy) * ((65536 - fx) * p(a, c) + fx * p(a, d)) + fy * ((65536 - fx) * p(b, c) + fx * p(b, d))
                out[i, j, k] = (s + 2**31) >> 32
    return out


def resize_cases():
    sizes = [  # of the image, the result, the region of each of two images, None: whole
        ((8, 10), (4, 6), [(2, 2, 7, 7), (0, 0, 9, 7)]), ((8, 10), (8, 10), None), ((7, 9), (5, 3), [(1, 1, 8, 6), (3, 0, 3, 0)]),
        ((6, 6), (13, 9), [(1, 3, 4, 4), (5, 5, 5, 5)]), ((9, 7), (2, 2), [(-5, -1, 100, 4), (2, 3, 6, 2**31 - 1)]),
        ((7, 7), (3, 5), None), ((40, 60), (4, 5), [(3, 1, 58, 37), (0, 0, 59, 39)]),
    ]
    for pixel, ((h, w), (oh, ow), regions) in itertools.product(range(6), sizes):
        if h == 40 and pixel not in (GRAY, NV12):
            continue
        for interleaved in (False, True) if pixel < NV12 else (False,):
            n = 2 if regions else 1
            ins, _ = image(pixel, n, h, w, interleaved)
            cut = []
            for a, b, c, d in regions or [(0, 0, w - 1, h - 1)]:
                cut.append((max(a, 0), max(b, 0), min(c, w - 1), min(d, h - 1)))
            attrs = {"Pixel": pixel, "Interleaved": interleaved, "Height": oh, "Width": ow}
            name = f"{NAMES[pixel]}{', interleaved' if interleaved else ''}, {h} x {w} to {oh} x {ow}, {regions}"
            given = None if regions is None else np.array(regions, np.int32 if oh % 2 else np.int64)
            if pixel >= NV12:
                y = np.stack([resized(ins[0][i][..., None], cut[i], oh, ow)[..., 0] for i in range(n)])
                half = [tuple(min(v >> 1, m) for v, m in zip(c, (w // 2 - 1, h // 2 - 1) * 2)) for c in cut]
                uv = np.stack([resized(ins[1][i], half[i], oh // 2, ow // 2) for i in range(n)])
                add("resize_image", name, attrs, ins + [given], [y, uv])
                whole = np.zeros((n, oh + oh // 2, ow), np.uint8)
                whole[:, :oh], whole[:, oh:, :ow // 2 * 2] = y, uv.reshape(n, oh // 2, ow // 2 * 2)
                add("resize_image", name + ", one block", attrs, [block(ins), None, given], [whole])
                continue
            x = ins[0] if interleaved else ins[0].transpose(0, 2, 3, 1)
            y = np.stack([resized(x[i], cut[i], oh, ow) for i in range(n)])
            if not interleaved:
                y = y.transpose(0, 3, 1, 2)
            add("resize_image", name, attrs, ins + [None, given], [np.ascontiguousarray(y)])


def against_opencv():
    """NV12 in video range is OpenCV's rule with bytes as results, for luma of at least 16, below which OpenCV has black; full range
    is its YCrCb within its rounded factors."""
    ins, x = image(NV12, 1, 64, 48, False)
    for a in (ins[0], x[..., 0]):
        np.maximum(a, 16, out=a)
    ours = np.clip(decode(NV12, x, 0, True), 0, 255)[0]
    theirs = cv2.cvtColor(block(ins)[0], cv2.COLOR_YUV2RGB_NV12)
    print("nv12, video range: largest difference from OpenCV", np.abs(ours - theirs).max())
    assert np.abs(ours - theirs).max() < 1.2
    ours = np.clip(decode(YUV444, x, 0, False), 0, 255)[0]
    theirs = cv2.cvtColor(x[0][..., [0, 2, 1]].copy(), cv2.COLOR_YCrCb2RGB)
    print("yuv444, full range: largest difference from OpenCV", np.abs(ours - theirs).max())
    assert np.abs(ours - theirs).max() < 1.2


against_opencv()
decode_cases()
resize_cases()
for op, list_ in cases.items():
    name = op.removesuffix("_image") + ".json"
    with open(os.path.join(sys.argv[1], "backends/cpu/ref/testdata/image", name), "w", encoding="utf-8") as f:
        f.write("[\n" + ",\n".join(json.dumps(c, separators=(",", ":")) for c in list_) + "\n]\n")
    print(op, len(list_), "cases")
