"""Sessions: a model that is loaded once and run with NumPy arrays."""

import ctypes
import os
import threading
import weakref
from typing import NamedTuple, Tuple

import numpy

from ._library import AnyNPUError, call, load

# numpy's names of OH_NN_DataType, from 1 on.
_TYPES = ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32",
          "float64")
_LARGEST = 1 << 30  # bytes of a tensor, as the API allows


class Tensor(NamedTuple):
    """An input or output of a model: -1 in shape is a size that a run decides."""
    name: str
    shape: Tuple[int, ...]
    dtype: numpy.dtype


class Session:
    """A model, compiled for this machine.

    model is a path or the bytes of an ONNX file. Calls from several threads take turns. A session is closed by
    `close`, by leaving a `with` block, or when it is collected.
    """

    def __init__(self, model):
        if isinstance(model, (bytes, bytearray, memoryview)):
            data = bytes(model)
            compilation = call("OH_NNCompilation_ConstructWithOfflineModelBuffer", data, len(data))
        else:
            data = None
            compilation = call("OH_NNCompilation_ConstructWithOfflineModelFile", os.fsencode(model))
        self._lock = threading.Lock()
        try:
            self._device = _first_device()
            call("OH_NNCompilation_SetDevice", compilation, self._device)
            call("OH_NNCompilation_Build", compilation)
            self._executor = call("OH_NNExecutor_Construct", compilation)
        finally:
            load().OH_NNCompilation_Destroy(ctypes.byref(ctypes.c_void_p(compilation)))
        self._close = weakref.finalize(self, _destroy_executor, self._executor)
        self._inputs = self._ports("Input")
        self._outputs = self._ports("Output")

    @property
    def inputs(self):
        """The inputs, in the model's order."""
        return list(self._inputs)

    @property
    def outputs(self):
        """The outputs, in the model's order."""
        return list(self._outputs)

    def query(self):
        """What the model takes and gives, as a dictionary that JSON can hold."""
        def described(tensors):
            return [{"name": t.name, "shape": list(t.shape), "type": t.dtype.name} for t in tensors]
        return {"inputs": described(self._inputs), "outputs": described(self._outputs)}

    def run(self, inputs, outputs=None):
        """Computes the model once.

        inputs: a dictionary from name to array, a list in the model's order, or the array of the only input. An array
        is converted to the input's type if numpy's rule "same_kind" allows it and its integers are in the type's range.
        outputs: the names that are wanted, all by default. Returns a dictionary from name to array, in the model's
        order.
        """
        arrays = self._arranged(inputs)
        wanted = [t.name for t in self._outputs] if outputs is None else list(outputs)
        unknown = [name for name in wanted if name not in [t.name for t in self._outputs]]
        if unknown:
            raise AnyNPUError("the model has no output %r; it has %s" % (unknown[0], _names(self._outputs)))
        with self._lock:
            if not self._close.alive:
                raise AnyNPUError("the session is closed")
            results = self._compute(arrays)
        return {t.name: r for t, r in zip(self._outputs, results) if t.name in wanted}

    __call__ = run

    def close(self):
        """Gives the model back. A second call does nothing."""
        with self._lock:
            self._close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def _ports(self, kind):
        count = ctypes.c_size_t()
        call("OH_NNExecutor_Get%sCount" % kind, self._executor, ctypes.byref(count))
        ports = []
        for i in range(count.value):
            with _Desc(self._executor, kind, i) as desc:
                ports.append(desc.read())
        return ports

    def _arranged(self, inputs):
        """The arrays in the model's order, contiguous and of the model's types."""
        if not isinstance(inputs, (dict, list, tuple)):
            inputs = [inputs]
        if isinstance(inputs, dict):
            for name in inputs:
                if name not in [t.name for t in self._inputs]:
                    raise AnyNPUError("the model has no input %r; it has %s" % (name, _names(self._inputs)))
            missing = [t.name for t in self._inputs if t.name not in inputs]
            if missing:
                raise AnyNPUError("input %r is missing" % missing[0])
            inputs = [inputs[t.name] for t in self._inputs]
        if len(inputs) != len(self._inputs):
            raise AnyNPUError("%d arrays are given; the model has %d inputs" % (len(inputs), len(self._inputs)))
        arrays = []
        for t, value in zip(self._inputs, inputs):
            array = numpy.asarray(value)
            shape = array.shape or ((1,) if t.shape == (1,) else ())
            if len(shape) != len(t.shape) or any(w not in (-1, g) for w, g in zip(t.shape, shape)):
                raise AnyNPUError("input %r has shape %s; the model takes %s"
                                  % (t.name, list(array.shape), list(t.shape)))
            if not numpy.can_cast(array.dtype, t.dtype, "same_kind"):
                raise AnyNPUError("input %r has type %s; the model takes %s" % (t.name, array.dtype, t.dtype))
            _check_range(t, array)
            arrays.append(numpy.ascontiguousarray(array, t.dtype).reshape(shape))
        return arrays

    def _compute(self, arrays):
        """Runs once; where sizes of outputs are open, again with more room until the results fit."""
        room = max([1 << 20] + [16 * a.nbytes for a in arrays])
        while True:
            try:
                return self._attempt(arrays, room)
            except AnyNPUError as e:
                fixed = all(size >= 0 for t in self._outputs for size in t.shape)
                if fixed or room >= _LARGEST or "bytes" not in str(e) or "output" not in str(e):
                    raise
                room = min(8 * room, _LARGEST)

    def _attempt(self, arrays, room):
        given, results = [], []
        try:
            for i, array in enumerate(arrays):
                given.append(self._tensor("Input", i, array.shape, array.nbytes))
                ctypes.memmove(call("OH_NNTensor_GetDataBuffer", given[-1]), array.ctypes.data, array.nbytes)
            for i, t in enumerate(self._outputs):
                fixed = all(size >= 0 for size in t.shape)
                bytes_ = int(numpy.prod(t.shape)) * t.dtype.itemsize if fixed else room
                results.append(self._tensor("Output", i, t.shape if fixed else [1] * len(t.shape), bytes_))
            call("OH_NNExecutor_RunSync", self._executor, _array(given), len(given), _array(results), len(results))
            return [self._result(i, tensor) for i, tensor in enumerate(results)]
        finally:
            for tensor in given + results:
                load().OH_NNTensor_Destroy(ctypes.byref(ctypes.c_void_p(tensor)))

    def _tensor(self, kind, index, shape, size):
        with _Desc(self._executor, kind, index) as desc:
            if shape:
                call("OH_NNTensorDesc_SetShape", desc.handle, (ctypes.c_int32 * len(shape))(*shape), len(shape))
            return call("OH_NNTensor_CreateWithSize", self._device, desc.handle, max(int(size), 1))

    def _result(self, index, tensor):
        dims, rank = ctypes.POINTER(ctypes.c_int32)(), ctypes.c_uint32()
        call("OH_NNExecutor_GetOutputShape", self._executor, index, ctypes.byref(dims), ctypes.byref(rank))
        array = numpy.empty([dims[i] for i in range(rank.value)], self._outputs[index].dtype)
        if array.nbytes:
            ctypes.memmove(array.ctypes.data, call("OH_NNTensor_GetDataBuffer", tensor), array.nbytes)
        return array


class _Desc:
    """The descriptor of a port, destroyed when its block is left."""

    def __init__(self, executor, kind, index):
        self.handle = call("OH_NNExecutor_Create%sTensorDesc" % kind, executor, index)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        load().OH_NNTensorDesc_Destroy(ctypes.byref(ctypes.c_void_p(self.handle)))

    def read(self):
        name, kind = ctypes.c_char_p(), ctypes.c_int()
        dims, rank = ctypes.POINTER(ctypes.c_int32)(), ctypes.c_size_t()
        call("OH_NNTensorDesc_GetName", self.handle, ctypes.byref(name))
        call("OH_NNTensorDesc_GetDataType", self.handle, ctypes.byref(kind))
        call("OH_NNTensorDesc_GetShape", self.handle, ctypes.byref(dims), ctypes.byref(rank))
        if not 1 <= kind.value <= len(_TYPES):
            raise AnyNPUError("%s: NumPy has no name for the type %d" % (name.value.decode(), kind.value))
        shape = tuple(dims[i] for i in range(rank.value))
        return Tensor(name.value.decode(), shape, numpy.dtype(_TYPES[kind.value - 1]))


def _check_range(t, array):
    """Refuses integers that the input's type does not have: numpy would wrap them."""
    if array.dtype.kind not in "iu" or t.dtype.kind not in "iu" or not array.size:
        return
    limits = numpy.iinfo(t.dtype)
    for value in (int(array.min()), int(array.max())):
        if not limits.min <= value <= limits.max:
            raise AnyNPUError("input %r has the value %d; the model takes %s, %d to %d"
                              % (t.name, value, t.dtype, limits.min, limits.max))


def _first_device():
    ids, count = ctypes.POINTER(ctypes.c_size_t)(), ctypes.c_uint32()
    call("OH_NNDevice_GetAllDevicesID", ctypes.byref(ids), ctypes.byref(count))
    return ids[0]


def _destroy_executor(handle):
    load().OH_NNExecutor_Destroy(ctypes.byref(ctypes.c_void_p(handle)))


def _array(handles):
    return (ctypes.c_void_p * max(len(handles), 1))(*handles)


def _names(tensors):
    return ", ".join(t.name for t in tensors)
