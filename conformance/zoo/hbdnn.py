"""A model computed through hb_dnn.h, as a client of the vendor's runtime does it."""
import ctypes

import numpy

I32, U8 = ctypes.c_int32, ctypes.c_uint8
TYPES = {8: "int8", 9: "uint8", 10: "float16", 11: "int16", 12: "uint16", 13: "float32", 14: "int32", 15: "uint32",
         16: "float64", 17: "int64", 18: "uint64"}
INVALIDATE, CLEAN = 1, 2


class Shape(ctypes.Structure):
    _fields_ = [("sizes", I32 * 8), ("rank", I32)]


class Shift(ctypes.Structure):
    _fields_ = [("length", I32), ("data", ctypes.POINTER(U8))]


class Scale(ctypes.Structure):
    _fields_ = [("length", I32), ("data", ctypes.POINTER(ctypes.c_float)), ("zeros", I32),
                ("zero", ctypes.POINTER(ctypes.c_int8))]


class Properties(ctypes.Structure):
    _fields_ = [("valid", Shape), ("aligned", Shape), ("layout", I32), ("type", I32), ("shift", Shift),
                ("scale", Scale), ("quantization", I32), ("axis", I32), ("bytes", I32), ("stride", I32 * 8)]


class Memory(ctypes.Structure):
    _fields_ = [("physical", ctypes.c_uint64), ("address", ctypes.c_void_p), ("size", ctypes.c_uint32)]


class Tensor(ctypes.Structure):
    _fields_ = [("memory", Memory * 4), ("properties", Properties)]


class Control(ctypes.Structure):
    _fields_ = [("bpu", I32), ("dsp", I32), ("priority", I32), ("more", I32), ("custom", ctypes.c_int64),
                ("reserved1", I32), ("reserved2", I32)]


class Model:
    """real says of each output whether the ONNX model has real numbers there."""

    def __init__(self, library, path, real, failed):
        self.library, self.real, self.failed = ctypes.CDLL(library + "/libdnn.so"), real, failed
        pack, self.model = ctypes.c_void_p(), ctypes.c_void_p()
        names, count = ctypes.POINTER(ctypes.c_char_p)(), I32()
        self.call("hbDNNInitializeFromFiles", ctypes.byref(pack), (ctypes.c_char_p * 1)(path.encode()), 1)
        self.call("hbDNNGetModelNameList", ctypes.byref(names), ctypes.byref(count), pack)
        self.call("hbDNNGetModelHandle", ctypes.byref(self.model), pack, ctypes.c_char_p(names[0]))
        self.inputs, self.outputs = self.tensors("Input"), self.tensors("Output")

    def call(self, name, *arguments):
        code = getattr(self.library, name)(*arguments)
        if code:
            raise self.failed("%s: %d" % (name, code))

    def tensors(self, side):
        count, made = I32(), []
        self.call("hbDNNGet%sCount" % side, ctypes.byref(count), self.model)
        for i in range(count.value):
            t, name = Tensor(), ctypes.c_char_p()
            self.call("hbDNNGet%sName" % side, ctypes.byref(name), self.model, i)
            self.call("hbDNNGet%sTensorProperties" % side, ctypes.byref(t.properties), self.model, i)
            self.call("hbSysAllocCachedMem", ctypes.byref(t.memory[0]), max(t.properties.bytes, 1))
            made.append((name.value.decode(), t))
        return made

    @staticmethod
    def view(t):
        """The tensor's memory as an array of its valid shape."""
        p = t.properties
        sizes, kind = list(p.valid.sizes[:p.valid.rank]), numpy.dtype(TYPES[p.type])
        raw = (U8 * max(p.bytes, 1)).from_address(t.memory[0].address)
        return numpy.ndarray(sizes, kind, raw, 0, p.stride[:p.valid.rank])

    @staticmethod
    def codes(t):
        """Scale and zero point of a tensor whose numbers are codes, as arrays that fit its shape; None for others."""
        p = t.properties
        if p.quantization == 1:  # SHIFT
            return numpy.array(2.0 ** -p.shift.data[0]), numpy.array(0)
        if p.quantization != 2:  # SCALE
            return None
        shape = [1] * p.valid.rank
        if p.scale.length > 1:
            shape[p.axis] = p.scale.length
        zeros = [p.scale.zero[i] for i in range(p.scale.zeros)] or [0]
        if TYPES[p.type].startswith("u"):
            zeros = [z & 255 for z in zeros]
        scales = numpy.array([p.scale.data[i] for i in range(p.scale.length)])
        return scales.reshape(shape), numpy.array(zeros).reshape(shape if len(zeros) > 1 else [1] * p.valid.rank)

    def encoded(self, t, array, kind):
        """Real numbers as the codes that the tensor holds; others as they are."""
        found = self.codes(t)
        if found is None or array.dtype.kind != "f":
            return array
        scale, zero = found
        limits = numpy.iinfo(kind)
        return numpy.clip(numpy.rint(array / scale) + zero, limits.min, limits.max).astype(kind)

    def decoded(self, t, real):
        """A copy of the tensor; of codes the numbers that they stand for, where the model's output is real."""
        found = self.codes(t)
        if found is None or not real:
            return self.view(t).copy()
        scale, zero = found
        return ((self.view(t).astype(numpy.float64) - zero) * scale).astype(numpy.float32)

    def run(self, arrays):
        for name, t in self.inputs:
            place, array = self.view(t), arrays[name]
            array = self.encoded(t, array, place.dtype)
            if array.ndim == 4 and array.shape != place.shape:
                array = array.transpose(0, 2, 3, 1)  # images are given with their channels last
            if array.ndim and array.shape != place.shape or array.dtype.itemsize != place.dtype.itemsize:
                raise self.failed("input %s: %s %s, the model's is %s %s"
                                  % (name, place.dtype, place.shape, array.dtype, array.shape))
            place[...] = array
        return self.compute()

    def compute(self):
        """Runs the model on what the memories of the inputs hold."""
        for _, t in self.inputs:
            self.call("hbSysFlushMem", ctypes.byref(t.memory[0]), CLEAN)
        task = ctypes.c_void_p()
        given = (Tensor * max(len(self.inputs), 1))(*[t for _, t in self.inputs])
        wanted = (Tensor * len(self.outputs))(*[t for _, t in self.outputs])
        self.call("hbDNNInfer", ctypes.byref(task), ctypes.byref(ctypes.pointer(wanted)), given, self.model,
                  ctypes.byref(Control()))
        try:
            self.call("hbDNNWaitTaskDone", task, 0)
        finally:
            self.library.hbDNNReleaseTask(task)
        for _, t in self.outputs:
            self.call("hbSysFlushMem", ctypes.byref(t.memory[0]), INVALIDATE)
        return [self.decoded(t, real) for (_, t), real in zip(self.outputs, self.real)]
