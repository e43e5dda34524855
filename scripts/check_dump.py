"""usage: check_dump.py LIBRARIES

Programs of hbDNN, RKNN, OH_NN and NNAPI run with ANYNPU_DUMP; ONNX Runtime computes the files that this leaves, from
the same inputs, to the same results: a network that takes NV12 images, a product of matrices, and a sum by calls of
OH_NN and of NNAPI. LIBRARIES is build/lib. Exits 1 when a file is missing, invalid or computes something else.
"""
import ctypes
import glob
import json
import os
import sys
import tempfile

import numpy
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "conformance", "zoo"))
import hbdnn

I32, U32, PTR = ctypes.c_int32, ctypes.c_uint32, ctypes.c_void_p
RANDOM = numpy.random.default_rng(5)


def call(library, name, *arguments):
    code = getattr(library, name)(*arguments)
    if code:
        sys.exit("%s: %d" % (name, code))


class Nv12(hbdnn.Model):
    """A model whose inputs are images in NV12: an array of bytes for each."""

    def run(self, images):
        for name, t in self.inputs:
            ctypes.memmove(t.memory[0].address, images[name].ctypes.data, images[name].nbytes)
        return self.compute()


def nv12(libraries, folder):
    """A convolution of an image of 64 x 12 that comes in NV12, whose rows need no padding."""
    height, width = 12, 64
    f32 = lambda name, *shape: numpy_helper.from_array(RANDOM.standard_normal(shape).astype(numpy.float32), name)
    image = helper.make_tensor_value_info("image", TensorProto.FLOAT, [1, 3, height, width])
    out = helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 4, height, width])
    nodes = [helper.make_node("Conv", ["image", "w", "b"], ["t"], pads=[1] * 4), helper.make_node("Relu", ["t"], ["y"])]
    graph = helper.make_graph(nodes, "camera", [image], [out], [f32("w", 4, 3, 3, 3), f32("b", 4)])
    path = os.path.join(folder, "camera.onnx")
    onnx.save(helper.make_model(graph, ir_version=10, opset_imports=[helper.make_opsetid("", 17)]), path)
    with open(path + ".anynpu.json", "w") as f:
        json.dump({"anynpu.input.image.pixel": "nv12", "anynpu.input.image.range": "bt601_video",
                   "anynpu.input.image.mean": [120, 110, 100], "anynpu.input.image.std": [60, 50, 40]}, f)
    bytes_ = RANDOM.integers(0, 256, height * width * 3 // 2, numpy.uint8)
    model = Nv12(libraries, path, [True], SystemExit)
    # the graph has luma and chroma as two inputs
    return [bytes_[:height * width], bytes_[height * width:]], model.run({"image": bytes_})


class MatmulAttr(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char * 256), ("n_dims", U32), ("dims", U32 * 16), ("size", U32), ("type", I32)]


class MatmulInfo(ctypes.Structure):
    _fields_ = [("M", I32), ("K", I32), ("N", I32), ("type", I32), ("layouts", ctypes.c_int16 * 4), ("domain", I32),
                ("group", ctypes.c_int16), ("reserved", ctypes.c_int8 * 34)]


class RknnMemory(ctypes.Structure):
    _fields_ = [("address", PTR)]  # what is behind it is not looked at


def matmul(libraries, folder):
    """A product of bytes of 3 x 64 by 64 x 32."""
    m, k, n = 3, 64, 32
    library, context = ctypes.CDLL(libraries + "/librknnrt.so"), ctypes.c_uint64()
    library.rknn_create_mem.restype = ctypes.POINTER(RknnMemory)
    library.rknn_create_mem.argtypes = [ctypes.c_uint64, U32]
    info, attrs = MatmulInfo(M=m, K=k, N=n, type=2), (MatmulAttr * 3)()  # RKNN_INT8_MM_INT8_TO_INT32
    call(library, "rknn_matmul_create", ctypes.byref(context), ctypes.byref(info), attrs)
    a = RANDOM.integers(-128, 128, (m, k)).astype(numpy.int8)
    b = RANDOM.integers(-128, 128, (k, n)).astype(numpy.int8)
    memories = []
    for attr, data in zip(attrs, (a, b, None)):
        memory = library.rknn_create_mem(context, attr.size)
        if data is not None:
            ctypes.memmove(memory.contents.address, data.ctypes.data, data.nbytes)
        call(library, "rknn_matmul_set_io_mem", context, memory, ctypes.byref(attr))
        memories.append(memory)
    call(library, "rknn_matmul_run", context)
    c = numpy.frombuffer(ctypes.string_at(memories[2].contents.address, 4 * m * n), numpy.int32).reshape(m, n).copy()
    call(library, "rknn_matmul_destroy", context)
    return [a, b], [c]


class Array(ctypes.Structure):
    _fields_ = [("data", ctypes.POINTER(U32)), ("size", U32)]


def indices(*values):
    return Array((U32 * len(values))(*values) if values else None, len(values))


def ohnn(libraries, folder):
    """|a + b| by calls of OH_NN."""
    library = ctypes.CDLL(libraries + "/libneural_network_core.so")
    more = ctypes.CDLL(libraries + "/libneural_network_runtime.so")

    def handle(where, name, *arguments):
        function = getattr(where, name)
        function.restype = PTR
        return PTR(function(*arguments) or sys.exit(name + ": NULL"))
    model, desc = handle(more, "OH_NNModel_Construct"), handle(library, "OH_NNTensorDesc_Create")
    call(library, "OH_NNTensorDesc_SetShape", desc, (I32 * 2)(2, 3), ctypes.c_size_t(2))
    call(library, "OH_NNTensorDesc_SetDataType", desc, 11)  # OH_NN_FLOAT32
    for _ in range(4):
        call(more, "OH_NNModel_AddTensorToModel", model, desc)
    for kind, given, made in ((1, (0, 1), (2,)), (58, (2,), (3,))):  # OH_NN_OPS_ADD, OH_NN_OPS_ABS
        call(more, "OH_NNModel_AddOperation", model, kind, ctypes.byref(indices()), ctypes.byref(indices(*given)),
             ctypes.byref(indices(*made)))
    call(more, "OH_NNModel_SpecifyInputsAndOutputs", model, ctypes.byref(indices(0, 1)), ctypes.byref(indices(3)))
    call(more, "OH_NNModel_Finish", model)
    compilation = handle(library, "OH_NNCompilation_Construct", model)
    ids, count = ctypes.POINTER(ctypes.c_size_t)(), U32()
    call(library, "OH_NNDevice_GetAllDevicesID", ctypes.byref(ids), ctypes.byref(count))
    call(library, "OH_NNCompilation_SetDevice", compilation, ctypes.c_size_t(ids[0]))
    call(library, "OH_NNCompilation_Build", compilation)
    executor = handle(library, "OH_NNExecutor_Construct", compilation)
    arrays = [RANDOM.standard_normal((2, 3)).astype(numpy.float32) for _ in range(2)]
    tensors = [handle(library, "OH_NNTensor_Create", ctypes.c_size_t(ids[0]), desc) for _ in range(3)]
    places = [handle(library, "OH_NNTensor_GetDataBuffer", t) for t in tensors]
    for place, array in zip(places, arrays):
        ctypes.memmove(place, array.ctypes.data, array.nbytes)
    given, made = (PTR * 2)(*tensors[:2]), (PTR * 1)(tensors[2])
    call(library, "OH_NNExecutor_RunSync", executor, given, ctypes.c_size_t(2), made, ctypes.c_size_t(1))
    return arrays, [numpy.frombuffer(ctypes.string_at(places[2], 24), numpy.float32).reshape(2, 3).copy()]


class OperandType(ctypes.Structure):
    _fields_ = [("type", I32), ("rank", U32), ("dims", ctypes.POINTER(U32)), ("scale", ctypes.c_float), ("zero", I32)]


def nnapi(libraries, folder):
    """max(a + b, 0) by calls of NNAPI, quantized: 8 bits, halves away from zero."""
    library = ctypes.CDLL(libraries + "/libneuralnetworks.so")
    model, compilation, execution = PTR(), PTR(), PTR()
    dims, relu = (U32 * 2)(2, 40), I32(1)
    kinds = [OperandType(5, 2, dims, scale, zero) for scale, zero in ((0.25, 100), (0.5, 90))]
    kinds += [OperandType(1, 0, None, 0, 0), OperandType(5, 2, dims, 0.5, 3)]  # TENSOR_QUANT8_ASYMM and INT32
    call(library, "ANeuralNetworksModel_create", ctypes.byref(model))
    for kind in kinds:
        call(library, "ANeuralNetworksModel_addOperand", model, ctypes.byref(kind))
    size = ctypes.c_size_t
    call(library, "ANeuralNetworksModel_setOperandValue", model, 2, ctypes.byref(relu), size(4))
    call(library, "ANeuralNetworksModel_addOperation", model, 0, 3, (U32 * 3)(0, 1, 2), 1, (U32 * 1)(3))
    call(library, "ANeuralNetworksModel_identifyInputsAndOutputs", model, 2, (U32 * 2)(0, 1), 1, (U32 * 1)(3))
    call(library, "ANeuralNetworksModel_finish", model)
    call(library, "ANeuralNetworksCompilation_create", model, ctypes.byref(compilation))
    call(library, "ANeuralNetworksCompilation_finish", compilation)
    call(library, "ANeuralNetworksExecution_create", compilation, ctypes.byref(execution))
    arrays = [RANDOM.integers(0, 256, (2, 40)).astype(numpy.uint8) for _ in range(2)]
    result = numpy.zeros((2, 40), numpy.uint8)
    for i, a in enumerate(arrays):
        call(library, "ANeuralNetworksExecution_setInput", execution, i, None, PTR(a.ctypes.data), size(a.nbytes))
    call(library, "ANeuralNetworksExecution_setOutput", execution, 0, None, PTR(result.ctypes.data), size(80))
    call(library, "ANeuralNetworksExecution_compute", execution)
    return arrays, [result]


def judge(folder, given, want):
    """What is wrong with the file that a program has left, None for nothing."""
    files = sorted(glob.glob(folder + "/*.onnx"))
    if len(files) != 1:
        return "%d files, want 1: %s" % (len(files), files)
    onnx.checker.check_model(files[0], full_check=True)
    session = onnxruntime.InferenceSession(files[0], providers=["CPUExecutionProvider"])
    arrays = {p.name: g.reshape([d if isinstance(d, int) else -1 for d in p.shape])
              for p, g in zip(session.get_inputs(), given)}
    for got, expected in zip(session.run(None, arrays), want):
        if got.size != expected.size or got.dtype != expected.dtype:
            return "%s of %s, want %s of %s" % (got.shape, got.dtype, expected.shape, expected.dtype)
        close = 1e-4 if got.dtype.kind == "f" else 0
        off = numpy.abs(got.reshape(expected.shape).astype(numpy.float64) - expected.astype(numpy.float64)).max()
        if not off <= close * max(1.0, float(numpy.abs(expected.astype(numpy.float64)).max())):
            return "results differ by up to %g" % off
    return None


def main():
    libraries, bad = os.path.abspath(sys.argv[1]), 0
    programs = (nv12, matmul, ohnn, nnapi)
    for program in programs:
        with tempfile.TemporaryDirectory() as work:
            dumped = os.path.join(work, "dumped")
            os.mkdir(dumped)
            child = os.fork()  # a process for each, whose environment the library reads once
            if child == 0:
                os.environ["ANYNPU_DUMP"] = dumped
                given, want = program(libraries, work)
                numpy.savez(os.path.join(work, "arrays.npz"), *given, **{"want%d" % i: w for i, w in enumerate(want)})
                os._exit(0)
            if os.waitpid(child, 0)[1]:
                print("%s: the program failed" % program.__name__)
                bad += 1
                continue
            arrays = numpy.load(os.path.join(work, "arrays.npz"))
            given = [arrays[n] for n in arrays.files if n.startswith("arr_")]
            wrong = judge(dumped, given, [arrays[n] for n in arrays.files if n.startswith("want")])
            if wrong:
                print("%s: %s" % (program.__name__, wrong))
                bad += 1
    print("dump: programs %d, files that ONNX Runtime computes to the same %d" % (len(programs), len(programs) - bad))
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
