"""Python hosts: ctypes with threads, multiprocessing by fork before and after the first call, faulthandler.

usage: hosts.py LIBDIR threads|fork|fork_after|faulthandler
"""
import ctypes
import faulthandler
import multiprocessing
import sys
import threading

UNAVAILABLE_DEVICE = 14


def load(libdir):
    lib = ctypes.CDLL(f"{libdir}/libneural_network_runtime.so")
    ptr, size = ctypes.c_void_p, ctypes.c_size_t
    for name, args, result in (
        ("OH_NNTensorDesc_Create", [], ptr),
        ("OH_NNTensorDesc_SetShape", [ptr, ctypes.POINTER(ctypes.c_int32), size], ctypes.c_int),
        ("OH_NNTensorDesc_SetDataType", [ptr, ctypes.c_int], ctypes.c_int),
        ("OH_NNTensorDesc_GetByteSize", [ptr, ctypes.POINTER(size)], ctypes.c_int),
        ("OH_NNTensorDesc_Destroy", [ctypes.POINTER(ptr)], ctypes.c_int),
    ):
        function = getattr(lib, name)
        function.argtypes, function.restype = args, result
    return lib


def answer(lib):
    """Bytes of a 2 x 3 x 4 float tensor, or the first status that is not success."""
    desc = ctypes.c_void_p(lib.OH_NNTensorDesc_Create())
    if not desc.value:
        return "no descriptor"
    shape = (ctypes.c_int32 * 3)(2, 3, 4)
    size = ctypes.c_size_t()
    codes = [
        lib.OH_NNTensorDesc_SetShape(desc, shape, 3),
        lib.OH_NNTensorDesc_SetDataType(desc, 11),
        lib.OH_NNTensorDesc_GetByteSize(desc, ctypes.byref(size)),
        lib.OH_NNTensorDesc_Destroy(ctypes.byref(desc)),
    ]
    return size.value if codes == [0, 0, 0, 0] else f"status {codes}"


def check(got, want, what):
    if got != want:
        sys.exit(f"{what}: want {want}, got {got}")


def threads(lib):
    results = []

    def work():
        for _ in range(200):
            results.append(answer(lib))

    workers = [threading.Thread(target=work) for _ in range(16)]
    for w in workers:
        w.start()
    for w in workers:
        w.join()
    check(results, [96] * (16 * 200), "threads")


def in_fork(lib, want):
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=lambda: queue.put(answer(lib)))
    child.start()
    check(queue.get(timeout=20), want, "forked child")
    child.join(20)
    check(child.exitcode, 0, "exit code of the forked child")


def main():
    libdir, mode = sys.argv[1:3]
    lib = load(libdir)
    if mode == "threads":
        threads(lib)
    elif mode == "fork":
        in_fork(lib, 96)
        check(answer(lib), 96, "parent")
    elif mode == "fork_after":
        check(answer(lib), 96, "parent")
        in_fork(lib, "no descriptor")
        check(answer(lib), 96, "parent after the fork")
    elif mode == "faulthandler":
        faulthandler.enable()
        check(answer(lib), 96, "with faulthandler")
        threads(lib)
        check(lib.OH_NNTensorDesc_SetDataType(ctypes.c_void_p(7), 11), 2, "bad handle with faulthandler")
    else:
        sys.exit(__doc__)


main()
