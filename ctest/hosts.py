"""Python hosts: ctypes with threads, multiprocessing by fork before and after the first call, faulthandler; and one that only loads.

usage: hosts.py LIBDIR threads|fork|fork_after|faulthandler|preload

Each ends with the check of host_end.h: no handles, no buffers, and the descriptors and mapped files of before.
"""
import ctypes
import faulthandler
import multiprocessing
import multiprocessing.connection
import os
import sys
import threading


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


class Before:
    """What is open and mapped; taken before the library's first call, so that this call is part of what is checked."""

    def __init__(self):
        self.fds, self.files = self.now()

    @staticmethod
    def now():
        """Descriptors as number and target, mappings of files as rights, offset, device, inode and path."""
        fds = []
        for fd in os.listdir("/proc/self/fd"):
            try:
                fds.append((fd, os.readlink(f"/proc/self/fd/{fd}")))
            except FileNotFoundError:
                pass  # the directory that listed them
        with open("/proc/self/maps") as maps:
            return sorted(fds), sorted(line.split(" ", 1)[1] for line in maps if "/" in line)

    def left(self):
        """Lines about what is left behind or gone, without what Go's runtime and the log keep open for the life of the process."""
        lines = []
        core = ctypes.CDLL("libanynpu.so.0", mode=os.RTLD_NOLOAD)
        for name in ("anynpu_live_handles", "anynpu_live_buffers"):  # first, as they may be the process's first calls
            count = getattr(core, name)
            count.argtypes, count.restype = [], ctypes.c_size_t
            if count():
                lines.append(f"{name}: {count()}")
        fds, files = self.now()
        log = os.path.realpath(os.environ.get("ANYNPU_LOG_FILE", ""))
        keeps = [lambda t: t == "anon_inode:[eventpoll]", lambda t: t == "anon_inode:[eventfd]", lambda t: t == log]
        keeps += 2 * [lambda t: t.startswith("/sys/fs/cgroup/")]
        for fd in fds:
            if fd not in self.fds:
                keep = next((k for k in keeps if k(fd[1])), None)
                if keep:
                    keeps.remove(keep)
                else:
                    lines.append(f"descriptor left behind: {fd}")
        lines += [f"descriptor gone: {fd}" for fd in self.fds if fd not in fds]
        lines += [f"mapping left behind: {f}" for f in files if files.count(f) > self.files.count(f)]
        lines += [f"mapping gone: {f}" for f in self.files if self.files.count(f) > files.count(f)]
        return lines


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


def child(lib, pipe):
    before = Before()
    result = answer(lib)
    pipe.send((result, before.left()))


def in_fork(lib, want):
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=child, args=(lib, theirs))
    process.start()
    theirs.close()
    check(ours.poll(20), True, "forked child answers")
    check(ours.recv(), (want, []), "forked child")
    process.join(20)
    check(process.exitcode, 0, "exit code of the forked child")
    process.close()
    ours.close()


def main():
    libdir, mode = sys.argv[1:3]
    lib = load(libdir)
    before = Before()
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
    elif mode == "preload":
        check(os.system("true"), 0, "a program with the library preloaded")
    else:
        sys.exit(__doc__)
    check(before.left(), [], "left behind")


if __name__ == "__main__":
    main()
