"""Run ONNX models with AnyNPU, NumPy arrays in and out.

    import anynpu
    session = anynpu.Session("model.onnx")
    outputs = session.run({"image": array})

The libraries and the command-line tool are part of the package: `python -m anynpu` is the tool, and `library()` is the
path of the shared library, for programs that load it themselves.
"""

from ._library import AnyNPUError, library, prefix, version
from .session import Session, Tensor

__all__ = ["AnyNPUError", "Session", "Tensor", "library", "prefix", "version"]
__version__ = version()
