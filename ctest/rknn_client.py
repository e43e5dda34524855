"""A Python client of the RKNN API that calls in the order of the vendor's client for boards, and expects what that expects.

usage: rknn_client.py LIBDIR

It opens a model, reads three numbers from each version, asks whether the model is dynamic, gives shapes before each inference, and copies
results of the sizes that RKNN_QUERY_OUTPUT_ATTR gives, without having set their indices. Nothing is logged meanwhile.
"""
import ctypes
import sys

from hosts import Before, check

SUCC, MODEL_INVALID = 0, -6
IN_OUT_NUM, INPUT_ATTR, OUTPUT_ATTR, SDK_VERSION, DYNAMIC_RANGE = 0, 1, 2, 5, 13
NHWC, FLOAT32 = 1, 0

u8, u32, i32, f32 = ctypes.c_uint8, ctypes.c_uint32, ctypes.c_int32, ctypes.c_float


class Attr(ctypes.Structure):
    _fields_ = [("index", u32), ("n_dims", u32), ("dims", u32 * 16), ("name", ctypes.c_char * 256), ("n_elems", u32), ("size", u32), ("fmt", i32),
                ("type", i32), ("qnt_type", i32), ("fl", ctypes.c_int8), ("zp", i32), ("scale", f32), ("w_stride", u32), ("size_with_stride", u32),
                ("pass_through", u8), ("h_stride", u32)]


class Range(ctypes.Structure):
    _fields_ = [("index", u32), ("shape_number", u32), ("fmt", i32), ("name", ctypes.c_char * 256), ("dyn_range", u32 * 16 * 512), ("n_dims", u32)]


class Versions(ctypes.Structure):
    _fields_ = [("api", ctypes.c_char * 256), ("drv", ctypes.c_char * 256)]


class Counts(ctypes.Structure):
    _fields_ = [("inputs", u32), ("outputs", u32)]


class Input(ctypes.Structure):
    _fields_ = [("index", u32), ("buf", ctypes.c_void_p), ("size", u32), ("pass_through", u8), ("type", i32), ("fmt", i32)]


class Output(ctypes.Structure):
    _fields_ = [("want_float", u8), ("is_prealloc", u8), ("index", u32), ("buf", ctypes.c_void_p), ("size", u32)]


class Client:
    def __init__(self, lib, model):
        self.lib, self.context = lib, ctypes.c_uint64()
        self.call("rknn_init", ctypes.byref(self.context), model, len(model), 0, None)
        self.counts = self.query(IN_OUT_NUM, Counts())
        versions = self.query(SDK_VERSION, Versions())
        self.api, self.driver = self.numbers(versions.api), self.numbers(versions.drv)
        self.ranges = [self.range_of(i) for i in range(self.counts.inputs)]

    def call(self, function, *args, may=()):
        code = getattr(self.lib, function)(*args)
        if code != SUCC and code not in may:
            sys.exit(f"{function}: {code}")
        return code

    def query(self, command, answer):
        self.call("rknn_query", self.context, command, ctypes.byref(answer), ctypes.sizeof(answer))
        return answer

    @staticmethod
    def numbers(version):
        major, minor, rest = version.decode().split(".")
        return int(major), int(minor), int(rest.split(" ")[0])

    def range_of(self, index):
        """The shapes of an input, None for a static model."""
        r = Range(index=index)
        if self.call("rknn_query", self.context, DYNAMIC_RANGE, ctypes.byref(r), ctypes.sizeof(r), may=[MODEL_INVALID]) == MODEL_INVALID:
            return None
        return [tuple(r.dyn_range[s][: r.n_dims]) for s in range(r.shape_number)]

    def infer(self, shapes, data):
        """Computes with inputs of these shapes; float32 results as long as OUTPUT_ATTR says, and whether the model took the shapes."""
        attrs = (Attr * len(shapes))()
        for i, shape in enumerate(shapes):
            attrs[i] = self.query(INPUT_ATTR, Attr(index=i))
            attrs[i].n_dims = len(shape)
            attrs[i].dims[:] = list(shape) + [0] * (16 - len(shape))
        taken = self.call("rknn_set_input_shapes", self.context, len(shapes), attrs, may=[MODEL_INVALID]) == SUCC
        outputs = [self.query(OUTPUT_ATTR, Attr(index=i)) for i in range(self.counts.outputs)]
        inputs, kept = (Input * len(shapes))(), []
        for i, values in enumerate(data):
            kept.append((f32 * len(values))(*values))
            inputs[i] = Input(index=i, buf=ctypes.addressof(kept[i]), size=ctypes.sizeof(kept[i]), type=FLOAT32, fmt=NHWC)
        self.call("rknn_inputs_set", self.context, len(inputs), inputs)
        self.call("rknn_run", self.context, None)
        results = (Output * len(outputs))(*[Output(want_float=1) for _ in outputs])
        self.call("rknn_outputs_get", self.context, len(results), results, None)
        floats = [list((f32 * a.n_elems).from_buffer_copy(ctypes.string_at(r.buf, 4 * a.n_elems))) for a, r in zip(outputs, results)]
        self.call("rknn_outputs_release", self.context, len(results), results)
        return floats, taken

    def close(self):
        self.call("rknn_destroy", self.context)


def varint(n):
    out = b""
    while n > 127:
        out, n = out + bytes([n & 127 | 128]), n >> 7
    return out + bytes([n])


def field(number, value):
    """A field of a protobuf message: a number, or bytes."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def tensor(name, dims):
    shape = b"".join(field(1, field(1, d) if isinstance(d, int) else field(2, d)) for d in dims)
    return field(1, name) + field(2, field(1, field(1, 1) + field(2, shape)))


def network(dims, meta):
    """y = Relu(x) and n = -x, both of these dimensions in the order NCHW."""
    nodes = b"".join(field(1, field(1, "x") + field(2, out) + field(4, kind)) for kind, out in (("Relu", "y"), ("Neg", "n")))
    graph = nodes + field(2, "g") + field(11, tensor("x", dims)) + b"".join(field(12, tensor(out, dims)) for out in "yn")
    props = b"".join(field(14, field(1, k) + field(2, v)) for k, v in meta.items())
    return field(1, 8) + field(7, graph) + field(8, field(2, 17)) + props


def planes(values, height, width, channels):
    """NHWC to NCHW."""
    return [values[(y * width + x) * channels + c] for c in range(channels) for y in range(height) for x in range(width)]


def expect(results, values, height, room, what):
    """Relu and Neg of values of height x 2 pixels in 3 channels, then zeros up to room elements."""
    want = planes(values, height, 2, 3)
    for got, want in zip(results, ([max(v, 0.0) for v in want], [-v for v in want])):
        check(got, want + [0.0] * (room - len(want)), what)


def static(lib):
    client = Client(lib, network([1, 3, 2, 2], {}))
    check((client.api, client.driver), ((2, 5, 0), (0, 0, 0)), "versions")
    check(client.ranges, [None], "a static model has no list of shapes")
    values = [float(v) - 5.5 for v in range(12)]
    results, taken = client.infer([(1, 2, 2, 3)], [values])
    check(taken, True, "its own shape")
    expect(results, values, 2, 12, "static")
    return client, values


def refused(client, values):
    for shape in (1, 4, 4, 3), (2, 2, 3), (12,):
        results, taken = client.infer([shape], [values])
        check(taken, False, f"shape {shape}")
        expect(results, values, 2, 12, f"after shape {shape}")


def dynamic(lib):
    client = Client(lib, network([1, 3, "height", 2], {"anynpu.input.x.shapes": "[[1,3,2,2],[1,3,64,2],[1,3,1,2]]"}))
    check(client.ranges, [[(1, 2, 2, 3), (1, 64, 2, 3), (1, 1, 2, 3)]], "shapes of a dynamic model")
    for height in (1, 64, 2) * 8:
        values = [float(v) - 5.5 for v in range(6 * height)]
        results, taken = client.infer([(1, height, 2, 3)], [values])
        check(taken, True, f"height {height}")
        expect(results, values, height, 6 * 64, f"height {height}")
    client.close()


def main():
    lib = ctypes.CDLL(f"{sys.argv[1]}/librknnrt.so")
    core = ctypes.CDLL(f"{sys.argv[1]}/libanynpu.so.0")
    before, lines = Before(), []

    @ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_void_p)
    def log(level, component, message, user):
        lines.append((level, component, message))

    core.anynpu_set_log_callback(log, None)
    client, values = static(lib)
    dynamic(lib)
    check(lines, [], "log")
    refused(client, values)
    check(len(lines), 3, "lines about three shapes that do not fit")
    client.close()
    core.anynpu_set_log_callback(None, None)
    check(before.left(), [], "left behind")


main()
