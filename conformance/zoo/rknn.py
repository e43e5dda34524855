"""A model computed through rknn_api.h, as a client of the vendor's runtime does it."""
import ctypes

import numpy

U8, U32, I32, F32 = ctypes.c_uint8, ctypes.c_uint32, ctypes.c_int32, ctypes.c_float
IN_OUT_NUM, INPUT_ATTR, OUTPUT_ATTR = 0, 1, 2
NHWC = 1
TYPES = ["float32", "float16", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "bool"]


class Attr(ctypes.Structure):
    _fields_ = [("index", U32), ("n_dims", U32), ("dims", U32 * 16), ("name", ctypes.c_char * 256), ("n_elems", U32),
                ("size", U32), ("fmt", I32), ("type", I32), ("qnt_type", I32), ("fl", ctypes.c_int8), ("zp", I32),
                ("scale", F32), ("w_stride", U32), ("size_with_stride", U32), ("pass_through", U8), ("h_stride", U32)]


class Counts(ctypes.Structure):
    _fields_ = [("inputs", U32), ("outputs", U32)]


class Input(ctypes.Structure):
    _fields_ = [("index", U32), ("buf", ctypes.c_void_p), ("size", U32), ("pass_through", U8), ("type", I32),
                ("fmt", I32)]


class Output(ctypes.Structure):
    _fields_ = [("want_float", U8), ("is_prealloc", U8), ("index", U32), ("buf", ctypes.c_void_p), ("size", U32)]


class Model:
    def __init__(self, library, path, failed):
        self.library, self.failed, self.context = ctypes.CDLL(library + "/librknnrt.so"), failed, ctypes.c_uint64()
        self.call("rknn_init", ctypes.byref(self.context), path.encode(), 0, 0, None)
        self.counts = self.query(IN_OUT_NUM, Counts())
        self.inputs = [self.query(INPUT_ATTR, Attr(index=i)) for i in range(self.counts.inputs)]
        self.outputs = [self.query(OUTPUT_ATTR, Attr(index=i)) for i in range(self.counts.outputs)]

    def call(self, name, *arguments):
        code = getattr(self.library, name)(*arguments)
        if code:
            raise self.failed("%s: %d" % (name, code))

    def query(self, command, answer):
        self.call("rknn_query", self.context, command, ctypes.byref(answer), ctypes.sizeof(answer))
        return answer

    def run(self, arrays):
        given, kept = (Input * max(len(self.inputs), 1))(), []
        for i, attr in enumerate(self.inputs):
            array, dims = arrays[attr.name.decode()], list(attr.dims[:attr.n_dims])
            if array.ndim == 4 and list(array.shape) != dims:
                array = array.transpose(0, 2, 3, 1)  # images are given with their channels last
            if array.ndim and list(array.shape) != dims:
                raise self.failed("input %s: dims %s, the model's are %s" % (attr.name.decode(), dims, array.shape))
            kept.append(numpy.ascontiguousarray(array))
            given[i] = Input(index=i, buf=kept[-1].ctypes.data, size=kept[-1].nbytes, fmt=NHWC,
                             type=TYPES.index(array.dtype.name))
        self.call("rknn_inputs_set", self.context, len(self.inputs), given)
        self.call("rknn_run", self.context, None)
        wanted = (Output * len(self.outputs))()
        for i, attr in enumerate(self.outputs):
            wanted[i] = Output(want_float=TYPES[attr.type].startswith("float"), index=i)
        self.call("rknn_outputs_get", self.context, len(wanted), wanted, None)
        results = []
        for attr, got in zip(self.outputs, wanted):
            kind = numpy.dtype("float32" if got.want_float else TYPES[attr.type])
            data = ctypes.string_at(got.buf, attr.n_elems * kind.itemsize) if attr.n_elems else b""
            results.append(numpy.frombuffer(data, kind).reshape(attr.dims[:attr.n_dims]).copy())
        self.call("rknn_outputs_release", self.context, len(wanted), wanted)
        return results
