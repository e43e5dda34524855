"""Transforms of signals, windows, and operators that draw numbers."""
import numpy as np
from onnx import TensorProto

from sweep import add, f32, node


def transforms():
    x, z = f32(2, 6, 5, 1), f32(2, 6, 5, 2)
    of = lambda a: a[..., 0].astype(np.float64) + (1j * a[..., 1] if a.shape[-1] == 2 else 0)
    pair = lambda a: np.stack([a.real, a.imag], -1).astype(np.float32)
    n = {"n": np.array(4, np.int64), "l": np.array(8, np.int64), "a1": np.array(1, np.int64), "a2": np.array(2, np.int64), "b": np.array(-2, np.int64)}
    for kind, a in (("real", x), ("complex", z)):
        for size, length in (("", None), (" n", 4), (" l", 8)):
            for opset in (17, 20):
                tag = f"{kind}_{opset}{size.replace(' ', '_')}"
                want = pair(np.fft.fft(of(a), length, 1))
                last = " - a1" if not size else size + " a1"
                rest = {"axis": 1} if opset == 17 else {}
                add(f"dft_{tag}", node("DFT", "x" + (size if opset == 17 else last), **rest), {"x": a}, n, opset=opset, expected=[want], skip_reference=True, skip_onnxruntime=True)
        add(f"dft_{kind}_default_axis_17", node("DFT", "x"), {"x": a}, opset=17, expected=[pair(np.fft.fft(of(a), None, 1))], skip_reference=True)
        add(f"dft_{kind}_default_axis_20", node("DFT", "x"), {"x": a}, opset=20, expected=[pair(np.fft.fft(of(a), None, 2))], skip_reference=True, skip_onnxruntime=True)
        add(f"dft_{kind}_axis_2_17", node("DFT", "x", axis=2), {"x": a}, opset=17, expected=[pair(np.fft.fft(of(a), None, 2))], skip_reference=True)
        add(f"dft_{kind}_axis_2_20", node("DFT", "x - a2"), {"x": a}, n, opset=20, expected=[pair(np.fft.fft(of(a), None, 2))], skip_reference=True, skip_onnxruntime=True)
        add(f"dft_{kind}_axis_back_20", node("DFT", "x - b"), {"x": a}, n, opset=20, expected=[pair(np.fft.fft(of(a), None, 2))], skip_reference=True, skip_onnxruntime=True)
    for opset, ins, rest in ((17, "x", {"axis": 1}), (20, "x - a1", {})):
        add(f"dft_onesided_{opset}", node("DFT", ins, onesided=1, **rest), {"x": x}, n, opset=opset, expected=[pair(np.fft.rfft(x[..., 0].astype(np.float64), None, 1))], skip_reference=True, skip_onnxruntime=True)
        add(f"dft_inverse_{opset}", node("DFT", ins, inverse=1, **rest), {"x": z}, n, opset=opset, expected=[pair(np.fft.ifft(of(z), None, 1))], skip_reference=True, skip_onnxruntime=True)
    odd = f32(1, 7, 1)
    add("dft_onesided_odd", node("DFT", "x", onesided=1, axis=1), {"x": odd}, opset=17, expected=[pair(np.fft.rfft(odd[..., 0].astype(np.float64), None, 1))], skip_reference=True)
    s = f32(2, 23, 1)
    w = {"h": np.array(5, np.int64), "w": np.hanning(8).astype(np.float32), "l": np.array(8, np.int64)}
    for name, ins, window, sides in (("window", "x h w", w["w"], 1), ("length", "x h - l", np.ones(8), 1), ("both", "x h w l", w["w"], 1), ("twosided", "x h w l", w["w"], 0)):
        frames = np.stack([s[:, i:i + 8, 0] * window for i in range(0, 23 - 8 + 1, 5)], 1).astype(np.float64)
        want = pair(np.fft.rfft(frames, None, -1) if sides else np.fft.fft(frames, None, -1))
        add(f"stft_{name}", node("STFT", ins, **({} if sides else {"onesided": 0})), {"x": s}, w, opset=17, expected=[want], skip_reference=True, skip_onnxruntime=True)
    add("stft_two_dimensions", node("STFT", "x h w l", onesided=0), {"x": s[:, :, 0]}, w, opset=17, expected=[want], skip_reference=True)


def windows():
    k = np.arange(9, dtype=np.float64)
    shapes = {"HannWindow": (.5, .5, 0), "HammingWindow": (25 / 46, 21 / 46, 0), "BlackmanWindow": (.42, .5, .08)}
    for op, (a, b, c) in shapes.items():
        for periodic in (1, 0):
            t = 2 * np.pi * k / (9 if periodic else 8)
            want = (a - b * np.cos(t) + c * np.cos(2 * t)).astype(np.float32)
            add(f"{op.lower()}_{periodic}", [node(op, "n", "w", **({} if periodic else {"periodic": 0})), node("Mul", "w x")], {"x": f32(9) + np.float32(3)}, {"n": np.array(9, np.int64)},
                opset=17, skip_reference=True)
            last = list(add_last())
            got = last[2]["y"] / last[1]["x"]
            assert np.allclose(got, want, atol=2e-6), (op, periodic, got, want)
    mel = {"m": np.array(5, np.int64), "d": np.array(16, np.int64), "r": np.array(8000, np.int64), "l": np.float32(100), "h": np.float32(3500)}
    add("melweightmatrix", [node("MelWeightMatrix", "m d r l h", "w"), node("MatMul", "x w")], {"x": f32(2, 9)}, mel, opset=17)


def add_last():
    import gen as base
    return base.cases[list(base.cases)[-1]]


def drawn():
    """Only sizes, types and bounds of drawn numbers are known: the outputs are what follows from them."""
    x, zero = {"x": f32(3, 4)}, {"z": np.float32(0)}
    size = lambda shape: [np.array(shape, np.int64)]
    for op in ("RandomNormal", "RandomUniform"):
        add(f"{op.lower()}_shape", [node(op, "", "r", shape=[2, 3, 5]), node("Shape", "r", "s"), node("Mul", "x z", "u"), node("ReduceSum", "u", "v", keepdims=0), node("Cast", "v", "w", to=7),
                                    node("Add", "s w")], x, zero, opset=17, expected=size([2, 3, 5]), skip_reference=True)
        add(f"{op.lower()}_like", [node(op + "Like", "x", "r"), node("Shape", "r")], x, opset=17, expected=size([3, 4]), skip_reference=True)
    inside = [node("RandomUniform", "", "r", shape=[40], low=3.0, high=5.0), node("Clip", "r lo hi", "c"), node("Sub", "r c", "d"), node("Add", "d x")]
    add("randomuniform_bounds", inside, {"x": f32(40)}, {"lo": np.float32(3), "hi": np.float32(5)}, opset=17, expected=None, skip_reference=True)
    far = [node("RandomNormal", "", "r", shape=[40], mean=1000.0, scale=0.01), node("Clip", "r lo hi", "c"), node("Sub", "r c", "d"), node("Add", "d x")]
    add("randomnormal_mean", far, {"x": f32(40)}, {"lo": np.float32(999), "hi": np.float32(1001)}, opset=17, expected=None, skip_reference=True)
    p = {"x": np.array([[0, 1, 0], [1, 1, 0]], np.float32)}
    add("bernoulli_certain", node("Bernoulli", "x"), p, opset=15, expected=[p["x"]], skip_reference=True, skip_onnxruntime=True)
    add("bernoulli_dtype", node("Bernoulli", "x", dtype=TensorProto.INT32), p, opset=15, expected=[p["x"].astype(np.int32)], skip_reference=True, skip_onnxruntime=True)
    m = {"x": np.array([[-900, 0, -900], [0, -900, -900]], np.float32)}
    add("multinomial_certain", node("Multinomial", "x", sample_size=4), m, opset=17, expected=[np.array([[1] * 4, [0] * 4], np.int32)], skip_reference=True)
    add("multinomial_dtype", node("Multinomial", "x", sample_size=3, dtype=TensorProto.INT64), m, opset=17, expected=[np.array([[1] * 3, [0] * 3], np.int64)], skip_reference=True)


def make():
    transforms()
    windows()
    drawn()
