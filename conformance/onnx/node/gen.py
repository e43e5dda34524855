#!/usr/bin/env python3
"""Write the backend node tests of the installed onnx package into a folder, as the package has them only as a program.

    python gen.py FOLDER
"""

import sys
import warnings

import onnx.backend.test.cmd_tools as tools
from onnx.backend.test.case.node import collect_testcases


class Cases:
    @staticmethod
    def collect_testcases():
        return collect_testcases(None)


class Arguments:
    output = sys.argv[1]


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    tools.model_test = Cases
    tools.generate_data(Arguments)
