"""Recomputes the float32 cases of the window operators with ONNX Runtime: a second opinion on the NumPy formulas of this folder.

usage: python check_ort.py ../cases
"""

import json
import os
import sys

import numpy as np
import onnxruntime
from onnx import TensorProto, helper


def run(nodes, feeds, outputs=1):
    ins = [helper.make_tensor_value_info(k, TensorProto.FLOAT, v.shape) for k, v in feeds.items()]
    outs = [helper.make_tensor_value_info(f"y{i}", TensorProto.FLOAT, None) for i in range(outputs)]
    model = helper.make_model(helper.make_graph(nodes, "g", ins, outs), opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    return onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"]).run(None, feeds)


def array(t):
    body = t.get("feed") or t.get("expect") or t
    return np.array([float(v) for v in body["data"]], np.float32).reshape([abs(d) for d in body["dims"]])


def window(c, op):
    """Attributes of the case's parameters: strides, dilations, pads or auto_pad, group, kernel."""
    p = {t["param"][len(op) + 1:]: t["data"] for t in c["tensors"] if "param" in t}
    a = {}
    for key, name in (("STRIDES", "strides"), ("STRIDE", "strides"), ("DILATION", "dilations"), ("KERNEL_SIZE", "kernel_shape"), ("OUTPUT_PADDINGS", "output_padding")):
        if key in p:
            a[name] = p[key]
    if "PAD" in p:
        t, b, left, r = p["PAD"]
        a["pads"] = [t, left, b, r]
    elif "PAD_MODE" in p:
        a["auto_pad"] = "SAME_UPPER" if p["PAD_MODE"][0] == 0 else "VALID"
    return a, p


def expected(c, op, x):
    a, p = window(c, op)
    nchw, back = (0, 3, 1, 2), (0, 2, 3, 1)
    if p.get("GLOBAL") or p.get("ACTIVATION_TYPE", [0])[0] or a.get("auto_pad") == "SAME_UPPER" and max(a.get("dilations", [1])) > 1:
        return None
    if op in ("CONV2D", "DEPTHWISE_CONV2D_NATIVE"):
        a["group"] = p.get("GROUP", [1])[0] if op == "CONV2D" else x[0].shape[3]
        y = run([helper.make_node("Conv", ["x", "w", "b"], ["y0"], **a)], {"x": x[0].transpose(nchw), "w": x[1].transpose(nchw), "b": x[2]})
    elif op == "CONV2D_TRANSPOSE":
        a["group"] = p.get("GROUP", [1])[0]
        if x[1].shape[0] != len(x[2]):
            return None
        o, kh, kw, ci = x[1].shape
        if a.get("auto_pad") == "SAME_UPPER" and "output_padding" in a:  # ONNX Runtime forgets one of them: the padding in numbers
            del a["auto_pad"]
            full = [(n - 1) * s + k for n, s, k in zip(x[0].shape[1:3], a["strides"], (kh, kw))]
            same = [n * s for n, s in zip(x[0].shape[1:3], a["strides"])]
            before = [max(0, int((f - n - e) / 2)) for f, n, e in zip(full, same, a["output_padding"])]
            a["pads"] = before + [f - n - b for f, n, b in zip(full, same, before)]
        g = a["group"]
        w = x[1].reshape(g, o // g, kh, kw, ci).transpose(0, 4, 1, 2, 3).reshape(g * ci, o // g, kh, kw)
        y = run([helper.make_node("ConvTranspose", ["x", "w", "b"], ["y0"], **a)], {"x": x[0].transpose(nchw), "w": w, "b": x[2]})
    elif op in ("MAX_POOL", "AVG_POOL"):
        kind = "MaxPool" if op == "MAX_POOL" else "AveragePool"
        y = run([helper.make_node(kind, ["x"], ["y0"], ceil_mode=p.get("ROUND_MODE", [0])[0], **a)], {"x": x[0].transpose(nchw)})
    elif op == "LRN":
        r, bias, alpha, beta = (p.get(k, [0])[0] for k in ("DEPTH_RADIUS", "BIAS", "ALPHA", "BETA"))
        if not (alpha > 0 and beta > 0 and bias > 0):  # ONNX Runtime takes no other
            return None
        n = 2 * r + 1
        a = dict(size=n, bias=float(bias), alpha=float(alpha) * n, beta=float(beta))
        y = run([helper.make_node("LRN", ["x"], ["y0"], **a)], {"x": x[0].transpose(nchw)})
    else:
        return None
    return y[0].transpose(back)


def main(folder):
    checked = 0
    for op in ("CONV2D", "DEPTHWISE_CONV2D_NATIVE", "CONV2D_TRANSPOSE", "MAX_POOL", "AVG_POOL", "LRN"):
        with open(os.path.join(folder, op.lower() + ".json")) as f:
            for c in json.load(f):
                ts = c["tensors"]
                if "reject" in c or any(ts[i]["type"] != "float32" for i in c["in"]):
                    continue
                y = expected(c, op, [array(ts[i]) for i in c["in"]])
                if y is None:
                    continue
                want = array(ts[c["out"][0]])
                if y.shape != want.shape or not np.allclose(y, want, rtol=1e-5, atol=1e-5):
                    sys.exit(f"{op} {c['name']}: {y.shape} {want.shape} {np.abs(y - want).max() if y.shape == want.shape else ''}")
                checked += 1
    print(f"{checked} cases agree with ONNX Runtime {onnxruntime.__version__}")


if __name__ == "__main__":
    main(sys.argv[1])
