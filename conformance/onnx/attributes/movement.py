"""Operators that move elements, and models whose functions and bodies have attributes and versions of their own."""
import numpy as np
from onnx import AttributeProto, TensorProto, helper

from sweep import add, f32, ints, node, sweep


def shapes():
    x = {"x": f32(2, 3, 4, 5)}
    sweep("flatten", "Flatten", (9, 13), ["x"], x, {"axis": [0, 2, -1]})
    sweep("transpose", "Transpose", 13, ["x"], x, {"perm": [[1, 0, 3, 2], [2, 3, 1, 0], [0, 3, 1, 2]]})
    sweep("shape", "Shape", 15, ["x"], x, {"start": [1, -2, -9], "end": [2, -1, 9]}, same=("start_2", "end_2"))
    add("shape_15_both", node("Shape", "x", start=-3, end=-1), x, opset=15)
    one = {"x": f32(1, 3, 1, 2, 1)}
    sweep("squeeze", "Squeeze", (7, 11), ["x"], one, {"axes": [[0], [2], [0, 4]]}, skip_reference=True)
    sweep("squeeze", "Squeeze", 13, ["x", "x a", "x b"], one, inits={"a": ints(-3), "b": ints(4, 0)})
    add("unsqueeze_7", node("Unsqueeze", "x", axes=[0, 3]), {"x": f32(2, 3)}, opset=7)
    add("unsqueeze_11_negative", node("Unsqueeze", "x", axes=[-1, 1]), {"x": f32(2, 3)}, opset=11)
    add("unsqueeze_13_negative", node("Unsqueeze", "x a"), {"x": f32(2, 3)}, {"a": ints(-2, 0)}, opset=13)
    for opset in (7, 13, 14):
        add(f"reshape_{opset}_zero", node("Reshape", "x s"), x, {"s": ints(0, -1, 5)}, opset=opset)
    add("reshape_14_allowzero", node("Reshape", "x s", allowzero=1), {"x": f32(0, 3, 2)}, {"s": ints(3, 0)}, opset=14)
    sweep("split", "Split", (7, 11), ["x"], {"x": f32(6, 9)}, {"split": [[1, 3, 2], [4, 1, 1]], "axis": [1]}, outs="a b c")
    sweep("split", "Split", 13, ["x", "x s"], {"x": f32(6, 9)}, {"axis": [1, -1]}, {"s": ints(1, 3, 2)}, outs="a b c", same=("axis_1",))
    add("split_18_uneven", node("Split", "x", "a b c", axis=-1, num_outputs=3), {"x": f32(2, 8)}, opset=18)
    add("split_18_sizes", node("Split", "x s", "a b c", axis=1), {"x": f32(2, 8)}, {"s": ints(3, 0, 5)}, opset=18)
    add("slice_7_axes_default", node("Slice", "x", starts=[1, -2], ends=[9, 3]), x, opset=7)
    add("slice_7_axes", node("Slice", "x", starts=[1, -2], ends=[-1, 9], axes=[3, 1]), x, opset=7)
    i = {"s": ints(1, -2), "e": ints(2, -1), "a": ints(1, -1), "t": ints(1, -1), "S": ints(-1, 3), "E": ints(-9, 0), "T": ints(-2, -1)}
    for opset in (10, 13):
        sweep("slice", "Slice", opset, ["x s e", "x s e a"], x, inits=i)
        sweep("slicesteps", "Slice", opset, ["x S E a T"], x, inits=i)
    add("slice_13_no_axes", node("Slice", "x S E - T"), {"x": f32(3, 5)}, i, opset=13)
    p = {"x": f32(3, 4)}
    sweep("pad", "Pad", 7, ["x"], p, {"value": [1.5, -2.0], "mode": ["reflect", "edge"]}, fixed={"pads": [1, 2, 0, 1]})
    c = {"p": ints(1, 2, 0, 1), "v": np.float32(1.5), "n": ints(-1, 2, 0, -2), "q": ints(2, 1), "a": ints(-1), "b": ints(0)}
    for opset in (11, 13):
        sweep("pad", "Pad", opset, ["x p", "x p v", "x n v"], p, {"mode": ["reflect", "edge"]}, c)
    sweep("pad", "Pad", 18, ["x p", "x p v", "x q - a", "x q v b"], p, {"mode": ["reflect", "edge"]}, c)
    add("pad_19_wrap", node("Pad", "x p", mode="wrap"), p, c, opset=19)
    d = {"x": f32(2, 12, 3, 5)}
    sweep("depthtospace", "DepthToSpace", (11, 13), ["x"], d, {"mode": ["CRD"]}, fixed={"blocksize": 2})
    add("spacetodepth_13", node("SpaceToDepth", "x", blocksize=2), {"x": f32(2, 3, 4, 6)}, opset=13)
    sweep("centercroppad", "CenterCropPad", 18, ["x s"], {"x": f32(5, 6)}, {"axes": [[1, 0], [0, -1]]}, {"s": ints(4, 9)}, same=("axes_1",))


def lookups():
    x = {"x": f32(4, 3, 5), "i": np.array([[0, 2], [-1, 1]], np.int64)}
    for op, opset in (("Gather", 11), ("Gather", 13)):
        sweep(op.lower(), op, opset, ["x i"], x, {"axis": [1, -1]})
    j = {"x": f32(4, 3, 5), "i": np.array([[[0, 2, 1], [-1, 1, 0]]], np.int64), "u": f32(1, 2, 3)}
    sweep("gatherelements", "GatherElements", (11, 13), ["x i"], j, {"axis": [1, 2]})
    add("scatter_9", node("Scatter", "x i u"), {**j, "i": np.abs(j["i"])}, opset=9, skip_reference=True)
    sweep("scatterelements", "ScatterElements", 11, ["x i u"], j, {"axis": [1, -1]})
    same = {"x": f32(3, 4), "i": np.array([[1, 1, 0], [2, 2, 2]], np.int64), "u": f32(2, 3) + np.float32(3)}
    for red in ("add", "mul", "max", "min"):
        add(f"scatterelements_18_{red}_twice", node("ScatterElements", "x i u", axis=1, reduction=red), same, opset=18, skip_reference=True)
    g = {"x": f32(2, 3, 2, 5), "i": np.array([[[1, 0], [2, 1], [0, 0]], [[0, 1], [-1, 0], [1, 1]]], np.int64)}
    add("gathernd_11", node("GatherND", "x i"), {"x": f32(3, 4, 5), "i": np.array([[1, 3], [-1, 0]], np.int64)}, opset=11)
    add("gathernd_12_batch_0", node("GatherND", "x i"), {**g, "i": np.abs(g["i"]) % 2}, opset=12)
    add("gathernd_12_batch_1", node("GatherND", "x i", batch_dims=1), g, opset=12)
    n = {"i": np.array([[0, 2, -1], [3, 5, -4]], np.int64)}
    c = {"d": np.array(4, np.int64), "v": np.array([-1.5, 2], np.float32)}
    sweep("onehot", "OneHot", (9, 11), ["i d v"], {"i": np.abs(n["i"]) % 4}, {"axis": [0, 1]}, c)
    add("onehot_11_outside", node("OneHot", "i d v"), n, c, opset=11, skip_reference=True)  # it wraps what is out of range
    r = {"x": f32(4, 5, 3), "l": ints(3, 1, 4, 2), "m": ints(3, 1, 4, 2, 3)}
    add("reversesequence_default", node("ReverseSequence", "x m"), {"x": r["x"], "m": ints(3, 1, 4, 2, 4)}, opset=10)
    add("reversesequence_batch_first", node("ReverseSequence", "x l", batch_axis=0, time_axis=1), r, opset=10)
    t = {"x": f32(2, 4, 3)}
    sweep("trilu", "Trilu", 14, ["x", "x k", "x m"], t, {"upper": [0]}, {"k": np.array(1, np.int64), "m": np.array(-2, np.int64)})
    sweep("eyelike", "EyeLike", 9, ["x"], {"x": f32(4, 3)}, {"dtype": [TensorProto.INT32], "k": [1, -2]})
    add("concat_7_axis_0", node("Concat", "a b", axis=0), {"a": f32(2, 3), "b": f32(4, 3)}, opset=7)
    add("concat_11_negative", node("Concat", "a b a", axis=-2), {"a": f32(2, 3, 5), "b": f32(2, 4, 5)}, opset=11)
    add("tile_6", node("Tile", "x r"), t, {"r": ints(2, 1, 3)}, opset=7)
    add("expand_smaller", node("Expand", "x s"), {"x": f32(4, 1, 3)}, {"s": ints(5, 1)}, opset=8)
    size, seven = {"s": ints(2, 3)}, helper.make_tensor("v", TensorProto.INT32, [1], [7])
    add("constantofshape_default", [node("ConstantOfShape", "s", "c"), node("Sub", "c x")], {"x": f32(3)}, size, opset=9)
    add("constantofshape_int", [node("ConstantOfShape", "s", "c", value=seven), node("Sub", "c x")], {"x": np.array([1, -5, 3], np.int32)}, size, opset=9)
    for k, v in {"value_float": 1.5, "value_floats": [1.5, -2.0], "value_int": 7, "value_ints": [3, -4]}.items():
        like = {"x": f32(3, 2)} if "float" in k else {"x": np.arange(6, dtype=np.int64).reshape(3, 2)}
        add(f"constant_{k}", [helper.make_node("Constant", [], ["c"], **{k: v}), node("Sub", "x c")], like, opset=12)


def bodies():
    x = {"x": f32(2, 3, 4)}
    older, newer = node("ReduceMean", "l", "r", axes=[1], keepdims=1), node("ReduceMean", "l a", "r", keepdims=1)
    rest = lambda opset, *nodes: helper.make_function("local", "Rest", ["l"], ["r"], nodes, [helper.make_opsetid("", opset)])
    call, c = helper.make_node("Rest", ["x"], ["t"], domain="local"), {"d": ints(-1)}
    # ONNX Runtime reads a function's nodes at the model's opset.
    add("function_older", [call, node("ReduceMean", "t d")], x, c, functions=[rest(12, older)], opset=18, skip_onnxruntime=True)
    add("function_newer", [call, node("ReduceMean", "t", axes=[-1])], x, functions=[rest(18, helper.make_node("Constant", [], ["a"], value_ints=[1]), newer)],
        opset=12, skip_onnxruntime=True)
    f = helper.make_function("local", "Leak", ["l"], ["r"], [node("LeakyRelu", "l", "r")], [helper.make_opsetid("", 16)], ["alpha"])
    ref = helper.make_node("LeakyRelu", ["l"], ["r"])
    ref.attribute.append(AttributeProto(name="alpha", type=AttributeProto.FLOAT, ref_attr_name="slope"))
    g = helper.make_function("local", "Slope", ["l"], ["r"], [ref], [helper.make_opsetid("", 16)], ["slope"])
    for k, (fn, name, attrs) in enumerate(((f, "Leak", {"alpha": 0.5}), (g, "Slope", {"slope": 0.5}), (g, "Slope", {}))):
        add(f"function_attribute_{k}", [helper.make_node(name, ["x"], ["t"], domain="local", **attrs), node("Neg", "t")], x, functions=[fn], opset=16)
    d = helper.make_function("local", "Slope", ["l"], ["r"], [ref], [helper.make_opsetid("", 16)], [], [helper.make_attribute("slope", 0.7)])
    add("function_attribute_default", [helper.make_node("Slope", ["x"], ["t"], domain="local"), node("Neg", "t")], x, functions=[d], opset=16)
    info = helper.make_tensor_value_info
    F = TensorProto.FLOAT
    body = helper.make_graph([node("Add", "s e", "n"), node("Mul", "n e", "o")], "b", [info("s", F, None), info("e", F, None)], [info("n", F, None), info("o", F, None)])
    z = {"x": f32(4, 3, 5), "a": f32(3, 5), "b": f32(4, 5), "c": f32(4, 3)}
    for i, (init, attrs) in enumerate((("a", {}), ("a", {"scan_input_directions": [1]}), ("a", {"scan_output_directions": [1]}), ("b", {"scan_input_axes": [1]}),
                                       ("a", {"scan_output_axes": [1]}), ("c", {"scan_input_axes": [-1], "scan_output_axes": [-1]}))):
        add(f"scan_{i}", node("Scan", f"{init} x", "y all", body=body, num_scan_inputs=1, **attrs), z, opset=11, skip_reference=True)
    trip = [info("i", TensorProto.INT64, []), info("g", TensorProto.BOOL, [])]
    turn = helper.make_graph([node("Cast", "i", "f", to=1), node("Mul", "s x", "p"), node("Add", "p f", "n"), node("Less", "i m", "h"), node("Sub", "n x", "o")], "t",
                             trip + [info("s", F, [2, 3])], [info("h", TensorProto.BOOL, []), info("n", F, [2, 3]), info("o", F, [2, 3])])
    w = {"x": f32(2, 3), "z": f32(2, 3)}
    c = {"t": np.array(5, np.int64), "m": np.array(2, np.int64), "k": np.array(True)}
    for i, ins in enumerate(("t k z", "t - z")):
        add(f"loop_early_{i}", [node("Loop", ins, "l all", body=turn), node("Identity", "l")], w, c, opset=11, skip_reference=True)
    yes = helper.make_graph([node("Mul", "x z", "u")], "yes", [], [info("u", F, None)])
    no = helper.make_graph([node("Sub", "x z", "v")], "no", [], [info("v", F, None)])
    for i in (0, 1):
        add(f"if_{i}", [node("ReduceSum", "x", "r", keepdims=0), node("Less", "r lim", "q"), node("If", "q", then_branch=yes, else_branch=no)], w,
            {"lim": np.float32(100 if i else -100)}, opset=13)


def make():
    shapes()
    lookups()
    bodies()
