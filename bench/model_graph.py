"""An ONNX graph under construction, with its shapes and multiply-accumulates: what the benchmark networks are built by."""
import hashlib
import math

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

OPSET = 17
IR_VERSION = 8

# What a quantized activation makes of its argument; the argument is quantized as well, which that of a Relu is not.
RANGES = {"silu": (-0.5, 4.0), "hard_swish": (-0.5, 4.0), "sigmoid": (0.0, 1.0), "hard_sigmoid": (0.0, 1.0)}


def pair(v):
    return v if isinstance(v, tuple) else (v, v)


class Graph:
    """Appends nodes to an ONNX graph and tracks shapes and MACs.

    A tensor is handled by name; self.shape[name] holds its static shape.  With
    quant=True every conv/linear/add/pool is emitted in QDQ form.
    """

    def __init__(self, name, seed=0, quant=False, reduce_range=False):
        self.name = name
        self.nodes, self.inits = [], []
        self.inputs, self.outputs = [], []
        self.shape = {}
        self.macs = 0
        self.params = 0
        self.quant = quant
        self.qmax = 63 if reduce_range else 127
        self.qscale = {}  # tensor -> (scale name, zero point name, scale)
        self._n = 0
        digest = hashlib.sha256(f"{name}:{seed}".encode()).digest()
        self.rng = np.random.Generator(np.random.PCG64(int.from_bytes(digest[:8], "little")))

    # -- plumbing ----------------------------------------------------------
    def uid(self, prefix):
        self._n += 1
        return f"{prefix}_{self._n}"

    def const(self, arr, prefix="c", count=False):
        name = self.uid(prefix)
        self.inits.append(numpy_helper.from_array(np.asarray(arr, order="C"), name))
        if count:
            self.params += int(arr.size)
        return name

    def op(self, kind, ins, shape, prefix=None, outs=1, **attrs):
        names = [self.uid(prefix or kind.lower()) for _ in range(outs)]
        self.nodes.append(helper.make_node(kind, ins, names, name=self.uid("n_" + kind), **attrs))
        shapes = [shape] if outs == 1 else shape
        for n, s in zip(names, shapes):
            self.shape[n] = tuple(s)
        return names[0] if outs == 1 else names

    def input(self, name, shape, lo=-4.0, hi=4.0):
        self.inputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, list(shape)))
        self.shape[name] = tuple(shape)
        return self.q(name, lo, hi) if self.quant else name

    def output(self, name, bare=False):
        """Make name an output, under a name of its own unless bare."""
        if bare:
            self.outputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, list(self.shape[name])))
            return
        out = self.uid("out")
        self.nodes.append(helper.make_node("Identity", [name], [out], name=self.uid("n_out")))
        self.outputs.append(helper.make_tensor_value_info(out, TensorProto.FLOAT, list(self.shape[name])))

    def normal(self, shape, std):
        return (self.rng.standard_normal(shape, dtype=np.float32) * np.float32(std)).astype(np.float32)

    # -- quantization ------------------------------------------------------
    def q(self, x, lo, hi):
        """QuantizeLinear+DequantizeLinear (uint8, per tensor) on range [lo, hi]."""
        scale = (hi - lo) / 255.0
        zp = int(round(-lo / scale))
        s = self.const(np.float32(scale), "s")
        z = self.const(np.uint8(zp), "z")
        qn = self.op("QuantizeLinear", [x, s, z], self.shape[x], "q")
        d = self.op("DequantizeLinear", [qn, s, z], self.shape[x], "dq")
        self.qscale[d] = (s, z, scale)
        return d

    def ranged(self, x, lo, hi):
        """x, quantized on range [lo, hi] in a quantized network."""
        return self.q(x, lo, hi) if self.quant else x

    def alike(self, y, x):
        """y, with the codes of x in a quantized network: y holds nothing but numbers of x."""
        if x not in self.qscale:
            return y
        s, z, _ = self.qscale[x]
        d = self.op("DequantizeLinear", [self.op("QuantizeLinear", [y, s, z], self.shape[y], "q"), s, z],
                    self.shape[y], "dq")
        self.qscale[d] = self.qscale[x]
        return d

    def constant(self, arr, count=False):
        """A constant that is added or multiplied; in a quantized network it is codes, as tools make of one."""
        arr = np.asarray(arr, np.float32)
        if self.quant:
            lo, hi = min(float(arr.min()), 0.0), max(float(arr.max()), 0.0)
            scale = (hi - lo) / 255.0
            zero = round(-lo / scale)
            codes = np.clip(np.rint(arr / scale) + zero, 0, 255).astype(np.uint8)
            s, z = self.const(np.float32(scale), "s"), self.const(np.uint8(zero), "z")
            return self.op("DequantizeLinear", [self.const(codes, "cq", count), s, z], arr.shape, "cdq")
        name = self.const(arr, "c", count)
        self.shape[name] = arr.shape
        return name

    def qweight(self, w, axis):
        """int8 per-channel DequantizeLinear of a weight; returns (name, scales)."""
        red = tuple(i for i in range(w.ndim) if i != axis)
        sc = np.maximum(np.abs(w).max(axis=red), 1e-8).astype(np.float32) / self.qmax
        view = [1] * w.ndim
        view[axis] = -1
        qw = np.clip(np.rint(w / sc.reshape(view)), -self.qmax, self.qmax).astype(np.int8)
        n = self.const(qw, "wq", count=True)
        s = self.const(sc, "ws")
        z = self.const(np.zeros(sc.shape, np.int8), "wz")
        return self.op("DequantizeLinear", [n, s, z], w.shape, "wdq", axis=axis), sc

    def qbias(self, b, x, wscale):
        sc = (self.qscale[x][2] * wscale).astype(np.float32)
        n = self.const(np.rint(b / sc).astype(np.int32), "bq", count=True)
        s = self.const(sc, "bs")
        z = self.const(np.zeros(sc.shape, np.int32), "bz")
        return self.op("DequantizeLinear", [n, s, z], b.shape, "bdq", axis=0)

    # -- layers ------------------------------------------------------------
    def act(self, x, kind):
        if kind is None:
            return x
        shp = self.shape[x]
        if kind == "relu":
            return self.op("Relu", [x], shp)
        if kind == "relu6":
            return self.op("Clip", [x, self._f(0.0), self._f(6.0)], shp)
        if kind == "silu":
            y = self.op("Mul", [x, self.act(x, "sigmoid")], shp)
        elif kind == "sigmoid":
            y = self.op("Sigmoid", [x], shp)
        elif kind == "hard_swish":
            y = self.op("HardSwish", [x], shp)
        elif kind == "hard_sigmoid":
            y = self.op("HardSigmoid", [x], shp, alpha=1 / 6, beta=0.5)
        else:
            raise ValueError(kind)
        return self.ranged(y, *RANGES[kind])

    def _f(self, v):
        key = f"f_{v}"
        if not any(i.name == key for i in self.inits):
            self.inits.append(numpy_helper.from_array(np.float32(v), key))
        return key

    def conv(self, x, co, k=3, s=1, p=None, g=1, act="relu", gain=1.0, d=1):
        """Conv, bias and activation; kernel, stride and padding are of both axes or a pair, d is the dilation."""
        n, ci, h, w = self.shape[x]
        (kh, kw), (sh, sw) = pair(k), pair(s)
        ph, pw = (kh // 2 * d, kw // 2 * d) if p is None else pair(p)
        ho, wo = (h + 2 * ph - d * (kh - 1) - 1) // sh + 1, (w + 2 * pw - d * (kw - 1) - 1) // sw + 1
        fan = ci // g * kh * kw
        wt = self.normal((co, ci // g, kh, kw), gain * math.sqrt((2.0 if act else 1.0) / fan))
        b = self.normal((co,), 0.05)
        self.macs += n * co * ho * wo * fan
        if self.quant:
            wn, sc = self.qweight(wt, 0)
            bn = self.qbias(b, x, sc)
        else:
            wn, bn = self.const(wt, "w", True), self.const(b, "b", True)
        y = self.op("Conv", [x, wn, bn], (n, co, ho, wo), kernel_shape=[kh, kw], strides=[sh, sw],
                    pads=[ph, pw] * 2, group=g, dilations=[d, d])
        if self.quant and act in RANGES:
            return self.act(self.q(y, -4.0, 4.0), act)
        y = self.act(y, act)
        if self.quant:
            y = self.q(y, *((0.0, 6.0) if act in ("relu", "relu6") else (-4.0, 4.0)))
        return y

    def conv_transpose(self, x, co, act="relu"):
        """ConvTranspose of kernel and stride 2: twice as high and as wide."""
        n, ci, h, w = self.shape[x]
        wt, b = self.normal((ci, co, 2, 2), math.sqrt((2.0 if act else 1.0) / ci)), self.normal((co,), 0.05)
        self.macs += n * ci * h * w * co * 4
        if self.quant:
            wn, sc = self.qweight(wt, 1)
            bn = self.qbias(b, x, sc)
        else:
            wn, bn = self.const(wt, "w", True), self.const(b, "b", True)
        y = self.op("ConvTranspose", [x, wn, bn], (n, co, 2 * h, 2 * w), kernel_shape=[2, 2], strides=[2, 2])
        y = self.act(y, act)
        return self.ranged(y, *((0.0, 6.0) if act else (-4.0, 4.0)))

    def linear(self, x, co, act=None, gain=1.0, bias=True):
        """MatMul on the last axis (+Add), the form transformers export."""
        shp = self.shape[x]
        ci = shp[-1]
        wt = self.normal((ci, co), gain / math.sqrt(ci))
        self.macs += int(np.prod(shp)) * co
        if self.quant:
            wn, _ = self.qweight(wt, 1)
        else:
            wn = self.const(wt, "w", True)
        y = self.op("MatMul", [x, wn], shp[:-1] + (co,))
        if bias:
            y = self.op("Add", [y, self.const(self.normal((co,), 0.05), "b", True)], self.shape[y])
        y = self.act(y, act)
        return self.q(y, -4.0, 4.0) if self.quant else y

    def gemm(self, x, co, act=None):
        """Gemm with transposed weight: the form CNN classifiers export."""
        n, ci = self.shape[x]
        wt, b = self.normal((co, ci), 1.0 / math.sqrt(ci)), self.normal((co,), 0.05)
        self.macs += n * ci * co
        if self.quant:
            wn, sc = self.qweight(wt, 0)
            bn = self.qbias(b, x, sc)
        else:
            wn, bn = self.const(wt, "w", True), self.const(b, "b", True)
        y = self.act(self.op("Gemm", [x, wn, bn], (n, co), transB=1), act)
        return self.q(y, -4.0, 4.0) if self.quant else y

    def add(self, a, b):
        y = self.op("Add", [a, b], self.shape[a])
        return self.q(y, -6.0, 6.0) if self.quant else y

    def mul(self, a, b):
        y = self.op("Mul", [a, b], np.broadcast_shapes(self.shape[a], self.shape[b]))
        return self.ranged(y, -4.0, 4.0)

    def squeeze_excite(self, x, squeeze, act="relu", gate="sigmoid"):
        """x, its channels times what two 1x1 convolutions make of their means."""
        n, c, _, _ = self.shape[x]
        y = self.ranged(self.op("GlobalAveragePool", [x], (n, c, 1, 1)), -1.0, 3.0)
        return self.mul(x, self.conv(self.conv(y, squeeze, 1, act=act), c, 1, act=gate))

    def relu(self, x):
        y = self.act(x, "relu")
        return self.q(y, 0.0, 6.0) if self.quant else y

    def concat(self, xs, axis=1):
        shp = list(self.shape[xs[0]])
        shp[axis] = sum(self.shape[x][axis] for x in xs)
        y = self.op("Concat", xs, shp, axis=axis)
        return self.q(y, -4.0, 6.0) if self.quant else y

    def pool(self, x, k, s, p=0, kind="MaxPool", ceil=False, alike=False):
        n, c, h, w = self.shape[x]
        f = (lambda v: -(-(v + 2 * p - k) // s) + 1) if ceil else (lambda v: (v + 2 * p - k) // s + 1)
        y = self.op(kind, [x], (n, c, f(h), f(w)), kernel_shape=[k, k], strides=[s, s],
                    pads=[p] * 4, ceil_mode=int(ceil))
        if alike:
            y = self.alike(y, x)
        elif self.quant:
            y = self.q(y, 0.0, 6.0)
        return y

    def gap_flat(self, x):
        n, c, _, _ = self.shape[x]
        y = self.op("GlobalAveragePool", [x], (n, c, 1, 1))
        if self.quant:
            y = self.q(y, 0.0, 6.0)
        y = self.op("Flatten", [y], (n, c), axis=1)
        return self.q(y, 0.0, 6.0) if self.quant else y

    def upsample2(self, x):
        n, c, h, w = self.shape[x]
        sc = self.const(np.array([1, 1, 2, 2], np.float32), "scales")
        return self.op("Resize", [x, "", sc], (n, c, 2 * h, 2 * w), mode="nearest",
                       coordinate_transformation_mode="asymmetric", nearest_mode="floor")

    def resize(self, x, h, w, mode="nearest"):
        """x of h rows and w columns, as PyTorch's interpolate exports."""
        n, c, _, _ = self.shape[x]
        sizes = self.const(np.array([n, c, h, w], np.int64), "sizes")
        how = {"coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"} if mode == "nearest" else \
              {"coordinate_transformation_mode": "pytorch_half_pixel"}
        return self.alike(self.op("Resize", [x, "", "", sizes], (n, c, h, w), mode=mode, **how), x)

    def view(self, x, shp):
        """reshape that keeps a quantized network's codes."""
        return self.alike(self.reshape(x, shp), x)

    def permute(self, x, perm):
        """transpose that keeps a quantized network's codes."""
        return self.alike(self.transpose(x, perm), x)

    def split(self, x, parts, axis=1):
        """x in parts of these sizes along an axis."""
        shapes = [list(self.shape[x]) for _ in parts]
        for shp, part in zip(shapes, parts):
            shp[axis] = part
        ys = self.op("Split", [x, self.const(np.array(parts, np.int64), "split")], shapes, outs=len(parts), axis=axis)
        return [self.alike(y, x) for y in ys]

    def reshape(self, x, shp):
        return self.op("Reshape", [x, self.const(np.array(shp, np.int64), "shp")], shp)

    def transpose(self, x, perm):
        return self.op("Transpose", [x], [self.shape[x][i] for i in perm], perm=perm)

    def layernorm(self, x):
        d = self.shape[x][-1]
        return self.op("LayerNormalization",
                       [x, self.const(np.ones(d, np.float32), "g", True), self.const(np.zeros(d, np.float32), "be", True)],
                       self.shape[x], axis=-1, epsilon=1e-5)

    def gelu(self, x):
        """0.5*x*(1+erf(x/sqrt 2)), decomposed as exporters below opset 20 do."""
        shp = self.shape[x]
        e = self.op("Erf", [self.op("Div", [x, self._f(math.sqrt(2.0))], shp)], shp)
        return self.op("Mul", [self.op("Mul", [x, self.op("Add", [e, self._f(1.0)], shp)], shp), self._f(0.5)], shp)

    def softmax(self, x, axis=-1):
        return self.ranged(self.op("Softmax", [x], self.shape[x], axis=axis), 0.0, 1.0)

    def matmul(self, a, b):
        sa, sb = self.shape[a], self.shape[b]
        self.macs += int(np.prod(sa)) * sb[-1]
        return self.op("MatMul", [a, b], sa[:-1] + (sb[-1],))

    def model(self):
        g = helper.make_graph(self.nodes, self.name, self.inputs, self.outputs, self.inits)
        versions = {"": OPSET, **{n.domain: 1 for n in self.nodes if n.domain}}
        m = helper.make_model(g, opset_imports=[helper.make_opsetid(*v) for v in versions.items()],
                              producer_name="gen_bench_models")
        m.ir_version = IR_VERSION
        onnx.checker.check_model(m)
        return m
