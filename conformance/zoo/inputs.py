"""What each model of the zoo is given: sizes for the dimensions that it leaves open, and numbers from a fixed seed."""
import fnmatch
import zlib

import numpy
import onnx

NUMPY = {t: onnx.helper.tensor_dtype_to_np_dtype(t) for t in onnx.TensorProto.DataType.values() if t not in (0, 8)}


class Unusable(Exception):
    """The model has an input that is no tensor of numbers."""


class Input:
    """An input of a model: sizes are numbers, names of open dimensions, or None where the model says nothing."""

    def __init__(self, value):
        kind = value.type.tensor_type
        if value.type.WhichOneof("value") != "tensor_type" or kind.elem_type not in NUMPY:
            raise Unusable("input %s is no tensor of numbers" % value.name)
        self.name, self.dtype, self.sizes = value.name, numpy.dtype(NUMPY[kind.elem_type]), []
        for i, d in enumerate(kind.shape.dim):
            known = d.HasField("dim_value") and d.dim_value > 0
            self.sizes.append(d.dim_value if known else d.dim_param or "%s[%d]" % (value.name, i))

    @property
    def open(self):
        return any(isinstance(s, str) for s in self.sizes)


def inputs_of(model):
    """The inputs of a model that no initializer gives."""
    given = {t.name for t in model.graph.initializer} | {t.values.name for t in model.graph.sparse_initializer}
    return [Input(v) for v in model.graph.input if v.name not in given]


def hints_of(name, hints):
    """The entries of models.json whose patterns match, later ones first: sizes and values that cannot be guessed."""
    found = {"sizes": {}, "values": {}}
    for pattern, entry in hints.items():
        if fnmatch.fnmatch(name, pattern):
            for part in found:
                found[part] = {**found[part], **entry.get(part, {})}
    return found


def guess(i, at, level):
    """A size for the open dimension `at` of an input, at level 0 or 1."""
    rank = len(i.sizes)
    if rank == 1:
        return (1, 2)[level]
    if at == 0:
        return (1, 2)[level]
    if rank == 4:
        last = i.sizes[3] in (1, 3, 4)
        if at == (3 if last else 1):
            return 3
        return (64, 96)[level]
    if i.dtype.kind in "iu":
        return (12, 20)[level]
    return (512, 800)[level] if rank == 2 else (32, 48)[level]


def shapes(inputs, level, hints):
    """Sizes of all inputs at a level. Open dimensions of one name have one size."""
    chosen, result = {}, {}
    for i in inputs:
        sizes = []
        for at, s in enumerate(i.sizes):
            if isinstance(s, str):
                if s not in chosen:
                    said = hints["sizes"].get(s)
                    chosen[s] = guess(i, at, level) if said is None else said[min(level, len(said) - 1)]
                s = chosen[s]
            sizes.append(s)
        result[i.name] = tuple(sizes)
    return result


def values(inputs, sizes, level, hints):
    """Arrays of these sizes: what models.json says, else floats of a normal distribution and small integers."""
    arrays = {}
    for i in inputs:
        shape = sizes[i.name]
        random = numpy.random.default_rng(zlib.crc32(i.name.encode()) + level)
        said = hints["values"].get(i.name)
        if isinstance(said, str):  # a range of integers, "0:50", or the size of an open dimension, "T"
            if ":" in said:
                low, high = (int(x) for x in said.split(":"))
                array = random.integers(low, high, shape)
            else:
                at = next((j.name, j.sizes.index(said)) for j in inputs if said in j.sizes)
                array = numpy.full(shape, sizes[at[0]][at[1]])
        elif said is not None:
            array = numpy.broadcast_to(numpy.array(said[level % len(said)] if isinstance(said, list) else said), shape)
        elif i.dtype.kind == "f":
            array = random.standard_normal(shape)
        elif i.dtype.kind == "b":
            array = random.integers(0, 2, shape)
        elif "mask" in i.name:
            array = numpy.ones(shape)
        else:
            array = random.integers(0, 256 if i.dtype.itemsize == 1 else 8, shape)
        arrays[i.name] = numpy.array(array, i.dtype, order="C")
    return arrays
