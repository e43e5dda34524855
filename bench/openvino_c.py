"""OpenVINO by its C API, from the library in PyPI's package: a run costs one call and copies nothing."""
import ctypes
import glob
import importlib.metadata
import importlib.util
import os

import ml_dtypes
import numpy as np

TYPES = [None, bool, ml_dtypes.bfloat16, np.float16, np.float32, np.float64, None, np.int8, np.int16, np.int32,
         np.int64, None, None, None, None, None, np.uint8, np.uint16, np.uint32, np.uint64]  # by ov_element_type_e
Pointer = ctypes.c_void_p


class Shape(ctypes.Structure):
    _fields_ = [("rank", ctypes.c_int64), ("dims", ctypes.POINTER(ctypes.c_int64))]


def version():
    return importlib.metadata.version("openvino")


def library():
    folder = importlib.util.find_spec("openvino").submodule_search_locations[0]
    lib = ctypes.CDLL(glob.glob(os.path.join(folder, "libs", "libopenvino_c.so*"))[0])
    lib.ov_get_last_err_msg.restype = ctypes.c_char_p
    lib.ov_infer_request_infer.argtypes = [Pointer]
    lib.ov_tensor_create_from_host_ptr.argtypes = [ctypes.c_int, Shape, Pointer, Pointer]
    return lib


class Port:
    """An input or a result: name, sizes (None when they are open), element type and its number."""

    def __init__(self, model, kind, index):
        port, name, self.code, shape = Pointer(), ctypes.c_char_p(), ctypes.c_int(), Shape()
        model.get(f"ov_compiled_model_{kind}_by_index", model.compiled, ctypes.c_size_t(index), port)
        model.get("ov_port_get_any_name", port, name)
        model.get("ov_port_get_element_type", port, self.code)
        self.name, self.type, self.shape = name.value.decode(), TYPES[self.code.value], None
        if model.lib.ov_const_port_get_shape(port, ctypes.byref(shape)) == 0:
            self.shape = tuple(shape.dims[:shape.rank])


class Model:
    """A model file that runs on the CPU; results of fixed sizes are arrays that stay where they are."""

    def __init__(self, path, threads, precision=None):
        self.lib = library()
        core, read, self.compiled, self.request = Pointer(), Pointer(), Pointer(), Pointer()
        options = ["INFERENCE_NUM_THREADS", str(threads), "NUM_STREAMS", "1", "PERFORMANCE_HINT", "LATENCY"]
        if precision:
            options += ["INFERENCE_PRECISION_HINT", precision]
        self.get("ov_core_create", core)
        self.check(self.lib.ov_core_read_model(core, path.encode(), None, ctypes.byref(read)))
        self.check(self.lib.ov_core_compile_model(core, read, b"CPU", ctypes.c_size_t(len(options)),
                                                  ctypes.byref(self.compiled), *(o.encode() for o in options)))
        self.lib.ov_model_free(read)
        self.get("ov_compiled_model_create_infer_request", self.compiled, self.request)
        self.inputs, self.outputs = self.ports("input"), self.ports("output")
        self.bound = {}
        for i, p in enumerate(self.outputs):
            if p.shape is not None and p.type:
                self.bind("output", i, p, np.empty(p.shape, p.type))
        infer, request = self.lib.ov_infer_request_infer, self.request
        self.run = lambda: infer(request) and self.check(1)

    def get(self, function, *arguments):
        """Calls a function whose last argument it writes."""
        self.check(getattr(self.lib, function)(*arguments[:-1], ctypes.byref(arguments[-1])))

    def check(self, status):
        if status:
            text = (self.lib.ov_get_last_err_msg() or b"").decode(errors="replace").strip()
            raise RuntimeError(text.splitlines()[-1] if text else f"status {status}")

    def ports(self, kind):
        n = ctypes.c_size_t()
        self.get(f"ov_compiled_model_{kind}s_size", self.compiled, n)
        return [Port(self, kind, i) for i in range(n.value)]

    def bind(self, kind, index, port, x):
        """Makes array x the tensor of a port."""
        x = np.ascontiguousarray(x).reshape(np.shape(x))
        if x.dtype != port.type:
            raise TypeError(f"{port.name}: array of {x.dtype}, want {port.type}")
        tensor, dims = Pointer(), (ctypes.c_int64 * max(1, x.ndim))(*x.shape)
        self.get("ov_tensor_create_from_host_ptr", port.code, Shape(x.ndim, dims), x.ctypes.data, tensor)
        self.check(getattr(self.lib, f"ov_infer_request_set_{kind}_tensor_by_index")(
            self.request, ctypes.c_size_t(index), tensor))
        self.bound[kind, index] = x, tensor

    def result(self, index):
        """The result of the last run as an array."""
        port = self.outputs[index]
        if ("output", index) in self.bound:
            return self.bound["output", index][0]
        tensor, size, data, shape = Pointer(), ctypes.c_size_t(), Pointer(), Shape()
        self.get("ov_infer_request_get_output_tensor_by_index", self.request, ctypes.c_size_t(index), tensor)
        self.get("ov_tensor_get_byte_size", tensor, size)
        self.get("ov_tensor_get_shape", tensor, shape)
        self.get("ov_tensor_data", tensor, data)
        return np.frombuffer(ctypes.string_at(data, size.value), port.type).reshape(shape.dims[:shape.rank])
