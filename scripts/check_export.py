"""usage: check_export.py FOLDER

Checks each model of FOLDER with onnx.checker, computes it with ONNX Runtime and compares the results with those that the
JSON file beside it has. Exits 1 when a model is invalid or gives something else.
"""
import base64
import collections
import glob
import json
import sys

import ml_dtypes
import numpy as np
import onnx
import onnxruntime

TYPES = {"bfloat16": ml_dtypes.bfloat16, "bool": np.bool_}
TOLERANCE = {2: 4e-3, 4: 2e-5, 8: 2e-5}  # of floats, by size of an element


def array(t):
    data = np.frombuffer(base64.b64decode(t["Data"] or ""), TYPES.get(t["Type"]) or np.dtype(t["Type"]))
    return data.reshape(t["Dims"])


def difference(got, want, quantized):
    if got.shape != want.shape or got.dtype != want.dtype:
        return f"{got.dtype}{list(got.shape)}, want {want.dtype}{list(want.shape)}"
    if got.dtype.kind in "iub":
        off = np.abs(got.astype(np.float64) - want.astype(np.float64))
        if off.max(initial=0) > (1 if quantized else 0):
            return f"integers differ by up to {off.max()}"
        return None
    most = TOLERANCE[got.dtype.itemsize]
    if not np.allclose(got.astype(np.float64), want.astype(np.float64), rtol=5 * most, atol=most, equal_nan=True):
        return f"{got.ravel()[:4]}, want {want.ravel()[:4]}"
    return None


def session(path):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def main():
    onnxruntime.set_default_logger_severity(4)
    files = sorted(glob.glob(sys.argv[1] + "/*.onnx"))
    invalid = computed = equal = steps = 0
    wrong, lacking = [], collections.Counter()
    for path in files:
        case = json.load(open(path[: -len("onnx")] + "json"))
        try:
            onnx.checker.check_model(path, full_check=True)
        except Exception as e:
            wrong.append(f"{path}: {e}")
            invalid += 1
            continue
        x = {name: array(t) for name, t in zip(case["In"] or [], case["X"])}
        if any(v.dtype == ml_dtypes.bfloat16 for v in x.values()):
            lacking["bfloat16 at the border, which the Python interface of ONNX Runtime does not have"] += 1
            continue
        try:
            got = session(path).run(case["Out"], x)
        except Exception as e:
            words = str(e).split(" : ")
            lacking[words[-1].split(" node")[0][:90]] += 1
            continue
        computed += 1
        if case["Drawn"]:
            equal += 1
            continue
        want = [array(t) for t in case["Y"]]
        bad = [d for d in map(difference, got, want, case["Quantized"]) if d]
        steps += sum(int(np.sum(g != w)) for g, w, q in zip(got, want, case["Quantized"]) if q and g.shape == w.shape)
        if bad:
            wrong.append(f"{path}: {bad[0]}")
        else:
            equal += 1
    for text in wrong:
        print(text)
    for text, n in lacking.most_common(5):
        print(f"not computed by ONNX Runtime: {n} x {text}")
    print(f"{len(files)} models, {invalid} of them invalid; computed by ONNX Runtime {computed}, equal {equal}; elements of "
          f"quantized results a step beside: {steps}")
    sys.exit(1 if wrong or not computed else 0)


main()
