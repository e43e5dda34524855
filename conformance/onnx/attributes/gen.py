#!/usr/bin/env python3
"""Make attributes.zip.gz: operators of ONNX with each attribute left out and at other values, each optional input absent and present, and at
the opset versions in which a form or a default differs; then graphs that an implementation may compute in fewer steps; then
models that no importer may take, which have no inputs and outputs beside them.

    python3 -m venv venv && venv/bin/pip install -r ../cases/requirements.txt && venv/bin/python gen.py

Evaluators, rules and format are those of ../cases/gen.py. The cases of one sweep have the same inputs, and the script stops where two of them
have the same outputs: such a case could not tell the attribute's value from another. The same versions write the same bytes.
"""
import os

import sweep
import attention
import control
import detection
import elementwise
import fusion
import integer
import movement
import orders
import recurrent
import refused
import spatial
import spectra
import storage

if __name__ == "__main__":
    for part in (elementwise, movement, spatial, recurrent, fusion, attention, spectra, detection, integer, storage, control, orders, refused):
        part.make()
    sweep.finish(os.path.join(os.path.dirname(os.path.abspath(__file__)), "attributes.zip.gz"))
