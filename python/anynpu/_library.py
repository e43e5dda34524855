"""The shared library: where it is, its functions by ctypes, and its errors."""

import ctypes
import functools
import os


class AnyNPUError(RuntimeError):
    """A call that the library refused. `code` is the OH_NN_ReturnCode, or None where a function returns a handle."""

    def __init__(self, message, code=None):
        super().__init__(message)
        self.code = code


def prefix():
    """The folder with `bin` and `lib`: ANYNPU_PREFIX, or the one inside this package."""
    return os.environ.get("ANYNPU_PREFIX") or os.path.join(os.path.dirname(os.path.abspath(__file__)), "prefix")


def library():
    """The path of the shared library."""
    return os.path.join(prefix(), "lib", "libanynpu.so.0")


_handle, _handles = ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p)
_size, _sizes = ctypes.c_size_t, ctypes.POINTER(ctypes.c_size_t)
_int32s = ctypes.POINTER(ctypes.POINTER(ctypes.c_int32))

# Result and parameters of every function that is used, as in neural_network_core.h and anynpu.h.
_PROTOTYPES = {
    "anynpu_version": (ctypes.c_char_p, []),
    "anynpu_last_error": (ctypes.c_char_p, []),
    "OH_NNDevice_GetAllDevicesID": (ctypes.c_int, [ctypes.POINTER(_sizes), ctypes.POINTER(ctypes.c_uint32)]),
    "OH_NNCompilation_ConstructWithOfflineModelFile": (_handle, [ctypes.c_char_p]),
    "OH_NNCompilation_ConstructWithOfflineModelBuffer": (_handle, [ctypes.c_char_p, _size]),
    "OH_NNCompilation_SetDevice": (ctypes.c_int, [_handle, _size]),
    "OH_NNCompilation_EnableFloat16": (ctypes.c_int, [_handle, ctypes.c_bool]),
    "OH_NNCompilation_Build": (ctypes.c_int, [_handle]),
    "OH_NNCompilation_Destroy": (None, [_handles]),
    "OH_NNExecutor_Construct": (_handle, [_handle]),
    "OH_NNExecutor_Destroy": (None, [_handles]),
    "OH_NNExecutor_GetInputCount": (ctypes.c_int, [_handle, _sizes]),
    "OH_NNExecutor_GetOutputCount": (ctypes.c_int, [_handle, _sizes]),
    "OH_NNExecutor_CreateInputTensorDesc": (_handle, [_handle, _size]),
    "OH_NNExecutor_CreateOutputTensorDesc": (_handle, [_handle, _size]),
    "OH_NNExecutor_GetOutputShape": (
        ctypes.c_int, [_handle, ctypes.c_uint32, _int32s, ctypes.POINTER(ctypes.c_uint32)]),
    "OH_NNExecutor_RunSync": (ctypes.c_int, [_handle, _handles, _size, _handles, _size]),
    "OH_NNTensorDesc_Destroy": (ctypes.c_int, [_handles]),
    "OH_NNTensorDesc_GetName": (ctypes.c_int, [_handle, ctypes.POINTER(ctypes.c_char_p)]),
    "OH_NNTensorDesc_GetDataType": (ctypes.c_int, [_handle, ctypes.POINTER(ctypes.c_int)]),
    "OH_NNTensorDesc_GetShape": (ctypes.c_int, [_handle, _int32s, _sizes]),
    "OH_NNTensorDesc_SetShape": (ctypes.c_int, [_handle, ctypes.POINTER(ctypes.c_int32), _size]),
    "OH_NNTensor_CreateWithSize": (_handle, [_size, _handle, _size]),
    "OH_NNTensor_Destroy": (ctypes.c_int, [_handles]),
    "OH_NNTensor_GetDataBuffer": (_handle, [_handle]),
}


@functools.lru_cache(maxsize=None)
def load():
    """The library with its prototypes; loaded once, by the first use."""
    loaded = ctypes.CDLL(library())
    for name, (result, parameters) in _PROTOTYPES.items():
        function = getattr(loaded, name)
        function.restype, function.argtypes = result, parameters
    return loaded


def call(name, *arguments):
    """Calls a function. A code other than success, or a NULL handle, is an AnyNPUError with the library's sentence."""
    loaded = load()
    function = getattr(loaded, name)
    result = function(*arguments)
    if function.restype is ctypes.c_int and result != 0:
        raise AnyNPUError(loaded.anynpu_last_error().decode() or "%s: code %d" % (name, result), result)
    if function.restype is _handle and not result:
        raise AnyNPUError(loaded.anynpu_last_error().decode() or "%s: NULL" % name)
    return result


def version():
    """The version of the library, as "0.1.0"."""
    return load().anynpu_version().decode()
