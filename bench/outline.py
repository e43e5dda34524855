#!/usr/bin/env python3
"""Write networks.zip: the models of gen_bench_models.py without their weights.

    gen_bench_models.py --out DIR
    outline.py DIR [FILE]             (needs onnx; FILE is networks.zip beside this script by default)

Constants of more than 64 elements keep name, type and sizes and lose their values; package conformance/onnx/networks makes new ones. What then
depends on shapes alone, such as which kernels compute a network and what a run allocates, is that of the whole model.
"""
import glob
import os
import sys
import zipfile

import onnx

KEEP = 64  # elements


def main():
    folder = sys.argv[1]
    here = os.path.dirname(os.path.abspath(__file__))
    target = sys.argv[2] if len(sys.argv) > 2 else os.path.join(here, "networks.zip")
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as z:
        for path in sorted(glob.glob(os.path.join(folder, "*.onnx"))):
            model = onnx.load(path)
            for t in model.graph.initializer:
                count = 1
                for d in t.dims:
                    count *= d
                if count > KEEP:
                    t.ClearField("raw_data")
            info = zipfile.ZipInfo(os.path.basename(path), (1980, 1, 1, 0, 0, 0))
            info.compress_type = zipfile.ZIP_DEFLATED
            z.writestr(info, model.SerializeToString(deterministic=True))


if __name__ == "__main__":
    main()
