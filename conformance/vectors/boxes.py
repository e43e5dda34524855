#!/usr/bin/env python3
"""Writes backends/cpu/ref/testdata/{axis_aligned_box_transform,box_with_nms_limit,generate_proposals,
heatmap_max_keypoint}.json: small cases with results of models in NumPy.

usage: pip install numpy; python boxes.py <repository>
"""
import numpy as np

from numpy_common import add, codes, f32, real, rng, tensor, write

EIGHTH = 0.125


def corners(count, per=1, height=40, width=60, least=2, share=0.3):
    """Boxes x1, y1, x2, y2 on eighths inside an image."""
    low = np.stack([rng.uniform(0, width * 0.7, (count, per)), rng.uniform(0, height * 0.7, (count, per))], -1)
    size = np.stack([rng.uniform(least, end * share, (count, per)) for end in (width, height)], -1)
    boxes = np.concatenate([low, low + size], -1)
    return (np.round(boxes / EIGHTH) * EIGHTH).reshape(count, per * 4).astype(np.float32)


def wide(q):
    """A region tensor of 16-bit codes at an eighth of a unit."""
    return tensor(codes(q, np.uint16, EIGHTH), EIGHTH)


def transform(boxes, deltas, batches, images):
    boxes, images = boxes.astype(np.float64), images.astype(np.float64)
    d = deltas.astype(np.float64).reshape(len(boxes), deltas.shape[1] // 4, 4)
    low, high = boxes[:, None, :2], boxes[:, None, 2:]
    size = high - low
    centre = (low + high) / 2 + d[..., :2] * size
    half = np.exp(d[..., 2:]) * size / 2
    end = images[batches][:, None, ::-1]
    out = np.concatenate([np.clip(centre - half, 0, end), np.clip(centre + half, 0, end)], -1)
    return out.reshape(deltas.shape)


def transforms():
    def case(name, count, classes, images, kind=np.float32):
        batches = np.sort(rng.integers(0, len(images), count)).astype(np.int32)
        images = np.array(images, np.float32).reshape(-1, 2)
        boxes, deltas = corners(count), f32(count, 4 * classes, lo=-1.2, hi=1.2)
        ins = [boxes, deltas, batches, images]
        if kind == "codes":
            q = codes(deltas, np.uint8, 0.05, 128)
            y = transform(boxes, real(q, 0.05, 128), batches, images)
            add("axis_aligned_box_transform", "axis_aligned_box_transform", name, {},
                [wide(boxes), tensor(q, 0.05, 128), batches, wide(images)], [wide(y)])
            return
        ins = [boxes.astype(kind), deltas.astype(kind), batches, images.astype(kind)]
        y = transform(*ins)
        add("axis_aligned_box_transform", "axis_aligned_box_transform", name, {}, ins, [y.astype(kind)])

    case("one", 1, 1, [[40, 60]])
    case("classes and images", 7, 3, [[40, 60], [30, 45]])
    case("unsorted", 5, 2, [[40, 60], [30, 45], [20, 20]])
    case("no boxes", 0, 2, [[40, 60]])
    case("float16", 4, 2, [[40, 60]], np.float16)
    case("codes", 6, 3, [[40, 60], [30, 45]], "codes")


def overlap(a, b):
    low, high = np.maximum(a[:2], b[:2]), np.minimum(a[2:], b[2:])
    shared = np.prod(np.maximum(high - low, 0))
    area = lambda r: np.prod(r[2:] - r[:2])
    return shared / (area(a) + area(b) - shared) if area(a) > 0 and area(b) > 0 else 0.0


def select(scores, boxes, batches, kernel, score, iou, sigma, keep, most):
    weigh = [lambda v: float(v < iou), lambda v: 1.0 if v < iou else 1 - v, lambda v: np.exp(-v * v / sigma)][kernel]
    n, classes = scores.shape
    boxes = boxes.astype(np.float64).reshape(n, classes, 4)
    rows = []
    starts = [i for i in range(n) if i == 0 or batches[i] != batches[i - 1]]
    for first, last in zip(starts, starts[1:] + [n]):
        own = []
        for c in range(1, classes):
            s = {i: float(scores[i, c]) for i in range(first, last) if scores[i, c] > score}
            count = 0
            while s and (most < 0 or count < most):
                top = min(s, key=lambda i: (-s[i], i))
                own.append((c, s.pop(top), top))
                count += 1
                s = {i: v * weigh(overlap(boxes[i, c], boxes[top, c])) for i, v in s.items()}
                s = {i: v for i, v in s.items() if v >= keep}
        if 0 <= most < len(own):
            own = sorted(sorted(own, key=lambda r: -r[1])[:most], key=lambda r: r[0])
        rows += [(v, boxes[i, c], c, batches[i]) for c, v, i in own]
    return (np.array([r[0] for r in rows]), np.array([r[1] for r in rows]).reshape(-1, 4),
            np.array([r[2] for r in rows], np.int32), np.array([r[3] for r in rows], np.int32))


def limits():
    def case(name, n, classes, batches, kernel, score=0.2, iou=0.4, sigma=0.5, keep=0.15, most=-1, kind=np.float32,
             steps=1000):
        scores = np.round(rng.uniform(0, 1, (n, classes)) * steps) / steps
        boxes = corners(n, classes, 9, 11, 3, 0.6)
        batches = np.array(batches, np.int32)
        attrs = {"Kernel": kernel, "Score": score, "IoU": iou, "Sigma": sigma, "Keep": keep, "Max": most}
        limits = [float(np.float32(v)) for v in (score, iou, sigma, keep)]
        if kind == "codes":
            q = codes(scores, np.uint8, 0.01)
            got = select(real(q, 0.01), boxes, batches, kernel, *limits, most)
            outs = [tensor(codes(got[0], np.uint8, 0.01), 0.01), wide(got[1]), *got[2:]]
            ins = [tensor(q, 0.01), wide(boxes), batches]
        else:
            ins = [scores.astype(kind), boxes.astype(kind), batches]
            got = select(ins[0].astype(np.float64), ins[1], batches, kernel, *limits, most)
            outs = [got[0].astype(kind), got[1].astype(kind), *got[2:]]
        add("box_with_nms_limit", "box_with_nms_limit", f"{name}: {len(got[0])}", attrs, ins, outs)

    for kernel, name in enumerate(("hard", "linear", "gaussian")):
        case(name, 12, 3, [1] * 12, kernel)
        case(name + ", batches", 14, 4, [0] * 5 + [2] * 2 + [3] * 7, kernel)
        case(name + ", at most 3", 14, 4, [0] * 5 + [2] * 2 + [3] * 7, kernel, most=3)
        case(name + ", codes", 12, 3, [0] * 6 + [1] * 6, kernel, kind="codes", most=5)
        case(name + ", many equal scores", 16, 3, [0] * 8 + [1] * 8, kernel, steps=4, score=0.1, keep=0.05, most=6)
    case("float16", 10, 3, [0] * 10, 0, kind=np.float16, steps=64)
    case("hard, nothing is dropped", 8, 2, [0] * 8, 0, keep=0)
    case("one at most", 8, 3, [0] * 8, 0, most=1)
    case("none at most", 8, 3, [0] * 8, 0, most=0)
    case("threshold above all", 8, 3, [0] * 8, 0, score=1.5)
    case("only the background", 8, 1, [0] * 8, 0)
    case("no boxes", 0, 3, [], 0)


def propose(scores, deltas, anchors, images, strides, before, after, iou, least):
    """Scores [B,H,W,A], deltas [B,H,W,4A]."""
    rows = []
    for b, (height, width) in enumerate(images.astype(np.float64)):
        down, right = np.mgrid[0:scores.shape[1], 0:scores.shape[2]]
        shift = np.stack([right * strides[1], down * strides[0]] * 2, -1)[:, :, None, :]
        moved = (anchors.astype(np.float64) + shift).reshape(-1, 4)
        flat = scores[b].reshape(-1).astype(np.float64)
        boxes = transform(moved, deltas[b].reshape(-1, 4), np.zeros(len(moved), int), images[b:b + 1])
        order = np.argsort(-flat, kind="stable")
        if before > 0:
            order = order[:before]
        left = []
        for i in order:
            w, h = boxes[i, 2] - boxes[i, 0], boxes[i, 3] - boxes[i, 1]
            if w > least and h > least and boxes[i, 0] + w / 2 < width and boxes[i, 1] + h / 2 < height:
                left.append(i)
        count = 0
        while left and (after <= 0 or count < after):
            top = left.pop(0)
            count += 1
            rows.append((flat[top], boxes[top], b))
            left = [i for i in left if overlap(boxes[i], boxes[top]) < iou]
    return (np.array([r[0] for r in rows]), np.array([r[1] for r in rows]).reshape(-1, 4),
            np.array([r[2] for r in rows], np.int32))


def proposals():
    def case(name, batch, height, width, count, before=0, after=0, iou=0.5, least=3, last=True, kind=np.float32,
             steps=1000, strides=(4, 5)):
        scores = np.round(rng.uniform(0, 1, (batch, height, width, count)) * steps) / steps
        deltas = f32(batch, height, width, 4 * count, lo=-0.6, hi=0.6)
        middle = rng.integers(2, 9, (count, 2)).astype(np.float64)
        half = rng.integers(2, 6, (count, 2)).astype(np.float64)
        anchors = np.concatenate([middle - half, middle + half], 1).astype(np.float32)
        images = rng.integers(15, 40, (batch, 2)).astype(np.float32)
        attrs = {"StrideHeight": strides[0], "StrideWidth": strides[1], "Before": before, "After": after, "IoU": iou,
                 "MinSize": least, "ChannelsLast": last}
        place = lambda a: a if last else np.ascontiguousarray(np.moveaxis(a, -1, 1))
        if kind == "codes":
            s, d = codes(scores, np.uint8, 0.01), codes(deltas, np.uint8, 0.01, 100)
            got = propose(real(s, 0.01), real(d, 0.01, 100), anchors, images, strides, before, after, iou, least)
            ins = [tensor(place(s), 0.01), tensor(place(d), 0.01, 100),
                   tensor(codes(anchors, np.int16, EIGHTH), EIGHTH), wide(images)]
            outs = [tensor(codes(got[0], np.uint8, 0.01), 0.01), wide(got[1]), got[2]]
        else:
            scores, deltas, anchors, images = (a.astype(kind) for a in (scores, deltas, anchors, images))
            got = propose(scores, deltas, anchors, images, strides, before, after, iou, least)
            ins = [place(scores), place(deltas), anchors, images]
            outs = [got[0].astype(kind), got[1].astype(kind), got[2]]
        add("generate_proposals", "generate_proposals", f"{name}: {len(got[0])}", attrs, ins, outs)

    case("channels last", 2, 3, 4, 3)
    case("channels first", 2, 3, 4, 3, last=False)
    case("before", 2, 3, 4, 3, before=7)
    case("after", 2, 4, 3, 2, after=3)
    case("both, large steps", 1, 4, 3, 2, before=9, after=4, strides=(9, 12.5))
    case("equal scores", 1, 3, 3, 2, steps=2, after=5)
    case("everything is small", 2, 3, 3, 2, least=60)
    case("no overlap is borne", 2, 3, 3, 2, iou=0)
    case("every overlap is borne", 1, 2, 3, 2, iou=1.5)
    case("float16", 1, 3, 3, 2, kind=np.float16, steps=64)
    case("codes", 2, 3, 4, 2, before=15, after=6, kind="codes")
    case("codes, channels first", 2, 3, 2, 2, kind="codes", last=False)
    case("no image", 0, 3, 2, 2)
    case("no cell", 1, 0, 2, 2)


def peaks(heat, boxes, epsilon):
    """Heatmaps [N,H,W,K]."""
    n, rows, columns, kinds = heat.shape
    scores, points = np.zeros((n, kinds)), np.zeros((n, kinds, 2))
    for i in range(n):
        for k in range(kinds):
            m = heat[i, :, :, k].astype(np.float64)
            r, c = np.unravel_index(np.argmax(m), m.shape)
            g = np.pad(m, 1, mode="reflect")[r:r + 3, c:c + 3]
            b = -np.array([g[1, 2] - g[1, 0], g[2, 1] - g[0, 1]]) / 2
            mixed = (g[2, 2] - g[2, 0] - g[0, 2] + g[0, 0]) / 4
            a = np.array([[g[1, 0] - 2 * g[1, 1] + g[1, 2], mixed], [mixed, g[0, 1] - 2 * g[1, 1] + g[2, 1]]])
            d = np.zeros(2)
            if abs(np.linalg.det(a)) >= epsilon + epsilon * a[0, 0] * a[1, 1]:
                d = np.linalg.solve(a, b)
                d *= min(1, 1.5 / max(np.abs(d).max(), 1e-30))
            scores[i, k] = m[r, c] - b @ d + d @ a @ d / 2
            low, high = boxes[i, :2].astype(np.float64), boxes[i, 2:].astype(np.float64)
            points[i, k] = low + (np.array([c, r]) + d + 0.5) / np.array([columns, rows]) * (high - low)
    return scores, points


def keypoints():
    def case(name, n, rows, columns, kinds, last=True, kind=np.float32, epsilon=None, heat=None):
        if heat is None:
            heat = f32(n, rows, columns, kinds)
        boxes = corners(n)
        attrs = {"ChannelsLast": last}
        if epsilon is not None:
            attrs["Epsilon"] = epsilon
        place = lambda a: a if last else np.ascontiguousarray(np.moveaxis(a, -1, 1))
        if kind == "codes":
            q = codes(heat, np.uint8, 0.01, 100)
            s, p = peaks(real(q, 0.01, 100), boxes, epsilon or 1e-5)
            ins = [tensor(place(q), 0.01, 100), wide(boxes)]
            outs = [tensor(codes(s, np.uint8, 0.02, 30), 0.02, 30), wide(p)]
        else:
            heat, boxes = heat.astype(kind), boxes.astype(kind)
            s, p = peaks(heat, boxes, epsilon or 1e-5)
            ins, outs = [place(heat), boxes], [s.astype(kind), p.astype(kind)]
        add("heatmap_max_keypoint", "heatmap_max_keypoint", name, attrs, ins, outs)

    case("random", 4, 6, 6, 3)
    case("channels first", 4, 6, 6, 3, last=False)
    case("the smallest", 3, 2, 2, 4)
    case("rows and columns", 3, 4, 7, 2)
    for r, c in ((0, 0), (0, 3), (0, 4), (2, 0), (2, 4), (4, 0), (4, 2), (4, 4)):
        heat = f32(1, 5, 5, 1, lo=0, hi=0.5)
        heat[0, r, c, 0] = 1
        case(f"peak at {r}, {c}", 1, 5, 5, 1, heat=heat)
    case("all equal", 1, 4, 4, 2, heat=np.full((1, 4, 4, 2), 0.5, np.float32))
    twice = np.zeros((1, 4, 4, 1), np.float32)
    twice[0, 1, 2], twice[0, 2, 1] = 1, 1
    case("two alike", 1, 4, 4, 1, heat=twice)
    flat = np.zeros((1, 5, 5, 1), np.float32)
    flat[0, 2, 1:4, 0] = (0.9, 1, 0.999)
    flat[0, 1, 1:4, 0], flat[0, 3, 1:4, 0] = (0.999, 0.9995, 0.5), (0.5, 0.9999, 0.99)
    case("far from its cell", 1, 5, 5, 1, heat=flat)
    case("nearly flat", 1, 5, 5, 1, heat=(flat * 0.01).astype(np.float32))
    case("nearly flat, own epsilon", 1, 5, 5, 1, heat=(flat * 0.01).astype(np.float32), epsilon=1e-12)
    case("float16", 2, 4, 4, 2, kind=np.float16, epsilon=1e-3)
    case("codes", 3, 5, 5, 2, kind="codes")
    case("codes, channels first", 2, 5, 5, 3, kind="codes", last=False)
    case("no map", 0, 5, 5, 2)


if __name__ == "__main__":
    for f in (transforms, limits, proposals, keypoints):
        f()
    write()
