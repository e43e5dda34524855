"""Combinations that are wrong only together: batches, numbers of outputs, a condition's length, masks with bounds, missing quantization."""

import numpy as np

from near import BUILD, RUN, base, bases, body, refuse


def grown(b, i, d, name):
    """Input i one longer in dimension d."""
    a = b.value(b.ins[i])
    longer = np.take(a, list(range(a.shape[d])) + [a.shape[d] - 1], axis=d)
    refuse(b, name, f"input {i}", BUILD, {b.ins[i]: body(b.input(i), longer)}, mentions=["operation 0"])


def make():
    b = base("MATMUL", lambda b: b.rank(0) == b.rank(1) == 3 and b.input(0)["dims"][0] == b.input(1)["dims"][0] > 1)
    for i in (0, 1):
        grown(b, i, 0, f"input_{i}_of_another_batch")
    for p, i in (("TRANSPOSE_A", 0), ("TRANSPOSE_B", 1)):
        b = base("MATMUL", lambda b: b.param(p) is not None and b.tensors[b.param(p)]["data"] == [1] and b.input(i)["dims"][-1] != b.input(i)["dims"][-2])
        refuse(b, p.lower() + "_withdrawn", p, BUILD, {b.param(p): {"data": [0]}}, mentions=["inner dimensions"])

    b = base("UNSTACK", lambda b: len(b.outs) > 1)
    extra = len(b.tensors)
    refuse(b, "output_less_than_the_dimension", "outputs", BUILD, outs=b.outs[:-1], mentions=[])
    refuse(b, "output_more_than_the_dimension", "outputs", BUILD, {extra: b.output(0)}, outs=b.outs + [extra], mentions=[])
    b = base("SPLIT", lambda b: len(b.outs) > 1 and b.param("OUTPUT_NUM") is not None)
    extra = len(b.tensors)
    refuse(b, "output_less_than_its_number", "outputs", BUILD, outs=b.outs[:-1], mentions=["OUTPUT_NUM"])
    refuse(b, "output_more_than_its_number", "outputs", BUILD, {extra: b.output(0)}, outs=b.outs + [extra], mentions=["OUTPUT_NUM"])

    b = base("SELECT", lambda b: b.rank(0) == 1 and b.rank(1) > 1)
    grown(b, 0, 0, "input_0_longer_than_the_first_dimension")

    b = base("CONCAT", lambda b: len(b.ins) > 2)
    grown(b, 2, 1 - (b.tensors[b.param("AXIS")]["data"][0] if b.param("AXIS") is not None else 0) % 2, "input_2_longer_beside_the_axis")

    for op in ("MEAN", "SUM", "PROD", "MAX", "MIN", "L2", "ALL"):
        b = base("REDUCE_" + op, lambda b: b.param("REDUCE_TO_END") is not None and b.tensors[b.param("REDUCE_TO_END")]["data"] == [1] and b.rank(0) > 1)
        refuse(b, "input_1_of_two_axes_to_the_end", "input 1", BUILD, {b.ins[1]: {"dims": [2], "data": [0, 1]}})

    b = base("STRIDED_SLICE", lambda b: b.param("SHRINK_AXIS_MASK") is not None and "data" in b.input(1))
    first = b.tensors[b.param("SHRINK_AXIS_MASK")]["data"][0]
    k = (first & -first).bit_length() - 1
    for word, v in (("beyond", 99), ("before", -99)):
        data = list(b.input(1)["data"])
        data[k] = v
        refuse(b, f"input_1_{word}_a_dimension_that_shrinks", "input 1", BUILD, {b.ins[1]: {"data": data}}, mentions=[])

    b = base("SCALE", lambda b: b.param("AXIS") is not None and b.rank(1) == 1)
    for i in (1, 2):
        a = b.value(b.ins[i])
        refuse(b, f"input_{i}_of_more_dimensions_than_there_are", f"input {i}", BUILD, {b.ins[i]: body(b.input(i), a.reshape((1,) * b.rank(0) + a.shape))})

    b = next(bases("QUANT_DTYPE_CAST", lambda b: b.input(0)["type"].startswith("float") and "quant" in b.output(0), plain=False))
    refuse(b, "output_0_without_quantization", "output 0", BUILD, {b.outs[0]: {"quant": None}}, mentions=["quantization"])
    b = next(bases("QUANT_DTYPE_CAST", lambda b: b.output(0)["type"].startswith("float") and "quant" in b.input(0), plain=False))
    refuse(b, "input_0_without_quantization", "input 0", BUILD, {b.ins[0]: {"quant": None}}, mentions=["quantization"])

    b = base("LSTM", lambda b: b.param("HIDDEN_SIZE") is None)
    refuse(b, "input_2_of_another_hidden_size", "input 2", BUILD, {b.ins[2]: body(b.input(2), np.take(b.value(b.ins[2]), range(b.input(2)["dims"][2] - 1), axis=2))}, mentions=[])

    b = base("ONE_HOT", lambda b: "data" in b.input(1))
    refuse(b, "input_1_with_two_depths", "input 1", BUILD, {b.ins[1]: body(b.input(1), np.array([3, 4]))})
    b = base("DIV", lambda b: b.input(0)["type"] == "int32" and "feed" in b.input(1))
    refuse(b, "input_1_with_a_zero", "input 1", RUN, {b.ins[1]: body(b.input(1), b.value(b.ins[1]) * 0)}, mentions=["by 0"])
    b = base("MOD", lambda b: b.input(0)["type"] == "int32" and "feed" in b.input(1))
    refuse(b, "input_1_with_a_zero", "input 1", RUN, {b.ins[1]: body(b.input(1), b.value(b.ins[1]) * 0)}, mentions=["by 0"])
