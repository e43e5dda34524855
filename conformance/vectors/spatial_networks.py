"""Spatial cases that are more than one window: recurrent layers, sampling, regions, sums by a formula, attention. See spatial.py."""
import numpy as np

from spatial_common import add, f32, last, reference, rng, run, window_attrs


def recurrent():
    def case(op, name, gates, ins, go=None, ox=None, nout=None, opset=22):
        cell = op == "LSTM"
        nout = nout or (3 if cell else 2)
        ox = dict(ox or {})
        ox["hidden_size"] = ins[2].shape[2]
        ys = run(op, ox, ins, nout, opset)
        add(op.lower(), name, go or {}, ins, ys)

    kinds = (("LSTM", 4, 3), ("GRU", 3, 2), ("RNN", 1, 1))
    for op, g, nf in kinds:
        t, b, i, h = 4, 2, 3, 2
        def w(d=1):
            return [f32(t, b, i), f32(d, g * h, i, lo=-1, hi=1), f32(d, g * h, h, lo=-1, hi=1), f32(d, 2 * g * h, lo=-1, hi=1)]
        case(op, "no bias", g, w()[:3])
        case(op, "bias", g, w())
        for d, name in ((0, "forward"), (1, "reverse"), (2, "bidirectional")):
            n = 2 if d == 2 else 1
            ins = w(n) + [np.array([4, 2], np.int32), f32(n, b, h)]
            if op == "LSTM":
                ins += [f32(n, b, h), f32(n, 3 * h)]
            case(op, f"{name}, lengths, states", g, ins, {"Direction": d}, {"direction": name})
        case(op, "clip", g, w(), {"Clip": 0.4}, {"clip": 0.4})
        acts = {3: ["HardSigmoid", "ScaledTanh", "Softsign"], 2: ["HardSigmoid", "ScaledTanh"], 1: ["ScaledTanh"]}[nf]
        alpha, beta = {3: ([0.3, 0.8], [0.4, 1.2]), 2: ([0.3, 0.8], [0.4, 1.2]), 1: ([0.8], [1.2])}[nf]
        case(op, "other activations", g, w(), {"Activations": acts, "ActAlpha": alpha, "ActBeta": beta},
             {"activations": acts, "activation_alpha": alpha, "activation_beta": beta})
        acts = {3: ["Sigmoid", "LeakyRelu", "Relu"], 2: ["Sigmoid", "Elu"], 1: ["Affine"]}[nf]
        alpha = {3: [0.2], 2: [0.7], 1: [0.5]}[nf]
        beta = [0.1] if nf == 1 else []
        go = {"Activations": acts, "ActAlpha": alpha, "ActBeta": beta}
        ox = {"activations": acts, "activation_alpha": alpha}
        if beta:
            ox["activation_beta"] = beta
        case(op, "activations with alpha", g, w(), go, ox)
        ins = w(2)
        xs = np.ascontiguousarray(np.swapaxes(ins[0], 0, 1))
        ys = run(op, {"hidden_size": h, "direction": "bidirectional"}, ins, 3 if op == "LSTM" else 2)
        add(op.lower(), "batch first", {"Direction": 2, "BatchFirst": True}, [xs] + ins[1:],
            [np.ascontiguousarray(ys[0].transpose(2, 0, 1, 3))] + [np.ascontiguousarray(np.swapaxes(y, 0, 1)) for y in ys[1:]])
        case(op, "only the sequence", g, w(), nout=1)
    g, h = 4, 2
    ins = [f32(3, 2, 3), f32(1, 8, 3), f32(1, 8, 2), f32(1, 16)]
    case("LSTM", "coupled input and forget gates", 4, ins, {"InputForget": True}, {"input_forget": 1})
    order = [0, 2, 3, 1]  # IOFC to IFCO
    def permute(a):
        return np.concatenate([a[:, k * h:(k + 1) * h] for k in order], axis=1)
    bias = np.concatenate([permute(ins[3][:, :8]), permute(ins[3][:, 8:])], axis=1)
    ys = run("LSTM", {"hidden_size": 2}, ins, 3)
    add("lstm", "gates in order IFCO", {"Gates": 1, "Hidden": 2}, [ins[0], permute(ins[1]), permute(ins[2]), bias], ys)
    ins = [f32(3, 2, 3), f32(1, 6, 3), f32(1, 6, 2), f32(1, 12)]
    case("GRU", "linear before reset", 3, ins, {"LinearBeforeReset": True}, {"linear_before_reset": 1})
    # zoneout, from the formula
    x, w, r = f32(3, 1, 2), f32(1, 8, 2), f32(1, 8, 2)
    sig = lambda v: 1 / (1 + np.exp(-v))
    hs, c, y = np.zeros(2), np.zeros(2), []
    for t in range(3):
        z = w[0].astype(np.float64) @ x[t, 0] + r[0].astype(np.float64) @ hs
        i, o, f, g = sig(z[0:2]), sig(z[2:4]), sig(z[4:6]), np.tanh(z[6:8])
        c2 = f * c + i * g
        out = o * np.tanh(c2)
        y.append(out)
        hs, c = 0.7 * out + 0.3 * hs, 0.8 * c2 + 0.2 * c
    shape = lambda a: np.array(a, np.float32).reshape(-1, 1, 1, 2)
    add("lstm", "zoneout", {"ZoneoutHidden": 0.3, "ZoneoutCell": 0.2}, [x, w, r], [shape(y), shape(hs)[0], shape(c)[0]], "numpy")


def sampling():
    for mode, name in ((0, "nearest"), (1, "linear"), (2, "cubic")):
        for pad, pname in ((0, "zeros"), (1, "border"), (2, "reflection")):
            for align in (0, 1):
                x, g = f32(2, 2, 4, 3), f32(2, 3, 2, 2, lo=-1.6, hi=1.6)
                y = run("GridSample", {"mode": name, "padding_mode": pname, "align_corners": align}, [x, g])[0]
                go = {"Mode": mode, "Padding": pad, "AlignCorners": bool(align)}
                add("grid_sample", f"{name}, {pname}, align {align}", go, [x, g], [y])
                add("grid_sample", f"{name}, {pname}, align {align}, channels last", {**go, "ChannelsLast": True}, [last(x), g], [last(y)])
                if mode < 2:
                    x, g = f32(1, 2, 2, 4, 3), f32(1, 2, 2, 3, 3, lo=-1.4, hi=1.4)
                    y = run("GridSample", {"mode": name, "padding_mode": pname, "align_corners": align}, [x, g])[0]
                    add("grid_sample", f"3-d {name}, {pname}, align {align}", go, [x, g], [y])
    for align in (0, 1):
        for theta, size in ((f32(2, 2, 3), [2, 3, 4, 5]), (f32(1, 3, 4), [1, 2, 3, 2, 4])):
            size = np.array(size, np.int64)
            y = run("AffineGrid", {"align_corners": align}, [theta, size])[0]
            add("affine_grid", f"{len(size) - 2}-d, align {align}", {"AlignCorners": bool(align)}, [theta, size], [y])
    for name, shape, block, win in (("plain", [5, 5], [2, 3], {}), ("strides", [5, 5], [1, 5], {"strides": [2, 1]}), ("pads", [5, 5], [3, 2], {"pads": [0, 1, 2, 1]}),
                                    ("dilations", [6, 6], [2, 2], {"dilations": [1, 5]}), ("3-d", [3, 4, 3], [1, 2, 2], {})):
        go, ox = window_attrs(**win)
        n = len(shape)
        d, st, pa = win.get("dilations", [1] * n), win.get("strides", [1] * n), win.get("pads", [0] * 2 * n)
        l = int(np.prod([(shape[i] + pa[i] + pa[n + i] - d[i] * (block[i] - 1) - 1) // st[i] + 1 for i in range(n)]))
        ins = [f32(2, 2 * int(np.prod(block)), l), np.array(shape, np.int64), np.array(block, np.int64)]
        add("col2im", name, go, ins, run("Col2Im", ox, ins, opset=18))


def deform():
    def case(name, x, w, og=1, groups=1, bias=True, masked=True, **win):
        go, ox = window_attrs(**win)
        go.update({"Groups": groups, "OffsetGroups": og})
        ox.update({"group": groups, "offset_group": og})
        dummy = run("Conv", {k: v for k, v in ox.items() if k != "offset_group"}, [x, w])[0]
        k = int(np.prod(w.shape[2:]))
        ins = [x, w, f32(x.shape[0], og * k * 2, *dummy.shape[2:], lo=-1.5, hi=1.5)]
        ins.append(f32(w.shape[0]) if bias else None)
        if masked:
            ins.append(f32(x.shape[0], og * k, *dummy.shape[2:], lo=0, hi=1))
        y = run("DeformConv", ox, ins, opset=19)[0]
        go_ins = [ins[0], last(ins[1])] + ins[2:]
        add("deform_conv", name, go, go_ins, [y])
        l = lambda a: None if a is None else last(a)
        add("deform_conv", name + ", channels last", {**go, "ChannelsLast": True}, [last(x), last(w), last(ins[2]), ins[3]] + [l(a) for a in ins[4:]], [last(y)])

    case("plain", f32(1, 2, 4, 4), f32(3, 2, 2, 2), bias=False, masked=False)
    case("mask and bias", f32(2, 2, 4, 5), f32(2, 2, 3, 2), pads=[1, 0, 1, 1])
    case("strides and dilation", f32(1, 2, 6, 6), f32(2, 2, 2, 2), strides=[2, 1], dilations=[2, 3])
    case("offset groups", f32(1, 4, 4, 4), f32(2, 4, 2, 2), og=2)
    case("groups", f32(1, 4, 4, 4), f32(4, 2, 2, 2), groups=2)


def regions():
    rois = np.array([[0.5, 1.2, 4.7, 5.1], [-1, -1, 2.3, 3.3], [3, 2, 3.1, 2.1], [5, 4, 9, 9]], np.float32)
    index = np.array([0, 1, 1, 0], np.int64)
    for half in (0, 1):
        for mode, name in ((0, "avg"), (2, "max")):
            for samples in (0, 2):
                for scale in (1.0, 0.6):
                    x = f32(2, 2, 6, 5)
                    y = run("RoiAlign", {"mode": name, "output_height": 2, "output_width": 3, "sampling_ratio": samples, "spatial_scale": scale,
                                         "coordinate_transformation_mode": "half_pixel" if half else "output_half_pixel"}, [x, rois, index], opset=16)[0]
                    go = {"Mode": mode, "Height": 2, "Width": 3, "SamplesHeight": samples, "SamplesWidth": samples, "ScaleHeight": scale, "ScaleWidth": scale, "HalfPixel": bool(half)}
                    add("roi_align", f"{name}, half pixel {half}, {samples} samples, scale {scale}", go, [x, rois, index], [y])
                    add("roi_align", f"{name}, half pixel {half}, {samples} samples, scale {scale}, channels last", {**go, "ChannelsLast": True}, [last(x), rois, index], [last(y)])
    rois = np.array([[0, 0.5, 1.2, 4.7, 5.1], [1, 0, 0, 2.3, 3.3], [1, 3, 2, 3, 2], [0, 4, 4, 9, 9], [1, 7, 7, 9, 9]], np.float32)
    for scale in (1.0, 0.5):
        x = f32(2, 2, 6, 5)
        y = run("MaxRoiPool", {"pooled_shape": [2, 3], "spatial_scale": scale}, [x, rois], opset=16)[0]
        go = {"Height": 2, "Width": 3, "ScaleHeight": scale, "ScaleWidth": scale}
        add("max_roi_pool", f"scale {scale}", go, [x, rois], [y])
        add("max_roi_pool", f"scale {scale}, channels last", {**go, "ChannelsLast": True}, [last(x), rois], [last(y)])
    for kernel, strides, dims in (([2, 2], [2, 2], (1, 2, 4, 4)), ([2], [2], (1, 2, 6)), ([2, 3], [2, 3], (1, 1, 4, 6)), ([3, 3], [2, 2], (1, 1, 7, 7))):
        x = f32(*dims)
        p, i = run("MaxPool", {"kernel_shape": kernel, "strides": strides}, [x], 2)
        y = reference("MaxUnpool", {"kernel_shape": kernel, "strides": strides}, [p, i])[0]
        add("max_unpool", f"kernel {kernel} of {dims}", {"Kernel": kernel, "Strides": strides}, [p, i], [y], "onnx reference evaluator")
    p, i = f32(1, 1, 2, 2), np.array([[[[5, 7], [13, 15]]]], np.int64)
    shape = np.array([1, 1, 5, 5], np.int64)
    y = reference("MaxUnpool", {"kernel_shape": [2, 2], "strides": [2, 2]}, [p, i, shape])[0]
    add("max_unpool", "output shape", {"Kernel": [2, 2], "Strides": [2, 2]}, [p, i, shape], [y], "onnx reference evaluator")


def einsum():
    for equation, shapes in (("ij,jk->ik", [(2, 3), (3, 4)]), ("bij,bjk->bik", [(2, 3, 2), (2, 2, 4)]), ("ij->ji", [(2, 3)]), ("ii->i", [(3, 3)]), ("ii", [(3, 3)]),
                             ("i,i", [(4,), (4,)]), ("i,j->ij", [(2,), (3,)]), ("...ij,...jk->...ik", [(2, 1, 3, 2), (4, 2, 3)]), ("ij...,jk", [(2, 3, 4), (3, 2)]),
                             ("ij,jk,kl->il", [(2, 3), (3, 4), (4, 2)]), ("ij->", [(2, 3)]), ("b i j , b k j -> b i k", [(2, 3, 2), (2, 4, 2)]), ("...->...", [(2, 3)]),
                             ("iji,j->i", [(2, 3, 2), (3,)]), ("bhwc,hkc->bhwk", [(1, 2, 3, 2), (2, 4, 2)]), ("ab,ab->ab", [(2, 3), (2, 3)]), ("Ab,bc->Ac", [(2, 3), (3, 2)])):
        xs = [f32(*s) for s in shapes]
        add("einsum", equation, {"Equation": equation}, xs, [np.asarray(np.einsum(equation.replace(" ", ""), *xs))], "numpy")
    xs = [rng.integers(-2**30, 2**30, (2, 3)).astype(np.int32), rng.integers(-2**30, 2**30, (3, 2)).astype(np.int32)]
    add("einsum", "int32", {"Equation": "ij,jk->ik"}, xs, [np.einsum("ij,jk->ik", *xs)], "numpy")


def transformers():
    def case(name, ins, go=None, ox=None, nout=1, opset=24):
        ys = reference("Attention", ox or {}, ins, nout, opset)
        add("attention", name, go or {}, ins, ys, "onnx reference evaluator")

    b, h, s, t, d, e = 2, 2, 3, 4, 2, 3
    qkv = lambda hk=h: [f32(b, h, s, d), f32(b, hk, t, d), f32(b, hk, t, e)]
    case("plain", qkv())
    case("scale", qkv(), {"Scale": 0.3}, {"scale": 0.3})
    case("softcap", qkv(), {"Softcap": 0.7}, {"softcap": 0.7})
    case("causal", qkv(), {"Causal": True}, {"is_causal": 1})
    for shape in ((s, t), (b, 1, s, t), (h, s, t), (b, h, s, t), (s, t - 1)):
        case(f"mask {shape}", qkv() + [f32(*shape)])
        case(f"bool mask {shape}", qkv() + [rng.random(shape) > 0.3])
    case("causal with mask", qkv() + [f32(s, t)], {"Causal": True}, {"is_causal": 1})
    m = np.ones((s, t), bool)
    m[1] = False
    case("a row without keys", qkv() + [m])
    case("grouped heads", [f32(b, 4, s, d), f32(b, 2, t, d), f32(b, 2, t, e)])
    case("past", qkv() + [None, f32(b, h, 2, d), f32(b, h, 2, e)], nout=3)
    case("past, causal", qkv() + [f32(s, t + 2), f32(b, h, 2, d), f32(b, h, 2, e)], {"Causal": True}, {"is_causal": 1}, nout=3)
    ins = [f32(b, s, 4 * d), f32(b, t, 2 * d), f32(b, t, 2 * e)]
    case("rank 3", ins, {"Heads": 4, "KVHeads": 2}, {"q_num_heads": 4, "kv_num_heads": 2}, nout=3)
    case("lengths", qkv() + [None, None, None, np.array([2, 4], np.int64)])
    case("lengths, causal", qkv() + [None, None, None, np.array([3, 4], np.int64)], {"Causal": True}, {"is_causal": 1})
    for mode in (1, 2, 3):
        case(f"scores {mode}", qkv() + [f32(s, t)], {"Scores": mode, "Softcap": 1.5}, {"qk_matmul_output_mode": mode, "softcap": 1.5}, nout=4)
    case("scores 0", qkv() + [f32(s, t)], {}, {"qk_matmul_output_mode": 0}, nout=4)

    def rotary(name, x, half, go=None, ox=None, ids=None, positions=6):
        bs, steps = x.shape[0], x.shape[2] if x.ndim == 4 else x.shape[1]
        cache = (positions, half) if ids is not None else (bs, steps, half)
        ins = [x, f32(*cache), f32(*cache)] + ([ids] if ids is not None else [])
        add("rotary_embedding", name, go or {}, ins, reference("RotaryEmbedding", ox or {}, ins, opset=23), "onnx reference evaluator")

    ids = np.array([[5, 0, 2], [1, 1, 4]], np.int64)
    rotary("halves", f32(2, 2, 3, 4), 2, ids=ids)
    rotary("interleaved", f32(2, 2, 3, 4), 2, {"Interleaved": True}, {"interleaved": 1}, ids)
    rotary("no positions", f32(2, 2, 3, 4), 2)
    rotary("part", f32(2, 2, 3, 6), 2, {"Dim": 4}, {"rotary_embedding_dim": 4}, ids)
    rotary("rank 3", f32(2, 3, 8), 2, {"Heads": 2}, {"num_heads": 2}, ids)
