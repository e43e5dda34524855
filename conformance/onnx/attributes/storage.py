"""How a file holds values, names and versions: fields of tensors, initializers, constants, domains."""
import numpy as np
from onnx import AttributeProto, TensorProto, helper, numpy_helper

from sweep import add, f32, ints, node


def exact(name, nodes, feeds, want, make, opset=21, outs=()):
    add(name, nodes, feeds, opset=opset, expected=[np.asarray(w) for w in (want if isinstance(want, list) else [want])], skip_reference=True, skip_onnxruntime=True, change=make, outs=outs)


HOLD = {TensorProto.FLOAT: [1.5, -2.25, 3e38, -0.0, 1e-40, 7], TensorProto.DOUBLE: [1.5, -2.25, 1e30, 0, 1 / 1024, 7], TensorProto.FLOAT16: [1.5, -2.25, 65504, 0, 2 ** -24, 7],
        TensorProto.BFLOAT16: [1.5, -2.25, 2.0 ** 127, 0, 2.0 ** -100, 7], TensorProto.INT8: [-128, 127, -1, 0, 5, 7], TensorProto.UINT8: [0, 255, 128, 127, 5, 7],
        TensorProto.INT16: [-32768, 32767, -1, 0, 300, 7], TensorProto.UINT16: [0, 65535, 32768, 1, 300, 7], TensorProto.INT32: [-2 ** 31, 2 ** 30, -1, 0, 70000, 7],
        TensorProto.UINT32: [0, 2 ** 32 - 256, 2 ** 31, 1, 70000, 7], TensorProto.INT64: [-2 ** 62, 2 ** 62, -1, 0, 2 ** 40, 7], TensorProto.UINT64: [0, 2 ** 63, 2 ** 62, 1, 2 ** 40, 7],
        TensorProto.BOOL: [0, 1, 1, 0, 0, 1], TensorProto.INT4: [-8, 7, -1, 0, 5, 3], TensorProto.UINT4: [0, 15, 8, 7, 5, 3], TensorProto.FLOAT8E4M3FN: [1.5, -2.25, 448, 0, 2 ** -9, 7],
        TensorProto.FLOAT8E5M2: [1.5, -2.5, 57344, 0, 2 ** -16, 7], TensorProto.FLOAT8E4M3FNUZ: [1.5, -2.25, 240, 0, 2 ** -10, 7], TensorProto.FLOAT8E5M2FNUZ: [1.5, -2.5, 57344, 0, 2 ** -17, 7]}


def rawly(t):
    """The same tensor with its elements in raw_data, as the specification orders them."""
    kind, n = t.data_type, 1
    for d in t.dims:
        n *= d
    r = TensorProto(dims=t.dims, data_type=kind, name=t.name)
    wide = {TensorProto.FLOAT: ("float_data", np.float32), TensorProto.DOUBLE: ("double_data", np.float64), TensorProto.INT64: ("int64_data", np.int64), TensorProto.UINT64: ("uint64_data", np.uint64),
            TensorProto.UINT32: ("uint64_data", np.uint32), TensorProto.INT32: ("int32_data", np.int32)}
    field, dtype = wide.get(kind, ("int32_data", np.uint16 if kind in (TensorProto.FLOAT16, TensorProto.BFLOAT16, TensorProto.INT16, TensorProto.UINT16) else np.uint8))
    values = list(getattr(t, field))
    if field == "int32_data" and kind != TensorProto.INT32:
        values = [v & (0xffff if dtype == np.uint16 else 0xff) for v in values]
    r.raw_data = np.array(values, dtype).tobytes()
    return r


def fields():
    for kind, values in HOLD.items():
        name = TensorProto.DataType.Name(kind).lower()
        t = helper.make_tensor("k", kind, [2, 3], values)
        want = np.array(values, np.float64).astype(np.float32).reshape(2, 3)
        x = f32(2, 3)
        for how, tensor in (("typed", t), ("raw", rawly(t))):
            tail = [node("Cast", "k", "f", to=TensorProto.FLOAT), node("Add", "f z", "g"), node("Concat", "g x", axis=0)]
            feeds = {"x": x, "z": np.zeros((1, 1), np.float32)}
            exact(f"initializer_{how}_{name}", tail, feeds, np.concatenate([want, x]), lambda m, tensor=tensor: m.graph.initializer.append(tensor))
            whole = [node("Constant", "", "k", value=tensor)] + tail
            exact(f"constant_{how}_{name}", whole, feeds, np.concatenate([want, x]), None)
    odd = helper.make_tensor("k", TensorProto.INT4, [5], [-8, 7, -1, 0, 5])
    exact("initializer_odd_int4", [node("Cast", "k", "f", to=TensorProto.FLOAT), node("Add", "f x")], {"x": np.zeros(5, np.float32)}, np.array([-8, 7, -1, 0, 5], np.float32),
          lambda m: m.graph.initializer.append(odd))
    special = np.array([np.nan, np.inf, -np.inf, -0.0, 0.0, 1e-45], np.float32)
    x = np.ones(6, np.float32)
    with np.errstate(all="ignore"):
        exact("initializer_special", [node("Mul", "x k"), ], {"x": x}, special, lambda m: m.graph.initializer.append(numpy_helper.from_array(special, "k")))
        exact("initializer_signed_zero", [node("Div", "x k")], {"x": x}, x / special, lambda m: m.graph.initializer.append(numpy_helper.from_array(special, "k")))
        exact("initializer_special_folded", [node("Neg", "k", "n"), node("Div", "x n")], {"x": x}, x / -special, lambda m: m.graph.initializer.append(numpy_helper.from_array(special, "k")))
    empty = numpy_helper.from_array(np.zeros((0, 3), np.float32), "k")

    y = f32(2, 3)
    exact("initializer_of_no_rows", node("Concat", "k x k", axis=0), {"x": y}, y, lambda m: m.graph.initializer.append(empty))
    exact("initializer_of_rank_0", node("Add", "x k"), {"x": y}, y + np.float32(1.5), lambda m: m.graph.initializer.append(helper.make_tensor("k", TensorProto.FLOAT, [], [1.5])))


def names():
    x, k = f32(2, 3), f32(3)
    tensor = lambda n="k", v=k: numpy_helper.from_array(v, n)

    def also_input(m):
        m.graph.initializer.append(tensor())
        m.graph.input.append(helper.make_tensor_value_info("k", TensorProto.FLOAT, [3]))
    exact("initializer_also_input", node("Add", "x k"), {"x": x}, x + k, also_input)

    def unused(m):
        m.graph.initializer.append(tensor())
        m.graph.initializer.append(tensor("nobody", f32(7)))
        m.graph.node.insert(0, node("Relu", "x", "dead"))
        m.graph.node.append(node("Exp", "dead", "dead_too"))
    exact("names_unused", node("Add", "x k"), {"x": x}, x + k, unused)

    def same_nodes(m):
        m.graph.initializer.append(tensor())
        for n in m.graph.node:
            n.name = "same"
    exact("names_of_nodes_twice", [node("Add", "x k", "t"), node("Mul", "t k", "u"), node("Sub", "u x")], {"x": x}, (x + k) * k - x, same_nodes)

    def no_graph_name(m):
        m.graph.initializer.append(tensor())
        m.graph.name = ""
        m.producer_name = ""
    exact("names_none", node("Add", "x k"), {"x": x}, x + k, no_graph_name)
    odd = ("a/b:0", "a b", "größe", "1", "x.", "\\n", "x" * 300)
    for i, n in enumerate(odd):
        def named(m, n=n):
            m.graph.initializer.append(tensor("w" + n))
            m.graph.input[0].name = n
            m.graph.node.extend([helper.make_node("Add", [n, "w" + n], ["t" + n]), helper.make_node("Relu", ["t" + n], ["y"])])
            del m.graph.node[0]
        add_named(f"names_odd_{i}", x, np.maximum(x + k, 0), named)

    def domain(m):
        m.graph.initializer.append(tensor())
        m.opset_import[0].domain = "ai.onnx"
        m.graph.node[1].domain = "ai.onnx"
    exact("domain_named", [node("Add", "x k", "t"), node("Mul", "t k")], {"x": x}, (x + k) * k, domain)

    def more_domains(m):
        m.graph.initializer.append(tensor())
        m.opset_import.append(helper.make_opsetid("ai.onnx.ml", 3))
        m.opset_import.append(helper.make_opsetid("com.example", 1))
    exact("domain_unused", node("Add", "x k"), {"x": x}, x + k, more_domains)

    def wrong_inner(m):
        m.graph.initializer.append(tensor())
        m.graph.value_info.append(helper.make_tensor_value_info("t", TensorProto.FLOAT, [2, 3]))
        m.graph.value_info.append(helper.make_tensor_value_info("nobody", TensorProto.INT8, [9]))
        m.graph.doc_string = "text"
        m.doc_string = "text"
    exact("values_told", [node("Add", "x k", "t"), node("Relu", "t")], {"x": x}, np.maximum(x + k, 0), wrong_inner)

    exact("output_is_constant", [node("Add", "x k", "t"), node("Identity", "k", "u")], {"x": x}, [k, x + k], lambda m: m.graph.initializer.append(tensor()), outs=("u", "t"))
    exact("output_is_read", [node("Add", "x k", "t"), node("Relu", "t", "u"), node("Neg", "u", "v")], {"x": x}, [-np.maximum(x + k, 0), x + k, np.maximum(x + k, 0)],
          lambda m: m.graph.initializer.append(tensor()), outs=("v", "t", "u"))
    exact("input_unread", node("Add", "x k"), {"x": x}, x + k, lambda m: m.graph.initializer.append(tensor()))

    def unsorted_attributes(m):
        m.graph.initializer.append(numpy_helper.from_array(f32(2, 3), "k"))
        n = m.graph.node[0]
        kept = list(n.attribute)[::-1]
        del n.attribute[:]
        n.attribute.extend(kept)
    g = f32(2, 3)
    exact("attributes_in_any_order", node("Gemm", "x k2", alpha=0.5, transA=1, transB=0, beta=2.0), {"x": x}, (0.5 * x.T.astype(np.float64) @ g).astype(np.float32),
          lambda m: (unsorted_attributes(m), m.graph.initializer.append(numpy_helper.from_array(g, "k2"))))


def add_named(name, x, want, change):
    import gen as base
    base.add(name, [node("Relu", "x")], {"x": x}, opset=21, expected=[want], skip_reference=True, skip_onnxruntime=True, change=change)


def numbers():
    for k, v, x in (("value_float", -0.0, f32(3)), ("value_floats", [-0.0, np.inf, 1e-45], f32(3)), ("value_int", -2 ** 40, ints(1, 2, 3)), ("value_ints", [2 ** 40, -1, 0], ints(1, 2, 3))):
        want = x + np.array(v, x.dtype)
        exact(f"constants_{k}", [node("Constant", "", "c", **{k: v}), node("Add", "x c")], {"x": x}, want, None, 13)
    for elem, dtype in ((TensorProto.FLOAT, np.float32), (TensorProto.INT32, np.int32), (TensorProto.INT64, np.int64), (TensorProto.UINT8, np.uint8), (TensorProto.INT8, np.int8), (TensorProto.BOOL, bool),
                        (TensorProto.FLOAT16, np.float16)):
        one = helper.make_tensor("v", elem, [1], [1])
        nodes = [node("ConstantOfShape", "s", "c", value=one), node("Cast", "c", "f", to=TensorProto.FLOAT), node("Add", "f x")]
        add(f"constantofshape_{np.dtype(dtype).name}", nodes, {"x": f32(3)}, {"s": ints(2, 3)}, opset=20)
    add("constantofshape_rank_0", [node("ConstantOfShape", "s", "c", value=helper.make_tensor("v", 1, [1], [7])), node("Add", "c x")], {"x": f32(3)}, {"s": np.zeros(0, np.int64)}, opset=20)
    # Values that arithmetic on shapes makes, as exporters write it.
    x = {"x": f32(2, 3, 4)}
    i = {"zero": ints(0), "one": ints(1), "two": ints(2), "m": ints(-1), "scalar": np.array(1, np.int64), "big": ints(2 ** 62)}
    shape = node("Shape", "x", "s")
    for name, nodes in {
        "gather_concat": [shape, node("Gather", "s one", "a"), node("Gather", "s zero", "b"), node("Concat", "a b m", "r", axis=0), node("Reshape", "x r")],
        "gather_scalar": [shape, node("Gather", "s scalar", "a"), node("Unsqueeze", "a zero", "b"), node("Concat", "b m", "r", axis=0), node("Reshape", "x r")],
        "slice": [shape, node("Slice", "s one big", "a"), node("ReduceProd", "a", "p", keepdims=1), node("Concat", "m p", "r", axis=0), node("Reshape", "x r")],
        "arithmetic": [shape, node("Gather", "s two", "a"), node("Div", "a two", "h"), node("Mul", "h two", "e"), node("Sub", "e one", "f"), node("Slice", "x zero f two")],
        "transposed": [node("Transpose", "x", "t", perm=[2, 0, 1]), node("Shape", "t", "s"), node("Concat", "s one", "r", axis=0), node("Reshape", "x r")],
        "expand": [shape, node("Mul", "s three", "e"), node("Expand", "k e")],
        "range": [node("Size", "x", "n"), node("Div", "n four", "q"), node("Range", "z0 q o1", "r"), node("Cast", "r", "f", to=1), node("Reshape", "f rs")],
        "where": [shape, node("Equal", "s three2", "q"), node("Where", "q m3 s", "r"), node("Reshape", "x r")],
        "tile": [shape, node("Gather", "s zero", "a"), node("Concat", "a one one", "r", axis=0), node("Tile", "x r")],
        "split": [shape, node("Split", "s", "a b c", num_outputs=3), node("Concat", "c a b", "r", axis=0), node("Reshape", "x r")],
        "constantofshape": [shape, node("ConstantOfShape", "s", "c", value=helper.make_tensor("v", 1, [1], [2.5])), node("Mul", "c x")],
        "min_max": [shape, node("Min", "s two", "a"), node("Max", "a one", "b"), node("Slice", "x z3 b")],
        "mod": [shape, node("Mod", "s two", "a"), node("Add", "a one", "b"), node("Slice", "x z3 b")],
        "squeeze": [shape, node("Slice", "s two big", "a"), node("Squeeze", "a", "b"), node("Unsqueeze", "b zero", "c"), node("Concat", "c m", "r", axis=0), node("Reshape", "x r")],
        "flatten_of_batch": [node("Shape", "x", "s", start=0, end=1), node("Concat", "s m", "r", axis=0), node("Reshape", "x r")],
        "not_zero": [shape, node("Greater", "s two", "q"), node("Not", "q", "n"), node("Cast", "n", "i", to=7), node("Add", "i one", "e"), node("Slice", "x z3 e")],
    }.items():
        add(f"shapes_{name}", nodes, x, {**i, "z3": ints(0, 0, 0), "k": f32(1, 1, 1), "three": ints(2, 1, 3), "four": np.array(4, np.int64), "z0": np.array(0, np.int64),
                                         "o1": np.array(1, np.int64), "rs": ints(3, 2), "three2": ints(3), "m3": ints(-1)}, opset=18)
        add(f"shapes_{name}_open", nodes, x, {**i, "z3": ints(0, 0, 0), "k": f32(1, 1, 1), "three": ints(2, 1, 3), "four": np.array(4, np.int64), "z0": np.array(0, np.int64),
                                              "o1": np.array(1, np.int64), "rs": ints(3, 2), "three2": ints(3), "m3": ints(-1)}, opset=18, dynamic=True)


def make():
    fields()
    names()
    numbers()
