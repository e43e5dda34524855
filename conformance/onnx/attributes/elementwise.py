"""Elementwise operators, reductions, normalizations, products and quantization."""
import numpy as np
from onnx import TensorProto

from sweep import add, f32, ints, node, rng, sweep


def activations():
    x = {"x": np.linspace(-3.3, 3.7, 15, dtype=np.float32).reshape(3, 5)}
    for op, opset, vary in (("Elu", 6, {"alpha": [0.3, 2.0]}), ("LeakyRelu", (6, 16), {"alpha": [0.3, -0.2]}),
                            ("Selu", 6, {"alpha": [0.5, 1.1], "gamma": [0.5, 2.0]}), ("Celu", 12, {"alpha": [0.4, 2.5]}),
                            ("HardSigmoid", 6, {"alpha": [0.1, 0.4], "beta": [0.2, 0.7]}), ("ThresholdedRelu", 10, {"alpha": [0.2, 2.2]}),
                            ("Shrink", 9, {"bias": [0.3, -0.2], "lambd": [0.2, 1.7]}), ("Gelu", 20, {"approximate": ["tanh"]})):
        sweep(op.lower(), op, opset, ["x"], x, vary, rtol=1e-5, atol=1e-7)
    sweep("clip", "Clip", 6, ["x"], x, {"min": [-0.5, 0.5], "max": [1.5, -1.5]})
    sweep("clip", "Clip", (11, 13), ["x", "x lo", "x - hi", "x lo hi"], x, inits={"lo": np.float32(-0.5), "hi": np.float32(1.25)})
    special = {"x": np.array([[1, np.inf, -np.inf], [np.nan, -2, np.inf]], np.float32)}
    sweep("isinf", "IsInf", 10, ["x"], special, {"detect_negative": [0], "detect_positive": [0]})
    n = {"a": np.array([-7, 7, -8, 8, 5], np.int32), "b": np.array([3, -3, 5, -5, 3], np.int32)}
    sweep("mod", "Mod", (10, 13), ["a b"], n, {"fmod": [1]})
    z = {"x": np.array([[-2.5, -1.5, -0.5], [0.5, 1.5, 2.5], [3.7, -3.7, 100.25], [0, -0.0, 126.5]], np.float32)}
    for opset in (9, 19):
        for to in ("INT8", "INT32", "INT64", "BOOL", "FLOAT16", "DOUBLE"):
            add(f"cast_{opset}_{to.lower()}", node("Cast", "x", to=getattr(TensorProto, to)), z, opset=opset)
    add("round_half_even", node("Round", "x"), z, opset=11)
    add("castlike_19", node("CastLike", "x l"), {**z, "l": np.zeros((1,), np.int16)}, opset=19)


def reductions():
    x = {"x": f32(2, 3, 4) + np.float32(2.5)}
    for op in "ReduceSum ReduceMean ReduceMax ReduceMin ReduceProd ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceSumSquare".split():
        many = op in ("ReduceSum", "ReduceMean", "ReduceMax")
        sweep(op.lower(), op, (11,), ["x"], x, {"axes": [[1], [-1, 0]] if many else [[-2]], "keepdims": [0]})
        opset = 13 if op == "ReduceSum" else 18
        forms = ["x", "x a", "x b"] if many else ["x", "x b"]
        sweep(op.lower(), op, opset, forms, x, {"keepdims": [0]}, {"a": ints(1), "b": ints(-1, 0)})
        add(f"{op.lower()}_{opset}_empty", node(op, "x e"), x, {"e": np.zeros(0, np.int64)}, opset=opset, skip_reference=True)
        if many or op in ("ReduceMin", "ReduceProd"):  # versions of the specification differ on what the others do
            for ins in ("x e", "x"):
                add(f"{op.lower()}_{opset}_noop_{len(ins)}", node(op, ins, noop_with_empty_axes=1), x, {"e": np.zeros(0, np.int64)}, opset=opset, skip_reference=True)
        add(f"{op.lower()}_{opset}_noop_axes", node(op, "x b", noop_with_empty_axes=1, keepdims=0), x, {"b": ints(-1, 0)}, opset=opset)
    ties = {"x": np.array([[[3, 1, 3, 1], [5, 1, 0, 5], [5, 4, 3, 1]], [[3, 1, 9, 0], [1, 7, 9, 0], [2, 7, 0, 8]]], np.float32)}
    for op in ("ArgMax", "ArgMin"):
        sweep(op.lower(), op, 12, ["x"], ties, {"axis": [1, -1], "keepdims": [0], "select_last_index": [1]})
        sweep(op.lower(), op, 11, ["x"], ties, {"axis": [1], "keepdims": [0]})
    for op in ("Softmax", "LogSoftmax", "Hardmax"):
        for opset in (7, 11, 13):
            sweep(op.lower() + "3", op, opset, ["x"], x, {"axis": [0, 2 if opset < 13 else 1]}, skip_reference=opset < 13)
    sweep("cumsum", "CumSum", (11, 14), ["x a"], x, {"exclusive": [1], "reverse": [1]}, {"a": np.int32(1)})
    add("cumsum_both", node("CumSum", "x a", exclusive=1, reverse=1), x, {"a": ints(-1)[0]})
    t = {"x": f32(3, 5, 4)}
    add("topk_7", node("TopK", "x", "v i", k=2), t, opset=7)
    add("topk_7_axis", node("TopK", "x", "v i", k=2, axis=1), t, opset=7)
    sweep("topk", "TopK", 10, ["x k"], t, {"axis": [0, 1]}, {"k": ints(2)}, outs="v i")
    sweep("topk", "TopK", 11, ["x k"], t, {"axis": [0, -2], "largest": [0]}, {"k": ints(2)}, outs="v i")
    sweep("lpnorm", "LpNormalization", 1, ["x"], t, {"axis": [0, 1], "p": [1]}, skip_reference=True)
    sweep("mvn", "MeanVarianceNormalization", (9, 13), ["x"], {"x": f32(2, 3, 5, 4)}, {"axes": [[0, 1], [1]]})


def normalizations():
    v = lambda n: f32(n) + np.float32(2.5)
    x, c = {"x": f32(2, 6, 3, 5) * np.float32(0.05)}, {"s": v(6), "b": f32(6), "m": f32(6) * np.float32(0.05), "v": v(6) * np.float32(1e-3)}
    for opset in (7, 9, 14, 15):
        sweep("batchnorm", "BatchNormalization", opset, ["x s b m v"], x, {"epsilon": [0.01, 1e-3]}, c, skip_reference=opset == 9)
    add("batchnorm_7_momentum", node("BatchNormalization", "x s b m v", momentum=0.1), x, c, opset=7)
    sweep("instancenorm", "InstanceNormalization", 6, ["x s b"], x, {"epsilon": [0.01, 1e-3]}, c)
    sweep("groupnorm", "GroupNormalization", 21, ["x s b"], x, {"epsilon": [0.01, 1e-3], "num_groups": [2, 6]}, c, fixed={"num_groups": 3})
    g = {"s": c["s"][:3], "b": c["b"][:3]}
    sweep("groupnorm", "GroupNormalization", 18, ["x s b"], x, {"epsilon": [0.01, 1e-3]}, g, fixed={"num_groups": 3})
    y = {"x": f32(2, 3, 5) * np.float32(0.05)}
    sweep("layernorm", "LayerNormalization", 17, ["x s", "x s b"], y, {"epsilon": [0.01, 1e-3], "axis": [1, 0]}, {"s": np.array(1.7, np.float32), "b": v(5)})
    add("layernorm_mean", node("LayerNormalization", "x s b", "y m d", axis=1), y, {"s": f32(3, 5), "b": f32(3, 5)}, opset=17)
    sweep("rmsnorm", "RMSNormalization", 23, ["x s"], y, {"epsilon": [0.01, 1e-3], "axis": [1, 0]}, {"s": np.array(1.7, np.float32)})
    sweep("lrn", "LRN", (7, 13), ["x"], {"x": f32(2, 7, 3, 4)}, {"alpha": [0.3, 0.05], "beta": [0.5, 1.5], "bias": [2.0, 0.5], "size": [5, 1]}, fixed={"size": 3}, skip_reference=True)
    for opset in (7, 10, 12, 13):
        add(f"dropout_{opset}", node("Dropout", "x"), y, opset=opset)
    add("dropout_7_ratio", node("Dropout", "x", ratio=0.9), y, opset=7)
    add("dropout_12_mask", node("Dropout", "x r t", "y m"), y, {"r": np.float32(0.9), "t": np.array(False)}, opset=12)


def products():
    sweep("gemm", "Gemm", (11, 13), ["a b c", "a b"], {"a": f32(4, 4), "b": f32(4, 4), "c": f32(4, 1)},
          {"alpha": [0.5, -2.0], "beta": [0.5, -2.0], "transA": [1], "transB": [1]})
    for i, shape in enumerate(((), (5,), (1, 5), (3, 1), (3, 5))):
        add(f"gemm_7_c_{i}", node("Gemm", "a b c", alpha=0.5, beta=2.0, transA=1), {"a": f32(4, 3)}, {"b": f32(4, 5), "c": f32(*shape) if shape else np.float32(1.3)}, opset=7)
        if i != 1:
            add(f"gemm_13_given_{i}", node("Gemm", "a b c", transB=1), {"a": f32(3, 4), "b": f32(5, 4), "c": np.asarray(f32(*shape)) if shape else np.array(1.3, np.float32)}, opset=13)
    for i, (a, b) in enumerate((((4,), (4,)), ((3, 4), (4,)), ((4,), (2, 4, 3)), ((2, 1, 3, 4), (5, 4, 6)), ((5, 3, 4), (4, 2)), ((3, 4), (5, 4, 2)))):
        add(f"matmul_1_{i}", node("MatMul", "a b"), {"a": f32(*a), "b": f32(*b)}, opset=7)
        add(f"matmul_13_{i}", node("MatMul", "a b"), {"a": f32(*a)}, {"b": f32(*b)}, opset=13)


def codes(dtype, *shape):
    """Random codes; those of int8 are small, as ONNX Runtime saturates sums of two products to 16 bits on some processors."""
    low, high = (-40, 50) if dtype == np.int8 else (0, 200)
    return rng.integers(low, high, shape).astype(dtype)


def quantized():
    x = {"x": f32(2, 3, 4) * np.float32(40)}
    s, z = np.array([0.5, 0.25, 1], np.float32), np.array([3, -7, 20], np.int8)
    c = {"s": np.float32(0.5), "z": np.int8(-5), "u": np.uint8(131), "S": s, "Z": z, "W": np.array([.5, 1, .25, 2], np.float32), "Y": np.array([1, 2, -9, 40], np.int8)}
    for opset in (10, 13, 19, 21):
        sweep("quantize", "QuantizeLinear", opset, ["x s", "x s z", "x s u"], x, None, c)
    for opset in (13, 19, 21):
        add(f"quantize_{opset}_axis_default", node("QuantizeLinear", "x S Z"), x, c, opset=opset)
        add(f"quantize_{opset}_axis_last", node("QuantizeLinear", "x W Y", axis=-1), x, c, opset=opset)
        q = {"x": codes(np.int8, 2, 3, 4)}
        add(f"dequantize_{opset}_axis_default", node("DequantizeLinear", "x S Z"), q, c, opset=opset)
        add(f"dequantize_{opset}_axis_last", node("DequantizeLinear", "x W Y", axis=-1), q, c, opset=opset)
        add(f"dequantize_{opset}_no_zero", node("DequantizeLinear", "x W", axis=2), q, c, opset=opset)
    b = {"x": f32(2, 6, 3) * np.float32(40)}
    add("quantize_21_blocks", node("QuantizeLinear", "x s z", axis=1, block_size=2), b, {"s": np.abs(f32(2, 3, 3)) + np.float32(.5), "z": codes(np.int8, 2, 3, 3) // 8})
    add("dequantize_21_blocks", node("DequantizeLinear", "x s z", axis=1, block_size=2), {"x": codes(np.int8, 2, 6, 3)}, {"s": np.abs(f32(2, 3, 3)) + np.float32(.5), "z": codes(np.int8, 2, 3, 3) // 8})
    add("quantize_21_output_dtype", node("QuantizeLinear", "x s", output_dtype=TensorProto.INT16), x, c)
    add("dynamicquantize", node("DynamicQuantizeLinear", "x", "y s z"), x, opset=11)
    for pad in (0, 1):
        for zero in ("", " az bz"):
            add(f"convinteger_{pad}{'_zero' if zero else ''}", node("ConvInteger", "a b" + zero, pads=[pad, 0, 0, pad], strides=[1, 2]), {"a": codes(np.uint8, 2, 3, 5, 6)},
                {"b": codes(np.uint8, 4, 3, 2, 3), "az": np.uint8(117), "bz": np.uint8(90)}, opset=10, skip_reference=True)
        add(f"qlinearconv_{pad}", node("QLinearConv", "a as az b bs bz ys yz", pads=[pad, 0, 0, pad]), {"a": codes(np.uint8, 2, 3, 5, 6)},
            {"as": np.float32(.5), "az": np.uint8(117), "b": codes(np.int8, 4, 3, 2, 3), "bs": np.array([.5, .25, 1, 2], np.float32), "bz": np.zeros(4, np.int8),
             "ys": np.float32(512), "yz": np.uint8(120)}, opset=10, skip_reference=True)
        add(f"qlinearconv_{pad}_bias", node("QLinearConv", "a as az b bs bz ys yz c", pads=[pad, 0, 0, pad], group=3), {"a": codes(np.int8, 2, 3, 5, 6)},
            {"as": np.float32(.5), "az": np.int8(17), "b": codes(np.int8, 6, 1, 2, 3), "bs": np.float32(.25), "bz": np.int8(0),
             "ys": np.float32(64), "yz": np.int8(-20), "c": ints(3000, -9000, 500, 12345, -777, 4000).astype(np.int32)}, opset=10, skip_reference=True)
    add("qlinearmatmul", node("QLinearMatMul", "a as az b bs bz ys yz"), {"a": codes(np.uint8, 3, 5)},
        {"as": np.float32(.5), "az": np.uint8(117), "b": codes(np.uint8, 5, 4), "bs": np.float32(.25), "bz": np.uint8(90), "ys": np.float32(16), "yz": np.uint8(120)}, opset=10)
    for zero in ("", " az", " - bz", " az bz"):
        add("matmulinteger" + zero.replace(" ", "_").replace("-", "0"), node("MatMulInteger", "a b" + zero), {"a": codes(np.uint8, 3, 5)},
            {"b": codes(np.int8, 5, 4), "az": np.uint8(117), "bz": np.int8(-9)}, opset=10)


def make():
    activations()
    reductions()
    normalizations()
    products()
    quantized()
