"""The models of make bench-operators: a row of operators.txt becomes a model of one operator for each element type."""
import ast
import math
import os
import re

import ml_dtypes
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

HERE = os.path.dirname(os.path.abspath(__file__))
OPSET = 24
OLDER = {"RoiAlign": 21, "MaxRoiPool": 21}  # ONNX Runtime has no newer form
INPUT = re.compile(r"(\w+)(?:\[([\d,]*)\]|=([-\d.,]+)|:([-\d.]+))(!?\+?|\?|<\d+|#)$")


def rows():
    """The rows of operators.txt: (family, core operator, ONNX operator, inputs, attributes, results, element types)."""
    for line in open(os.path.join(HERE, "operators.txt")):
        cells = [c.strip() for c in line.split("|")]
        if line.strip() and line[0] != "#" and cells[0] != "without":
            family, core, name, inputs, attributes, results, types = cells
            yield family, core, name, inputs.split(), attributes, int(results), types.split()


def numpy_type(name):
    return ml_dtypes.bfloat16 if name == "bfloat16" else np.dtype(name)


def onnx_type(name):
    return getattr(TensorProto, {"float32": "FLOAT"}.get(name, name.upper()))


class Network:
    """A model of one operator, or of few, with what its inputs are given."""

    def __init__(self, seed):
        self.random = np.random.default_rng(seed)
        self.nodes, self.inputs, self.constants, self.given, self.names = [], [], [], {}, 0
        self.opset = OPSET

    def values(self, dtype, dims, rule):
        if rule.startswith("<"):
            return self.random.integers(0, max(1, int(rule[1:])), dims).astype(numpy_type(dtype))
        if rule == "#":
            first = self.random.random((dims[0], 2)) * 30
            corners = np.concatenate([first, first + 2 + self.random.random((dims[0], 2)) * 16], 1)
            return np.concatenate([np.zeros((dims[0], dims[1] - 4)), corners], 1).astype(numpy_type(dtype))
        if rule == "?":
            return (self.random.random(dims) < 0.01).astype(numpy_type(dtype))
        if dtype == "bool":
            return self.random.random(dims) < 0.5
        if dtype[:3] in ("int", "uin"):
            low = 1 if "+" in rule or dtype[0] == "u" else -100
            return self.random.integers(low, 100, dims).astype(numpy_type(dtype))
        x = self.random.random(dims) * 2 - 1
        if "+" in rule:
            x = np.abs(x) + 1
        elif "!" in rule:
            x *= 0.1
        return np.asarray(x).astype(numpy_type(dtype))

    def name(self):
        self.names += 1
        return f"v{self.names}"

    def constant(self, x, dtype=None):
        name = self.name()
        if dtype == "bfloat16":
            data = x.astype(ml_dtypes.bfloat16).tobytes()
            t = helper.make_tensor(name, TensorProto.BFLOAT16, x.shape, data, raw=True)
        else:
            t = numpy_helper.from_array(np.asarray(x), name)
        self.constants.append(t)
        return name

    def input(self, dtype, x):
        name = f"x{len(self.inputs)}"
        self.inputs.append(helper.make_tensor_value_info(name, onnx_type(dtype), x.shape))
        self.given[name] = x
        return name

    def operand(self, text, main):
        if text == "-":
            return ""
        dtype, dims, many, one, rule = INPUT.match(text).groups()
        dtype = main if dtype == "T" else dtype
        if many is not None or one is not None:
            numbers = np.array([float(v) for v in many.split(",")] if many is not None else float(one))
            return self.constant(numbers.astype(numpy_type(dtype)), dtype)
        x = self.values(dtype, [int(d) for d in dims.split(",") if d], rule)
        return self.constant(x, dtype) if "!" in rule else self.input(dtype, x)

    def add(self, op, inputs, results=1, domain="", **attributes):
        out = [self.name() for _ in range(results)]
        self.nodes.append(helper.make_node(op, inputs, out, domain=domain, **attributes))
        return out[0] if results == 1 else out

    def model(self, results):
        def graph(outputs):
            return helper.make_graph(self.nodes, "operator", self.inputs, outputs, self.constants)
        opsets = [helper.make_opsetid("", self.opset), helper.make_opsetid("com.microsoft", 1)]
        out = [helper.make_empty_tensor_value_info(r) for r in results]
        m = helper.make_model(graph(out), opset_imports=opsets, ir_version=10)
        try:
            known = {v.name: v for v in onnx.shape_inference.infer_shapes(m, strict_mode=False).graph.output}
        except Exception:
            known = {}
        out = [known.get(r, o) for r, o in zip(results, out)]
        return helper.make_model(graph(out), opset_imports=opsets, ir_version=10)


def body(name, inputs, nodes, outputs):
    info = [helper.make_tensor_value_info(n, t, d) for n, t, d in inputs]
    out = [helper.make_tensor_value_info(n, t, d) for n, t, d in outputs]
    return helper.make_graph(nodes, name, info, out)


class Builders:
    """Networks of several nodes: @name in operators.txt."""

    @staticmethod
    def rsqrt(n, x, main):
        return n.add("Reciprocal", [n.add("Sqrt", x)])

    @staticmethod
    def silu(n, x, main):
        return n.add("Mul", [x[0], n.add("Sigmoid", x)])

    @staticmethod
    def gelu_by_erf(n, x, main):
        def number(v):
            return n.constant(np.array(v, numpy_type(main)), main)
        e = n.add("Erf", [n.add("Div", [x[0], number(math.sqrt(2))])])
        return n.add("Mul", [n.add("Mul", [x[0], n.add("Add", [e, number(1)])]), number(0.5)])

    @staticmethod
    def reduce_all(n, x, main):
        y = n.add("ReduceMin", [n.add("Cast", x, to=TensorProto.INT32), n.constant(np.array([-1], np.int64))])
        return n.add("Cast", [y], to=TensorProto.BOOL)

    @staticmethod
    def reduce_any(n, x, main):
        y = n.add("ReduceMax", [n.add("Cast", x, to=TensorProto.INT32), n.constant(np.array([-1], np.int64))])
        return n.add("Cast", [y], to=TensorProto.BOOL)

    @staticmethod
    def coded(n, x, scale=0.02):
        s, z = n.constant(np.float32(scale)), n.constant(np.uint8(128))
        return n.add("DequantizeLinear", [n.add("QuantizeLinear", [x, s, z]), s, z])

    @staticmethod
    def weights(n, dims):
        w = n.constant(n.random.integers(-127, 128, dims).astype(np.int8))
        return n.add("DequantizeLinear", [w, n.constant(np.float32(0.001)), n.constant(np.int8(0))])

    @classmethod
    def qdq_conv(cls, n, x, main):
        return cls.coded(n, n.add("Conv", [cls.coded(n, x[0]), cls.weights(n, (64, 64, 3, 3))], pads=[1, 1, 1, 1]))

    @classmethod
    def qdq_matmul(cls, n, x, main):
        return cls.coded(n, n.add("MatMul", [cls.coded(n, x[0]), cls.weights(n, (768, 768))]))

    @staticmethod
    def dynamic_matmul(n, x, main):
        q, scale, zero = n.add("DynamicQuantizeLinear", x, 3)
        w = n.constant(n.random.integers(-127, 128, (768, 768)).astype(np.int8))
        y = n.add("MatMulInteger", [q, w, zero, n.constant(np.int8(0))])
        scale = n.add("Mul", [scale, n.constant(np.float32(0.01))])
        return n.add("Mul", [n.add("Cast", [y], to=TensorProto.FLOAT), scale])

    @staticmethod
    def matmul_nbits(n, x, main):
        k, cols, block = 2048, 2048, 32
        b = n.constant(n.random.integers(0, 256, (cols, k // block, block // 2)).astype(np.uint8))
        s = n.constant((n.random.random(cols * k // block) * 0.01 + 0.01).astype(np.float32))
        return n.add("MatMulNBits", [x[0], b, s], domain="com.microsoft", K=k, N=cols, bits=4, block_size=block)

    @staticmethod
    def dynamic_lstm(n, x, main):
        hidden, features = 256, 128

        def codes(rows):
            return n.constant(n.random.integers(-127, 128, (1, rows, 4 * hidden)).astype(np.int8))
        scale, zero = n.constant(np.array([0.005], np.float32)), n.constant(np.array([0], np.int8))
        inputs = [x[0], codes(features), codes(hidden)] + [""] * 5 + [scale, zero, scale, zero]
        return n.add("DynamicQuantizeLSTM", inputs,
                     domain="com.microsoft", hidden_size=hidden)

    @staticmethod
    def attention(n, x, main):
        scores = n.add("MatMul", [x[0], n.add("Transpose", x, perm=[0, 1, 3, 2])])
        scaled = n.add("Mul", [scores, n.constant(np.array(0.125, numpy_type(main)), main)])
        return n.add("MatMul", [n.add("Softmax", [scaled]), x[0]])

    @staticmethod
    def chain(x, out, size):
        """Nodes of a small network in a body."""
        w = numpy_helper.from_array((np.random.default_rng(5).random((size, size)) * 0.1).astype(np.float32))
        return [helper.make_node("Constant", [], ["w"], value=w), helper.make_node("MatMul", [x, "w"], ["p"]),
                helper.make_node("Tanh", ["p"], [out])]

    @staticmethod
    def branches(n, x, main):
        ways = {}
        for name, f in (("then_branch", "Relu"), ("else_branch", "Sigmoid")):
            w = numpy_helper.from_array((np.random.default_rng(5).random((32, 16, 3, 3)) * 0.1).astype(np.float32))
            nodes = [helper.make_node("Constant", [], [name + "w"], value=w),
                     helper.make_node("Conv", [x[0], name + "w"], [name + "c"], pads=[1, 1, 1, 1]),
                     helper.make_node(f, [name + "c"], [name + "y"])]
            ways[name] = body(name, [], nodes, [(name + "y", TensorProto.FLOAT, [1, 32, 64, 64])])
        cond = n.input("bool", np.array(True))
        return n.add("If", [cond], **ways)

    @classmethod
    def loop(cls, n, x, main):
        nodes = cls.chain("h", "next", 128) + [helper.make_node("Identity", ["go"], ["again"])]
        f = [1, 128]
        inputs = [("i", TensorProto.INT64, []), ("go", TensorProto.BOOL, []), ("h", TensorProto.FLOAT, f)]
        g = body("trip", inputs, nodes,
                 [("again", TensorProto.BOOL, []), ("next", TensorProto.FLOAT, f)])
        return n.add("Loop", [n.input("int64", np.array(32)), n.constant(np.array(True)), x[0]], body=g)

    @classmethod
    def scan(cls, n, x, main):
        f = [1, 128]
        nodes = [helper.make_node("Add", ["h", "s"], ["a"])] + cls.chain("a", "next", 128)
        nodes.append(helper.make_node("Identity", ["next"], ["y"]))
        g = body("step", [("h", TensorProto.FLOAT, f), ("s", TensorProto.FLOAT, f)], nodes,
                 [("next", TensorProto.FLOAT, f), ("y", TensorProto.FLOAT, f)])
        start = n.constant(np.zeros((1, 128), np.float32))
        return n.add("Scan", [start, x[0]], 2, body=g, num_scan_inputs=1)


Builders.made = {"if": Builders.branches}


def network(row, main):
    family, core, name, inputs, attributes, results, _ = row
    n = Network(len(attributes) + sum(map(len, inputs)))
    operands = [n.operand(t, main) for t in inputs]
    if name[0] == "@":
        made = Builders.made.get(name[1:]) or getattr(Builders, name[1:])
        out = made(n, operands, main)
    else:
        given = {}
        for part in attributes.split():
            key, value = part.split("=", 1)
            given[key] = ast.literal_eval(value)
        if name == "Cast":
            given["to"] = onnx_type(given["to"])
        n.opset = OLDER.get(name, OPSET)
        out = n.add(name, operands, results, **given)
    return n, n.model(out if isinstance(out, list) else [out])
