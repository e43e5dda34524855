"""usage: onnxruntime_apart.py [OPENVINO] [MODEL.onnx...]

Prints how far results of ONNX Runtime, called directly, lie apart: with all optimizations against none, and with
OPENVINO, the folder of the unpacked package onnxruntime-openvino, of that provider, without optimizations of the
runtime, against none. This library has no part in it, so a difference that it shows is the provider's. Without MODELs
there is a small one for each kind of difference that ctest/drivers/rules_onnxruntime.txt names. A MODEL that
`conformance models` has written is called by the first case that needs it. Inputs are whole numbers, of MODELs
sixteenths.
"""
import json
import os
import pickle
import subprocess
import sys
import tempfile

import numpy as np

SEED = 39


def quantized(operator, share=0.25, apart=2):
    """DequantizeLinear, an operator on codes and QuantizeLinear, of scales that are powers of two: sums are exact, and
    of the results that lie between two codes many lie halfway."""
    from onnx import TensorProto, helper, numpy_helper
    random, nodes, constants = np.random.default_rng(SEED), [], []

    def constant(name, array):
        constants.append(numpy_helper.from_array(array, name))
        return name

    def real(name, kind, scale, zero):
        nodes.append(helper.make_node("DequantizeLinear", [name, constant(name + "_s", np.float32(scale)),
                                                           constant(name + "_z", kind(zero))], [name + "_r"]))
        return name + "_r"

    x = real("x", np.uint8, share, 121)
    shape = [2, 16, 9, 11]
    if operator == "Conv":
        w = real(constant("w", random.integers(-9, 10, (16, 16, 3, 3)).astype(np.int8)), np.int8, 1, 0)
        nodes.append(helper.make_node("Conv", [x, w], ["y"], pads=[1, 1, 1, 1], name="the_conv"))
        apart = 16
    elif operator == "MatMul":
        w = real(constant("w", random.integers(-9, 10, (11, 11)).astype(np.int8)), np.int8, 1, 0)
        nodes.append(helper.make_node("MatMul", [x, w], ["y"], name="the_product"))
        apart = 4
    elif operator == "Add":
        z = real(constant("v", random.integers(0, 256, shape).astype(np.uint8)), np.uint8, share, 121)
        nodes.append(helper.make_node("Add", [x, z], ["y"], name="the_sum"))
    elif operator == "Mul":
        z = real(constant("v", random.integers(0, 256, shape).astype(np.uint8)), np.uint8, share, 121)
        nodes.append(helper.make_node("Mul", [x, z], ["y"], name="the_products"))
        apart = 8
    elif operator == "AveragePool":
        nodes.append(helper.make_node("AveragePool", [x], ["y"], kernel_shape=[2, 2], name="the_pool"))
        apart = share
    elif operator == "Softmax":
        nodes.append(helper.make_node("Softmax", [x], ["y"], axis=1, name="the_softmax"))
        apart = 1 / 256
    elif operator == "Sigmoid":
        nodes.append(helper.make_node("Sigmoid", [x], ["y"], name="the_sigmoid"))
        apart = 1 / 256
    elif operator == "Clip from 0.5":
        nodes.append(helper.make_node("Clip", [x, constant("low", np.float32(0.5))], ["y"], name="the_clip"))
    elif operator == "Clip to 9.5":
        nodes.append(helper.make_node("Clip", [x, "", constant("high", np.float32(9.5))], ["y"], name="the_clip"))
    elif operator == "Clip from 0.5 to 9.5":
        nodes.append(helper.make_node("Clip", [x, constant("low", np.float32(0.5)), constant("high", np.float32(9.5))],
                                      ["y"], name="the_clip"))
    elif operator == "Relu":
        nodes.append(helper.make_node("Relu", [x], ["y"], name="the_relu"))
    nodes.append(helper.make_node("QuantizeLinear", ["y", constant("y_s", np.float32(apart)),
                                                     constant("y_z", np.uint8(117))], ["q"]))
    graph = helper.make_graph(nodes, operator, [helper.make_tensor_value_info("x", TensorProto.UINT8, shape)],
                              [helper.make_tensor_value_info("q", TensorProto.UINT8, None)], constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    return "Dequantize, %s, Quantize" % operator, model.SerializeToString()


def transform():
    """A DFT of reals."""
    from onnx import TensorProto, helper, numpy_helper
    graph = helper.make_graph(
        [helper.make_node("DFT", ["x", "", "axis"], ["y"])], "DFT",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 1, 96, 1])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(np.int64(2), "axis")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)
    return "DFT", model.SerializeToString()


def of_nan(operator):
    """An operator on square roots, of which those of negative numbers are NaN."""
    from onnx import TensorProto, helper, numpy_helper
    more = {"Clip": ["low"], "Min": ["low"], "Max": ["low"], "ReduceMax": ["axis"]}.get(operator, [])
    constants = [numpy_helper.from_array(np.float32(0.5), "low"), numpy_helper.from_array(np.int64([1]), "axis")]
    graph = helper.make_graph(
        [helper.make_node("Sqrt", ["x"], ["r"]), helper.make_node(operator, ["r"] + more, ["y"])], operator,
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [64, 3])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)], [c for c in constants if c.name in more])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)
    return "%s of NaN" % operator, model.SerializeToString()


def softplus():
    """The logarithm of 1 + e to the power of numbers, most of them small."""
    from onnx import TensorProto, helper, numpy_helper
    graph = helper.make_graph(
        [helper.make_node("Sub", ["x", "less"], ["r"]), helper.make_node("Softplus", ["r"], ["y"])], "Softplus",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [64, 3])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)], [numpy_helper.from_array(np.float32(9), "less")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)
    return "Softplus", model.SerializeToString()


def numpy_transform():
    """The DFT of transform, of its inputs, by NumPy in float64."""
    x = np.random.default_rng(SEED).integers(-9, 10, [2, 1, 96, 1]).astype(np.float64)
    y = np.fft.fft(x[..., 0], axis=2)
    return [np.stack([y.real, y.imag], axis=-1)]


def session(data, provider):
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    level = onnxruntime.GraphOptimizationLevel
    options.graph_optimization_level = level.ORT_ENABLE_ALL if provider == "all" else level.ORT_DISABLE_ALL
    options.add_session_config_entry("session.x64quantprecision", "1")
    if provider != "OpenVINO":
        return onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])
    options.add_session_config_entry("session.disable_cpu_ep_fallback", "1")
    return onnxruntime.InferenceSession(data, options, providers=["OpenVINOExecutionProvider"],
                                        provider_options=[{"device_type": "CPU", "num_of_threads": "1",
                                                           "precision": "ACCURACY"}])


def inputs(s, share):
    """Inputs of a seed, whole numbers or such shares of them."""
    random, out = np.random.default_rng(SEED), {}
    for x in s.get_inputs():
        kind = {"float": "float32", "double": "float64"}.get(x.type[7:-1], x.type[7:-1])
        low, high = (0, 256) if kind == "uint8" else (-128, 128) if kind == "int8" else (-9, 10)
        shape = [d if isinstance(d, int) else 1 for d in x.shape]
        if kind in ("float32", "float64") and share != 1:
            out[x.name] = (random.integers(low / share, high / share, shape) * share).astype(kind)
        else:
            out[x.name] = random.integers(low, high, shape).astype(kind)
    return out


def child(path, provider, share):
    """Computes pickled models of a file, of inputs that are such shares of whole numbers; the results go there."""
    with open(path, "rb") as f:
        models = pickle.load(f)
    results = []
    for data in models:
        try:
            s = session(data, provider)
            results.append([np.asarray(y) for y in s.run(None, inputs(s, share))])
        except Exception as e:  # a refusal of the runtime, of whatever class
            results.append(str(e).splitlines()[0][:100])
    with open(path, "wb") as f:
        pickle.dump(results, f)


def computed(models, provider, folder, share=1):
    """The results of models, of a process of their own: OpenVINO's package has another ONNX Runtime."""
    with tempfile.NamedTemporaryFile() as f:
        pickle.dump([data for _, data in models], f)
        f.flush()
        env = dict(os.environ, PYTHONPATH=folder) if folder else os.environ
        subprocess.run([sys.executable, __file__, "--child", f.name, provider, str(share)], check=True, env=env)
        with open(f.name, "rb") as g:
            return pickle.load(g)


def apart(got, want):
    """How far results lie apart, as a text."""
    if isinstance(got, str) or isinstance(want, str):
        return "not computed: %s" % (got if isinstance(got, str) else want)
    out = []
    for a, b in zip(got, want):
        a64, b64 = a.astype(np.float64), b.astype(np.float64)
        lost = np.isnan(a64) != np.isnan(b64)
        d = np.nan_to_num(np.abs(a64 - b64))
        part = " of %g" % np.nanmax(np.abs(b64)) if a.dtype.kind == "f" else " codes"
        out.append("%d of %d elements, by up to %g%s" % ((d > 0).sum(), d.size, d.max(), part))
        if lost.any():
            out.append("%d are NaN in one alone" % lost.sum())
    return "; ".join(out)


def called(path):
    """The name of a model: that of the first case that needs it, if a sheet beside it tells."""
    sheet = os.path.splitext(path)[0] + ".json"
    if not os.path.exists(sheet):
        return os.path.basename(path)
    with open(sheet) as f:
        return json.load(f)["cases"][0]


def main(arguments):
    folder = arguments.pop(0) if arguments and os.path.isdir(arguments[0]) else None
    models = []
    for path in arguments:
        with open(path, "rb") as f:
            models.append((called(path), f.read()))
    share = 1 / 16 if models else 1
    if not models:
        models = [quantized(o) for o in ("Relu", "Conv", "MatMul", "Add", "Mul", "AveragePool", "Softmax", "Sigmoid",
                                          "Clip from 0.5", "Clip to 9.5", "Clip from 0.5 to 9.5")]
        models += [of_nan(o) for o in ("Sqrt", "Relu", "Clip", "Min", "Max", "ReduceMax", "HardSigmoid", "Exp")]
        models += [softplus(), transform()]
    want = computed(models, "none", None, share)
    for provider, at in [("all", None)] + ([("OpenVINO", folder)] if folder else []):
        for (name, _), a, b in zip(models, computed(models, provider, at, share), want):
            print("%-8s %s: %s" % (provider, name, apart(a, b)))
    if not arguments:
        print("none     DFT beside NumPy's: %s" % apart(want[-1], numpy_transform()))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        child(sys.argv[2], sys.argv[3], float(sys.argv[4]))
    else:
        main(sys.argv[1:])
