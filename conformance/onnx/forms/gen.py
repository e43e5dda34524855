#!/usr/bin/env python3
"""Make the parts of forms.zip: graphs with the forms that implementations compute in one step and graphs that nearly
have them, operators at sizes around blocks, every axis at every rank, and what functions mean.

    python3 -m venv venv && venv/bin/pip install -r ../cases/requirements.txt && venv/bin/python gen.py

The same versions write the same bytes.
"""

import os

import axes
import blocks
import bodies
import codes
import edges
import forms
import near
import sums

if __name__ == "__main__":
    for part in (near, sums, codes, blocks, axes, bodies):
        part.make()
    forms.follow()
    edges.make()
    forms.finish(os.path.join(os.path.dirname(os.path.abspath(__file__)), "forms.zip"))
