"""Operations on boxes and regions of images. The models of transforms, of suppression, of proposals and of keypoints
are those of conformance/vectors/boxes.py."""
import numpy as np

from boxes import overlap, peaks, propose, select, transform
from case import F64, FLOATS, Operand, case, codes, fails, flag, fx, given, half_away, i32, out, unknown, value, x

EIGHTH = 0.125
# The type of scores or deltas or images, with that of coordinates beside it.
TYPES = (("F32", "F32"), ("F16", "F16"), ("Q8", "Q16A"), ("Q8S", "Q16A"))


def boxes(t, n, height, width, per=1, least=2.0, share=0.4):
    """Boxes x1, y1, x2, y2 on eighths inside an image, [n, 4 * per], in type t."""
    v = x("I32", (n, per, 4), 0, 1000).value / 1000
    low = v[..., :2] * 0.6 * np.array([width, height])
    size = least + v[..., 2:] * share * np.array([width, height])
    high = np.minimum(low + size, [width, height])
    return coordinates(t, np.concatenate([low, high], -1).reshape(n, 4 * per))


def coordinates(t, real):
    real = np.round(np.asarray(real) / EIGHTH) * EIGHTH
    return given(t, codes("Q16A", real, EIGHTH) if t == "Q16A" else real, EIGHTH if t == "Q16A" else 0)


def corners(t, real):
    """A result of coordinates."""
    return out(t, real, EIGHTH, 0) if t == "Q16A" else out(t, real)


def distinct(t, dims):
    """Scores of which no two are equal, in the codes of t or on 64ths."""
    n = int(np.prod(dims))
    order = np.argsort(x("I32", (n,), 0, 1 << 30).value, kind="stable")
    if t in FLOATS:
        return given(t, (order + 1).reshape(dims) / max(64, n + 1))
    scale, zero = (0.01, 0) if t == "Q8" else (0.01, -128)
    return given(t, (order * (200 // n) + 5 + zero).reshape(dims), scale, zero)


def planes(o):
    """The same images with the channels first."""
    return Operand(o.type, np.ascontiguousarray(np.moveaxis(o.value, 3, 1)), o.scale, o.zero)


def transforms():
    for t, box in TYPES:
        for n, classes, images, batches in ((3, 1, [[40, 60]], [0, 0, 0]),
                                            (5, 2, [[40, 60], [30, 45]], [0, 0, 1, 1, 1]),
                                            (4, 3, [[40, 60], [30, 45], [20, 20]], [0, 1, 2, 2])):
            for constant in (False, True):
                r = boxes(box, n, 20, 20)
                d = x(t, (n, 4 * classes), -1.2, 1.2, *(() if t in FLOATS else (0.01, 120) if t == "Q8" else (0.01, 3)))
                info, k = coordinates(box, images), given("I32", batches)
                y = transform(r.real(), d.real(), k.value, info.real())
                if constant:
                    info, k = info.const(), k.const()
                case("AXIS_ALIGNED_BBOX_TRANSFORM", f"{t}_{n}_{classes}{'_constant' if constant else ''}",
                     [r, d, k, info], [corners(box, y)])
        if box == "Q16A":
            continue
        r, d = boxes(box, 0, 20, 20), x(t, (0, 8))
        case("AXIS_ALIGNED_BBOX_TRANSFORM", f"{t}_empty", [r, d, given("I32", np.zeros(0)),
                                                           coordinates(box, [[40, 60]])],
             [corners(box, np.zeros((0, 8)))])
    fails("AXIS_ALIGNED_BBOX_TRANSFORM", "F32_batch", [given("F32", [[1, 2, 3, 4]]), x("F32", (1, 4)),
                                                       given("I32", [1]), given("F32", [[9, 9]])],
          [unknown("F32", 2)])
    fails("AXIS_ALIGNED_BBOX_TRANSFORM", "F32_box", [given("F32", [[3, 2, 1, 4]]), x("F32", (1, 4)), given("I32", [0]),
                                                     given("F32", [[9, 9]])],
          [unknown("F32", 2)])


def limits():
    for t, box in TYPES:
        for kernel in range(3):
            for n, classes, batches, most in ((8, 3, [0] * 8, -1), (9, 4, [0] * 4 + [2] * 2 + [3] * 3, 2),
                                              (6, 2, [1] * 6, 3)):
                s, r, k = distinct(t, (n, classes)), boxes(box, n, 12, 14, classes, 4, 0.5), given("I32", batches)
                scalars = [fx(t, v) for v in (0.2, 0.4, 0.5, 0.15)]
                score, iou, sigma, keep = map(value, scalars)
                got = select(s.real(), r.real(), k.value, kernel, score, iou, sigma, keep, most)
                y = out(t, got[0], s.scale, s.zero) if s.scale else out(t, got[0])
                ys = [y, corners(box, got[1]), given("I32", got[2]), given("I32", got[3])]
                for o in ys:
                    if most != 2:
                        o.open()
                case("BOX_WITH_NMS_LIMIT", f"{t}_kernel_{kernel}_{n}_{most}",
                     [s, r, k, scalars[0], i32(most), i32(kernel), *scalars[1:]], ys)
        s, r, k = distinct(t, (4, 3)), boxes(box, 4, 12, 14, 3), given("I32", [0] * 4)
        ys = [Operand(t, np.zeros(0), s.scale, s.zero), corners(box, np.zeros((0, 4))), given("I32", []),
              given("I32", [])]
        if t in FLOATS:
            empty = [Operand(t, np.zeros((0, 3))), Operand(t, np.zeros((0, 12))), Operand("I32", np.zeros(0))]
            case("BOX_WITH_NMS_LIMIT", f"{t}_empty", [*empty, fx(t, 0.1), i32(-1), i32(0),
                                                      *(fx(t, v) for v in (0.4, 0.5, 0.1))], ys)
            ones = [fx(t, 1), fx(t, 1)]
            case("ROI_ALIGN", f"{t}_empty", [x(t, (1, 4, 4, 2)), Operand(t, np.zeros((0, 4))),
                                             Operand("I32", np.zeros(0)), i32(2), i32(3), *ones,
                                             i32(0), i32(0), flag(False)], [Operand(t, np.zeros((0, 2, 3, 2)))])
        case("BOX_WITH_NMS_LIMIT", f"{t}_none_left", [s, r, k, fx(t, 5), i32(-1), i32(0),
                                                      *(fx(t, v) for v in (0.4, 0.5, 0.1))], ys)


def proposals():
    for t, box in TYPES:
        for b, h, w, count, before, after, strides, least in ((1, 2, 3, 2, 0, 0, (4.0, 5.0), 2.0),
                                                              (2, 2, 2, 3, 9, 4, (4.0, 4.0), 3.0),
                                                              (1, 3, 2, 2, 0, 3, (5.0, 8.0), 1.0)):
            for first in (False, True):
                s = distinct(t, (b, h, w, count))
                d = x(t, (b, h, w, 4 * count), -0.6, 0.6, *(() if t in FLOATS else (0.005, 120) if t == "Q8"
                                                            else (0.005, 3)))
                middle, half = x("I32", (count, 2), 3, 8).value, x("I32", (count, 2), 2, 5).value
                a = np.concatenate([middle - half, middle + half], 1)
                anchors = given("Q16Y", a * 8, EIGHTH) if box == "Q16A" else given(box, a)
                info = coordinates(box, x("I32", (b, 2), 18, 30).value)
                scalars = [fx(t, v) for v in (*strides, 0.45, least)]
                got = propose(s.real(), d.real(), anchors.real(), info.real(), strides, before, after,
                              value(scalars[2]), least)
                y = out(t, got[0], s.scale, s.zero) if s.scale else out(t, got[0])
                ys = [y, corners(box, got[1]), given("I32", got[2])]
                for o in ys:
                    if after != 4:
                        o.open()
                if first:
                    s, d = planes(s), planes(d)
                case("GENERATE_PROPOSALS", f"{t}_{b}_{h}_{before}_{after}{'_nchw' if first else ''}",
                     [s, d, anchors, info, *scalars[:2], i32(before), i32(after), *scalars[2:], flag(first)], ys)


def keypoints():
    for t, box in TYPES:
        for n, size, kinds in ((2, 4, 2), (1, 5, 3), (3, 2, 1), (2, 6, 1)):
            for first in (False, True):
                heat = x(t, (n, size, size, kinds), -1, 1, *(() if t in FLOATS else (0.008, 125) if t == "Q8"
                                                             else (0.008, -3)))
                r = boxes(box, n, 40, 60)
                s, p = peaks(heat.real(), r.real(), 1e-3 if t == "F16" else 1e-5)
                to = {"Q8": (0.02, 30), "Q8S": (0.02, -90)}.get(t, (None, None))
                case("HEATMAP_MAX_KEYPOINT", f"{t}_{n}_{size}_{kinds}{'_nchw' if first else ''}",
                     [planes(heat) if first else heat, r, flag(first)], [out(t, s, *to), corners(box, p)])


def aligned(v, rois, batches, size, ratio, samples):
    y = np.zeros((len(rois), *size, v.shape[3]))
    for k, (r, b) in enumerate(zip(rois, batches)):
        begin = np.array([r[1] / ratio[0], r[0] / ratio[1]])
        span = np.maximum(np.array([r[3] / ratio[0], r[2] / ratio[1]]) - begin, 1)
        cell = span / size
        count = [s if s > 0 else int(np.ceil(c)) for s, c in zip(samples, cell)]
        for i in range(size[0]):
            for j in range(size[1]):
                for p in range(count[0]):
                    for q in range(count[1]):
                        at = begin + cell * (np.array([i, j]) + (np.array([p, q]) + 0.5) / count)
                        w, places = [], []
                        for o, n in zip(at, v.shape[1:3]):
                            lo = int(np.floor(o))
                            lo, f = (n - 1, 0.0) if lo >= n - 1 else (lo, o - lo)
                            places.append((lo, min(lo + 1, n - 1)))
                            w.append((1 - f, f))
                        y[k, i, j] += sum(w[0][c] * w[1][d] * v[b, places[0][c], places[1][d]] for c in (0, 1)
                                          for d in (0, 1)) / np.prod(count)
    return y


def pooled(v, rois, batches, size, ratio, fill):
    y = np.full((len(rois), *size, v.shape[3]), fill, F64)
    for k, (r, b) in enumerate(zip(rois, batches)):
        begin = half_away([r[1] / ratio[0], r[0] / ratio[1]])
        span = np.maximum(half_away([r[3] / ratio[0], r[2] / ratio[1]]) - begin + 1, 1)
        for i in range(size[0]):
            for j in range(size[1]):
                lo = [int(np.clip(np.floor(o * s / n) + f, 0, m)) for o, s, n, f,
                      m in zip((i, j), span, size, begin, v.shape[1:3])]
                hi = [int(np.clip(np.ceil((o + 1) * s / n) + f, 0, m)) for o, s, n, f,
                      m in zip((i, j), span, size, begin, v.shape[1:3])]
                if lo[0] < hi[0] and lo[1] < hi[1]:
                    y[k, i, j] = v[b, lo[0]:hi[0], lo[1]:hi[1]].max((0, 1))
    return y


def regions():
    table = [((1, 4, 5, 2), [0, 0, 0], (2, 3), (2.0, 2.0), (2, 2)), ((2, 6, 4, 1), [0, 1, 1], (2, 2), (4.0, 2.0),
                                                                     (0, 0)),
             ((2, 3, 3, 3), [1, 1], (3, 2), (1.0, 1.0), (1, 3))]
    for t, box in TYPES:
        for k, (dims, batches, size, ratio, samples) in enumerate(table):
            for first in (False, True):
                a = x(t, dims, -4, 4)
                r = boxes(box, len(batches), dims[1] * ratio[0], dims[2] * ratio[1], 1, 1.0)
                scalars = [fx(t, v) for v in ratio]
                rest = [r, given("I32", batches), i32(size[0]), i32(size[1]), *scalars]
                to = {"Q8": (0.04, 110), "Q8S": (0.05, 4)}.get(t, (None, None))
                y = out(t, aligned(a.real(), r.real(), batches, size, ratio, samples), *to)
                z = Operand(t, pooled(a.value.astype(F64), r.real(), batches, size, ratio, a.zero), a.scale, a.zero)
                if a.scale:
                    z.value = z.value.astype(int)
                if first:
                    a, y, z = planes(a), planes(y), planes(z)
                label = f"{t}_{k}{'_nchw' if first else ''}"
                case("ROI_ALIGN", label, [a, *rest, *map(i32, samples), flag(first)], [y])
                case("ROI_POOLING", label, [a, *rest, flag(first)], [z], exact=True)
    for op, more in (("ROI_ALIGN", [i32(0), i32(0)]), ("ROI_POOLING", [])):
        for label, r, b in (("batch", [[0, 0, 2, 2]], [1]), ("inverted", [[3, 0, 2, 2]], [0])):
            fails(op, f"F32_{label}", [x("F32", (1, 4, 4, 1)), given("F32", r), given("I32", b), i32(2), i32(2),
                                       fx("F32", 1), fx("F32", 1), *more,
                                       flag(False)], [unknown("F32", 4)])
    fails("ROI_ALIGN", "F32_outside", [x("F32", (1, 4, 4, 1)), given("F32", [[0, 0, 9, 2]]), given("I32", [0]), i32(2),
                                       i32(2), fx("F32", 1),
                                       fx("F32", 1), i32(0), i32(0), flag(False)], [unknown("F32", 4)])


def hard(boxes_, scores, iou, most):
    """Indices that are kept, best first."""
    order = sorted((i for i in scores), key=lambda i: -scores[i])
    kept = []
    for i in order:
        if (most < 0 or len(kept) < most) and all(overlap(boxes_[i], boxes_[j]) < iou for j in kept):
            kept.append(i)
    return kept


def decoded(deltas, anchors, scale):
    """y1, x1, y2, x2."""
    cy, cx = (anchors[:, i] + deltas[..., i] / scale[i] * anchors[:, i + 2] for i in (0, 1))
    h, w = (anchors[:, i] * np.exp(deltas[..., i] / scale[i]) for i in (2, 3))
    return np.stack([cy - h / 2, cx - w / 2, cy + h / 2, cx + w / 2], -1)


def postprocessing():
    for t in FLOATS:
        for regular in (False, True):
            for k, (b, n, classes, most, per_box, per_class, background) in enumerate(
                    ((1, 6, 3, 3, 1, 3, False), (2, 5, 4, 4, 1, 2, True), (1, 8, 3, 10, 2, 9, False))):
                postprocess(t, regular, k, b, n, classes, most, 1 if regular else per_box, per_class, background, 0.4)
    for t in FLOATS:  # boxes seldom overlap so much: of those of a class, two are kept
        postprocess(t, True, 3, 1, 6, 3, 10, 1, 2, False, 0.95)


def postprocess(t, regular, k, b, n, classes, most, per_box, per_class, background, limit):
    s = distinct(t, (b, n, classes))
    d = x(t, (b, n, 4 + (k == 1)), -1.5, 1.5)
    anchors = given(t, np.concatenate([x("I32", (n, 2), 2, 9).value, x("I32", (n, 2), 3, 6).value], 1))
    scale = (10.0, 10.0, 5.0, 5.0)
    scalars = [fx(t, v) for v in (0.2, limit)]
    at_least, iou = map(value, scalars)
    place = decoded(d.real()[..., :4], anchors.real(), scale)
    size = most if regular else most * per_box
    ys, yb = np.zeros((b, size)), np.zeros((b, size, 4))
    yc, count = np.zeros((b, size), int), np.zeros(b, int)
    for i in range(b):
        v, rows = s.real()[i], []
        if regular:
            for c in range(1, classes):
                own = {j: v[j, c] for j in range(n) if v[j, c] > at_least}
                rows += [(v[j, c], place[i, j], c) for j in hard(place[i], own, iou, per_class)]
            rows = sorted(rows, key=lambda r: -r[0])[:most]
        else:
            best = {j: v[j, 1:].max() for j in range(n) if v[j, 1:].max() > at_least}
            for j in hard(place[i], best, iou, most):
                order = sorted(range(1, classes), key=lambda c: -v[j, c])[:per_box]
                rows += [(v[j, c], place[i, j], c) for c in order]
        count[i] = len(rows)
        for r, (score, box, c) in enumerate(rows):
            ys[i, r], yb[i, r], yc[i, r] = score, box, c - (not background)
    case("DETECTION_POSTPROCESSING", f"{t}_{'regular' if regular else 'fast'}_{k}",
         [s, d, anchors.const() if k else anchors, *(fx(t, v) for v in scale), flag(regular), i32(most),
          i32(per_box), i32(per_class),
          *scalars, flag(background)], [out(t, ys), out(t, yb), given("I32", yc), given("I32", count)])


def make():
    for f in (transforms, limits, proposals, keypoints, regions, postprocessing):
        f()
