"""Convolutions, pools and resampling."""
import numpy as np

from sweep import add, f32, ints, node, sweep


def convolutions():
    x, c = {"x": f32(1, 4, 7, 6)}, {"w": f32(6, 4, 3, 2), "b": f32(6)}
    sweep("conv", "Conv", 11, ["x w", "x w b"], x, {"auto_pad": ["SAME_UPPER", "SAME_LOWER"], "dilations": [[2, 1], [1, 3]], "strides": [[2, 1], [1, 3]],
                                                    "pads": [[1, 0, 2, 1], [0, 1, 1, 2]], "kernel_shape": [[3, 2]]}, c, same=("kernel_shape_0",))
    for auto in ("SAME_UPPER", "SAME_LOWER", "VALID"):
        add(f"conv_odd_{auto.lower()}", node("Conv", "x w b", auto_pad=auto, strides=[2, 3]), {"x": f32(1, 4, 8, 10)}, {"w": f32(5, 4, 3, 4), "b": f32(5)},
            opset=11, skip_reference=True)
    add("conv_group_2", node("Conv", "x w b", group=2, pads=[1, 0, 0, 2]), x, {"w": f32(6, 2, 3, 2), "b": f32(6)}, opset=11)
    add("conv_group_4_wider", node("Conv", "x w b", group=4, dilations=[1, 2]), x, {"w": f32(8, 1, 3, 2), "b": f32(8)}, opset=11)
    t = {"w": f32(4, 6, 3, 2), "b": f32(6)}
    sweep("convtranspose", "ConvTranspose", 11, ["x w", "x w b"], {"x": f32(1, 4, 5, 3)},
          {"dilations": [[2, 1]], "strides": [[2, 1], [1, 3]], "pads": [[1, 0, 2, 1], [0, 1, 1, 0]]}, t)
    strided = {"x": f32(1, 4, 5, 3)}
    sweep("convtransposestrided", "ConvTranspose", 11, ["x w"], strided, {"output_padding": [[1, 0], [0, 2]], "output_shape": [[12, 9], [9, 7]]},
          t, {"strides": [2, 3]}, skip_reference=True)
    sweep("convtransposesame", "ConvTranspose", 11, ["x w"], strided, {"auto_pad": ["SAME_UPPER", "SAME_LOWER"]}, t, {"strides": [2, 1]}, skip_reference=True)
    for group in (2, 4):
        add(f"convtranspose_group_{group}", node("ConvTranspose", "x w b", group=group, strides=[2, 1]), strided, {"w": f32(4, 3, 3, 2), "b": f32(3 * group)}, opset=11)


def pools():
    x = {"x": f32(2, 3, 8, 7)}
    k = {"kernel_shape": [3, 2]}
    pads = {"pads": [[1, 0, 2, 1], [2, 1, 0, 0]], "strides": [[2, 3]], "auto_pad": ["SAME_UPPER", "SAME_LOWER"]}
    sweep("maxpool", "MaxPool", 12, ["x"], x, {**pads, "dilations": [[2, 3]]}, fixed=k, skip_reference=True)
    sweep("averagepool", "AveragePool", 19, ["x"], x, {**pads, "dilations": [[2, 3]]}, fixed=k, skip_reference=True)
    sweep("lppool", "LpPool", 18, ["x"], x, {"p": [1, 3], "pads": [[1, 0, 2, 1]], "strides": [[2, 3]]}, fixed=k, skip_reference=True)
    sweep("globallppool", "GlobalLpPool", 2, ["x"], x, {"p": [1, 3]}, skip_reference=True)
    odd = {**k, "strides": [2, 3], "pads": [1, 1, 0, 0]}
    for op, opset in (("MaxPool", 10), ("MaxPool", 12), ("AveragePool", 10), ("AveragePool", 11), ("AveragePool", 19)):
        vary = {"ceil_mode": [1]} | ({"count_include_pad": [1]} if op == "AveragePool" else {})
        sweep(f"{op.lower()}odd", op, opset, ["x"], {"x": f32(1, 3, 8, 9)}, vary, fixed=odd, skip_reference=True)
    sweep("maxpoolindices", "MaxPool", 12, ["x"], x, {"storage_order": [1]}, fixed={**k, "strides": [2, 3], "pads": [1, 0, 0, 1]}, outs="y i", skip_reference=True)


def resampling():
    x = {"x": f32(1, 2, 4, 5)}
    c = {"e": np.zeros(0, np.float32), "s": np.array([1, 1, 1.75, 0.6], np.float32), "n": ints(1, 2, 7, 3), "r": np.array([0, 0, .2, .1, 1, 1, .9, .7], np.float32),
         "h": np.array([1.75, 0.6], np.float32), "m": ints(9, 7), "o": ints(7, 9)}
    for op, opset in (("Upsample", 9), ("Resize", 10)):
        sweep(op.lower(), op, opset, ["x s"], x, {"mode": ["linear"]}, {"s": np.array([1, 1, 2, 3], np.float32)}, skip_reference=True)
    for opset in (11, 13):
        sweep("resize", "Resize", opset, ["x e s", "x e e n"], x, {"coordinate_transformation_mode": ["asymmetric", "align_corners"], "nearest_mode": ["ceil", "floor"], "mode": ["linear", "cubic"]},
              c, skip_reference=True, same=("coordinate_transformation_mode_0", "coordinate_transformation_mode_1", "nearest_mode_0", "nearest_mode_1", "inputs_x_e_e_n"))
    for opset in (18, 19):
        for mode in ("linear", "cubic"):
            vary = {"coordinate_transformation_mode": ["asymmetric", "align_corners"], "antialias": [1]}
            if mode == "cubic":
                vary |= {"cubic_coeff_a": [-0.5], "exclude_outside": [1]}
            sweep(f"resize_{mode}", "Resize", opset, ["x - s"], x, vary, c, {"mode": mode}, skip_reference=True)
    for policy in ("stretch", "not_larger", "not_smaller"):
        add(f"resize_18_{policy}", node("Resize", "x - - o", mode="linear", axes=[2, 3], keep_aspect_ratio_policy=policy), x, c, opset=18, skip_reference=True)
    add("resize_18_axes", node("Resize", "x - h", mode="linear", axes=[3, 2]), x, c, opset=18, skip_reference=True)
    crop = dict(mode="linear", coordinate_transformation_mode="tf_crop_and_resize")
    add("resize_13_crop", node("Resize", "x r e n", **crop), x, c, opset=13, skip_reference=True)
    g = {"x": f32(1, 2, 4, 5), "g": f32(1, 3, 6, 2) * np.float32(.7)}
    sweep("gridsample", "GridSample", 16, ["x g"], g, {"align_corners": [1], "mode": ["nearest", "bicubic"], "padding_mode": ["border", "reflection"]}, skip_reference=True)
    sweep("gridsample", "GridSample", 20, ["x g"], g, {"align_corners": [1], "mode": ["nearest", "cubic"]}, skip_reference=True)
    r = {"x": f32(2, 3, 7, 6)}
    i = {"r": np.array([[1, .5, 5, 6], [0, 1.2, 4.4, 3]], np.float32), "b": ints(1, 0)}
    sweep("roialign", "RoiAlign", 16, ["x r b"], r, {"coordinate_transformation_mode": ["output_half_pixel"], "mode": ["max"], "output_height": [2], "output_width": [3],
                                                     "sampling_ratio": [1, 3], "spatial_scale": [0.5]}, i, skip_reference=True)


def make():
    convolutions()
    pools()
    resampling()
