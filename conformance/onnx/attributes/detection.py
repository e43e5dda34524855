"""Boxes, windows and positions that follow from data: suppression, deformed convolution, resizing, sampling."""
import numpy as np

from sweep import add, base, f32, ints, node, sweep


def suppression():
    """The number of boxes follows from data, so they are counted and summed up into an output of fixed size."""
    corner = np.array([[[0, 0, 1, 1], [0, .1, 1, 1.1], [0, -.1, 1, .9], [0, 10, 1, 11], [0, 10.1, 1, 11.1], [0, 100, 1, 101]],
                       [[1, 1, 0, 0], [0, .5, 1, 1.5], [0, 3, 1, 4], [1, 4, 0, 3], [5, 5, 6, 6], [5, 5.5, 6, 6.5]]], np.float32)
    center = np.concatenate([(corner[..., :2] + corner[..., 2:]) / 2, np.abs(corner[..., 2:] - corner[..., :2])], -1)
    x = {"b": corner, "c": center, "s": np.array([[[.9, .75, .6, .95, .5, .3], [.1, .2, .3, .4, .55, .6]], [[.3, .35, .9, .8, .7, .65], [.6, .1, .2, .95, .5, .45]]], np.float32)}
    c = {"n": np.array(2, np.int64), "m": np.array(10, np.int64), "i": np.array(.4, np.float32), "j": np.array(.75, np.float32), "t": np.array(.4, np.float32), "z": ints(7, 100, 10)}
    forms = ["b s m", "b s n", "b s m i", "b s m j", "b s m - t", "b s m i t", "b s n i t", "b s", "c s m i t"]
    for opset in (10, 11):
        for k, ins in enumerate(forms):
            nodes = [node("NonMaxSuppression", ins, "r", **({"center_point_box": 1} if ins[0] == "c" else {})), node("Mul", "r z", "w"),
                     node("ReduceSum", "w", "a", axes=[0], keepdims=0), node("Shape", "r", "l"), node("Concat", "a l", axis=0)]
            add(f"nms_{opset}_{k}", nodes, x, c, opset=opset, skip_reference=True)


def deformed():
    x, w = f32(1, 4, 6, 5), f32(4, 4, 3, 2)
    for name, group, offsets, attrs in (("plain", 1, 1, {}), ("stride", 1, 1, {"strides": [2, 1]}), ("dilation", 1, 1, {"dilations": [1, 2]}), ("pads", 1, 1, {"pads": [1, 0, 2, 1]}),
                                        ("group", 2, 1, {}), ("offset_group", 1, 2, {}), ("both", 2, 2, {"pads": [1, 1, 0, 0]}), ("kernel", 1, 1, {"kernel_shape": [3, 2]})):
        s, d, p = attrs.get("strides", [1, 1]), attrs.get("dilations", [1, 1]), attrs.get("pads", [0] * 4)
        h, v = ((n + p[i] + p[i + 2] - d[i] * (k - 1) - 1) // s[i] + 1 for i, (n, k) in enumerate(((6, 3), (5, 2))))
        c = {"w": w[:, :4 // group].copy(), "b": f32(4), "m": np.abs(f32(1, offsets * 6, h, v))}
        more = {**attrs, **({"group": group} if group > 1 else {}), **({"offset_group": offsets} if offsets > 1 else {})}
        forms = (("", "x w o"), ("_bias", "x w o b"), ("_mask", "x w o - m"), ("_bias_mask", "x w o b m"))
        for tag, ins in forms if name == "plain" else forms[::3]:
            o = f32(1, offsets * 12, h, v) * np.float32(.8) + np.float32(.01)
            want = deform(x, c["w"], o, c["b"] if "b" in ins else None, c["m"] if ins.endswith("m") else None, s, d, p, group, offsets)
            add(f"deformconv_{name}{tag}", node("DeformConv", ins, **more), {"x": x, "o": o}, c, opset=19, expected=[want], skip_reference=True, skip_onnxruntime=True)


def deform(x, w, offset, bias, mask, strides, dilations, pads, group, offsets):
    """DeformConv by its definition: bilinear, 0 outside of the image."""
    n, c, height, width = x.shape
    m, _, kh, kw = w.shape
    _, _, oh, ow = offset.shape
    o = offset.reshape(n, offsets, kh, kw, 2, oh, ow)
    k = np.ones((n, offsets, kh, kw, oh, ow)) if mask is None else mask.reshape(n, offsets, kh, kw, oh, ow)
    pixel = lambda b, ch, i, j: float(x[b, ch, i, j]) if 0 <= i < height and 0 <= j < width else 0.0
    y = np.zeros((n, m, oh, ow))
    for b, f, i, j in np.ndindex(n, m, oh, ow):
        total = 0.0 if bias is None else float(bias[f])
        for q in range(c // group):
            ch = f // (m // group) * (c // group) + q
            g = ch // (c // offsets)
            for a, e in np.ndindex(kh, kw):
                h = i * strides[0] - pads[0] + a * dilations[0] + float(o[b, g, a, e, 0, i, j])
                v = j * strides[1] - pads[1] + e * dilations[1] + float(o[b, g, a, e, 1, i, j])
                h0, v0 = int(np.floor(h)), int(np.floor(v))
                s = sum(pixel(b, ch, h0 + r, v0 + t) * (1 - abs(h - h0 - r)) * (1 - abs(v - v0 - t)) for r in (0, 1) for t in (0, 1))
                total += s * k[b, g, a, e, i, j] * float(w[f, q, a, e])
        y[b, f, i, j] = total
    return y.astype(np.float32)


def resized():
    x = {"x": f32(1, 2, 4, 5)}
    c = {"e": np.zeros(0, np.float32), "s": np.array([1, 1, 1.75, .6], np.float32), "n": ints(1, 2, 7, 3), "o": ints(7, 9), "p": ints(9, 7), "h": np.array([1.75, 2.6], np.float32),
         "r": np.array([0, 0, .2, .1, 1, 1, .9, .7], np.float32), "q": np.array([.2, .1, .9, .7], np.float32), "one": np.array([1, 1, 2, 1.5], np.float32), "H": np.array([1, 2.6], np.float32)}
    modes = ("half_pixel", "pytorch_half_pixel", "asymmetric", "align_corners")
    for opset in (11, 13, 18, 19):
        none = "e" if opset == 11 else "-"
        for mode in ("nearest", "linear", "cubic"):
            for how in (*modes, "half_pixel_symmetric") if opset == 19 else modes:
                if mode == "nearest" and how == "align_corners":
                    continue
                for ins in (f"x {none} s", f"x {none} {none} n"):
                    if opset in (13, 18) and mode != "linear":
                        continue
                    add(f"resizes_{opset}_{mode}_{how}_{'scales' if ins.endswith('s') else 'sizes'}", node("Resize", ins, mode=mode, coordinate_transformation_mode=how), x, c, opset=opset,
                        skip_reference=True)
        for how in ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil"):
            for where in ("asymmetric", "half_pixel"):
                add(f"resizes_{opset}_{how}_{where}", node("Resize", f"x {none} one", nearest_mode=how, coordinate_transformation_mode=where), x, c, opset=opset, skip_reference=True)
    crop = dict(coordinate_transformation_mode="tf_crop_and_resize", extrapolation_value=7.5)
    wide = np.array([0, 0, -.4, .1, 1, 1, .9, 1.3], np.float32)
    for mode in ("nearest", "linear", "cubic"):
        add(f"resizes_13_crop_{mode}", node("Resize", "x r - n", mode=mode, **crop), x, c, opset=13, skip_reference=True)
        add(f"resizes_13_crop_wide_{mode}", node("Resize", "x r - n", mode=mode, **crop), x, {**c, "r": wide}, opset=13, skip_reference=True)
        add(f"resizes_18_crop_axes_{mode}", node("Resize", "x q - p", mode=mode, axes=[2, 3], **crop), x, c, opset=18, skip_reference=True)
    for axes in ([2, 3], [3, 2], [-2, -1], [-1, -2]):
        tag = "_".join(map(str, axes)).replace("-", "m")
        twin = "_".join(str(a % 4) for a in axes)
        add(f"resizes_18_axes_{tag}_scales", node("Resize", "x - h", mode="linear", axes=axes), x, c, opset=18, skip_reference=True)
        for policy in ("stretch", "not_larger", "not_smaller"):
            for sizes in "op":
                same = None if tag == twin else [base.cases[f"resizes_18_axes_{twin}_{policy}_{sizes}"][2]["y"]]  # ONNX Runtime ignores the policy of negative axes
                add(f"resizes_18_axes_{tag}_{policy}_{sizes}", node("Resize", f"x - - {sizes}", mode="linear", axes=axes, keep_aspect_ratio_policy=policy), x, c, opset=18, skip_reference=True,
                    skip_onnxruntime=same is not None, expected=same)
    for mode in ("linear", "cubic"):
        for anti in (0, 1):
            add(f"resizes_19_smaller_{mode}_{anti}", node("Resize", "x - s", mode=mode, antialias=anti), x, {"s": np.array([1, 1, .5, .6], np.float32)}, opset=19, skip_reference=True)
    for t in (np.uint8, np.int8, np.int32):
        add(f"resizes_13_{t.__name__}", node("Resize", "x - one", coordinate_transformation_mode="asymmetric", nearest_mode="floor"), {"x": np.arange(40).reshape(1, 2, 4, 5).astype(t)}, c, opset=13,
            skip_reference=True)
    add("resizes_13_line", node("Resize", "x - t", mode="linear"), {"x": f32(2, 3, 5)}, {"t": np.array([1, 1, 2.4], np.float32)}, opset=13, skip_reference=True)
    add("resizes_13_volume", node("Resize", "x - t", mode="linear"), {"x": f32(1, 2, 3, 4, 3)}, {"t": np.array([1, 1, 2, 1.5, 2], np.float32)}, opset=13, skip_reference=True)
    add("upsample_7_nearest", node("Upsample", "x", scales=[1.0, 1.0, 2.0, 3.0]), x, opset=7, skip_reference=True)
    add("upsample_7_linear", node("Upsample", "x", scales=[1.0, 1.0, 2.0, 3.0], mode="linear"), x, opset=7, skip_reference=True)


def sampled():
    g = {"x": f32(2, 3, 4, 5), "g": f32(2, 3, 6, 2) * np.float32(.7)}
    for opset, modes in ((16, ("bilinear", "nearest", "bicubic")), (20, ("linear", "nearest", "cubic"))):
        for mode in modes:
            for pad in ("zeros", "border", "reflection"):
                for corners in (0, 1):
                    add(f"gridsamples_{opset}_{mode}_{pad}_{corners}", node("GridSample", "x g", mode=mode, padding_mode=pad, align_corners=corners), g, opset=opset, skip_reference=True)
    v = {"x": f32(1, 2, 3, 4, 3), "g": f32(1, 2, 3, 2, 3) * np.float32(.7)}
    for mode in ("linear", "nearest"):
        for pad in ("zeros", "border", "reflection"):
            for corners in (0, 1):
                add(f"gridsamples_volume_{mode}_{pad}_{corners}", node("GridSample", "x g", mode=mode, padding_mode=pad, align_corners=corners), v, opset=20, skip_reference=True)
    t = f32(2, 2, 3)
    for corners in (0, 1):
        add(f"affinegrid_{corners}", node("AffineGrid", "t s", align_corners=corners), {"t": t}, {"s": ints(2, 3, 4, 5)}, opset=20)
        add(f"affinegrid_volume_{corners}", node("AffineGrid", "t s", align_corners=corners), {"t": f32(1, 3, 4)}, {"s": ints(1, 2, 3, 4, 2)}, opset=20)
    r = {"x": f32(2, 3, 7, 6)}
    c = {"r": np.array([[1, 0, 1, 5, 6], [0, 1, 2, 4, 3], [1, 3, 3, 3, 3]], np.float32)}
    sweep("maxroipool", "MaxRoiPool", 7, ["x r"], r, {"pooled_shape": [[2, 3], [1, 4]], "spatial_scale": [.5]}, c, {"pooled_shape": [3, 2]}, skip_reference=True)
    i = {"r": np.array([[1, .5, 5, 6], [0, 1.2, 4.4, 3], [-2, -3, 9, 9]], np.float32), "b": ints(1, 0, 1)}
    for opset in (10, 16):
        for mode in ("avg", "max"):
            for ratio in (0, 2):
                add(f"roialigns_{opset}_{mode}_{ratio}", node("RoiAlign", "x r b", mode=mode, sampling_ratio=ratio, output_height=3, output_width=2, spatial_scale=.8), r, i, opset=opset, skip_reference=True)


def gathered_back():
    for name, image, attrs in (("default", (5, 6), {}), ("strides", (5, 6), {"strides": [2, 3]}), ("pads", (5, 6), {"pads": [1, 0, 0, 3]}), ("dilations", (5, 6), {"dilations": [2, 1], "pads": [1, 1, 1, 1]}),
                               ("all", (6, 7), {"strides": [2, 2], "dilations": [1, 2], "pads": [1, 0, 1, 1]})):
        p, s, d = attrs.get("pads", [0] * 4), attrs.get("strides", [1, 1]), attrs.get("dilations", [1, 1])
        n = [(image[i] + p[i] + p[i + 2] - d[i] * (k - 1) - 1) // s[i] + 1 for i, k in enumerate((2, 3))]
        x = f32(2, 12, n[0] * n[1])
        want = np.zeros((2, 2, image[0] + p[0] + p[2], image[1] + p[1] + p[3]))
        cells = x.reshape(2, 2, 2, 3, n[0], n[1])
        for a, e, i, j in np.ndindex(2, 3, *n):
            want[:, :, i * s[0] + a * d[0], j * s[1] + e * d[1]] += cells[:, :, a, e, i, j]
        want = want[:, :, p[0]:p[0] + image[0], p[1]:p[1] + image[1]].astype(np.float32)
        add(f"col2im_{name}", node("Col2Im", "x s b", **attrs), {"x": x}, {"s": ints(*image), "b": ints(2, 3)}, opset=18, expected=[want], skip_reference=True)
    x, k = f32(1, 2, 6, 6), {"kernel_shape": [2, 2], "strides": [2, 2]}
    pair = [node("MaxPool", "x", "p i", **k)]
    most = x.reshape(2, 3, 2, 3, 2).max((2, 4))
    want = np.where(x == most.repeat(2, 1).repeat(2, 2)[None], x, np.float32(0))
    add("maxunpool", pair + [node("MaxUnpool", "p i", **k)], {"x": x}, opset=11, expected=[want], skip_reference=True)
    larger = np.zeros((1, 2, 7, 8), np.float32)  # indices count the elements of the smaller image
    larger[:, :, :6, :6] = want
    add("maxunpool_shape", pair + [node("MaxUnpool", "p i s", **k)], {"x": x}, {"s": ints(1, 2, 7, 8)}, opset=11, expected=[larger], skip_reference=True, skip_onnxruntime=True)


def make():
    suppression()
    deformed()
    resized()
    sampled()
    gathered_back()
