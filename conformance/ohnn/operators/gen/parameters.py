"""Parameters left out one by one, and values other than the default, where the cases of the other files always or never give them."""

import numpy as np

from case import BOOL, F32, F64, I32, I64, T, case, const, param, rng
from movement import batch_to_space, seq, space_to_batch
from network import DP, detect, lrn, lstm
from reduction import f32
from spatial import draw, pool

x = seq((1, 2, 4, 2))
NONE = [(0, 0), (0, 0)]
case("SPACE_TO_BATCH_ND", "f32_no_paddings", [T(x)], [T(space_to_batch(x, (2, 2), NONE))], [param("SPACE_TO_BATCH_ND_BLOCK_SHAPE", (2, 2), I64)])
x = seq((8, 1, 2, 1))
case("BATCH_TO_SPACE_ND", "f32_no_crops", [T(x)], [T(batch_to_space(x, (2, 2), NONE))], [param("BATCH_TO_SPACE_ND_BLOCKSIZE", (2, 2), I64)])

x = draw("pool ceil", (1, 6, 5, 2))
ps = [param("MAX_POOL_KERNEL_SIZE", (3, 2), I64), param("MAX_POOL_STRIDE", (2, 2), I64), param("MAX_POOL_ROUND_MODE", 1, I32)]
case("MAX_POOL", "f32_round_up", [T(x)], [T(pool("MAX_POOL", x.astype(F64), (3, 2), (2, 2), ceil=True).astype(F32))], ps)

case("CONSTANT_OF_SHAPE", "f32_value_left_out_is_zero", [T(np.array([2, 3], I32))], [T(np.zeros((2, 3), F32), dyn=(0, 1))])

t, b, i, h = 3, 2, 2, 3
xs = [f32(f"lstmnobias{k}", s) for k, s in enumerate(((t, b, i), (1, 4 * h, i), (1, 4 * h, h), (1, 8 * h), (1, b, h), (1, b, h)))]
out, hy, cy = lstm(*[(v * (k != 3)).astype(F64) for k, v in enumerate(xs)], 0.0, 0.0)
case("LSTM", "float32_no_parameters_so_no_bias", [T(xs[0])] + [const(v) for v in xs[1:4]] + [T(v) for v in xs[4:]], [T(v.astype(F32)) for v in (out, hy, cy)])

x = draw("LRN default", (1, 2, 2, 5), F32, 0.5, 2)
given = {"DEPTH_RADIUS": (1, I64), "BIAS": (1.5, F32), "ALPHA": (0.5, F32), "BETA": (0.75, F32)}
for name in given:
    v = {k: 0 if k == name else w for k, (w, _) in given.items()}
    y = lrn(x.astype(F64), v["DEPTH_RADIUS"], v["BIAS"], v["ALPHA"], v["BETA"])
    case("LRN", f"f32_no_{name.lower()}", [T(x)], [T(y.astype(F32))], [param("LRN_" + k, w, d) for k, (w, d) in given.items() if k != name])


def detection(name, regular, without=(), **other):
    """A detection of 3 classes in 6 overlapping boxes that leaves out some parameters."""
    v = {"INPUT_SIZE": 300, "SCALE": [10, 10, 5, 5], "NMS_IOU_THRESHOLD": 0.5, "NMS_SCORE_THRESHOLD": 0.25, "MAX_DETECTIONS": 4, "DETECTIONS_PER_CLASS": 2, "MAX_CLASSES_PER_DETECTION": 1,
         "NUM_CLASSES": 3, "USE_REGULAR_NMS": regular, "OUT_QUANTIZED": False, **other}
    types = {"SCALE": F32, "NMS_IOU_THRESHOLD": F32, "NMS_SCORE_THRESHOLD": F32, "USE_REGULAR_NMS": BOOL, "OUT_QUANTIZED": BOOL}
    g = rng("detection " + name)
    anchors = np.array([(0.2 + 0.25 * (k // 3), 0.2 + 0.25 * (k % 3), 0.3, 0.3) for k in range(6)], F32)
    boxes = g.uniform(-0.8, 0.8, (1, 6, 4)).astype(F32)
    scores = g.permutation(18).reshape(1, 6, 3).astype(F32) / F32(18)
    w = {k: 0 if k in without else x for k, x in v.items()}
    out = detect(boxes.astype(F64), scores.astype(F64), anchors.astype(F64), np.array(w["SCALE"], F64), w["NMS_IOU_THRESHOLD"], w["NMS_SCORE_THRESHOLD"], w["MAX_DETECTIONS"],
                 max(1, w["MAX_CLASSES_PER_DETECTION"]), w["DETECTIONS_PER_CLASS"], w["NUM_CLASSES"], w["USE_REGULAR_NMS"])
    case(DP, "f32_" + name, [T(boxes), T(scores), const(anchors)], [T(o.astype(F32)) for o in out], [param(f"{DP}_{k}", x, types.get(k, I64)) for k, x in v.items() if k not in without])


detection("no_input_size_and_not_said_to_be_quantized", False, ("INPUT_SIZE", "OUT_QUANTIZED"))
detection("said_to_be_quantized", False, OUT_QUANTIZED=True)
detection("no_overlap_threshold", False, ("NMS_IOU_THRESHOLD",))
detection("no_score_threshold", True, ("NMS_SCORE_THRESHOLD",))
detection("fast_no_detections_per_class", False, ("DETECTIONS_PER_CLASS",))
detection("regular_no_classes_per_detection", True, ("MAX_CLASSES_PER_DETECTION",))
detection("fast_by_default", False, ("USE_REGULAR_NMS",))
