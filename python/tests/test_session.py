"""Tests of the installed package: python -m unittest, in the repository's root, with NumPy and the wheel installed."""

import os
import subprocess
import tempfile
import threading
import unittest

import anynpu
import numpy

DIGITS = os.path.join("examples", "digits", "digits.onnx")
IMAGES = os.path.join("examples", "digits", "images")


def digits(count):
    """The first images as the model takes them: pixels of 0 to 16, divided by 16 by the model's metadata elsewhere."""
    images = []
    for name in sorted(os.listdir(IMAGES))[:count]:
        with open(os.path.join(IMAGES, name), "rb") as f:
            images.append(numpy.frombuffer(f.read()[-64:], numpy.uint8).reshape(1, 8, 8))
    return numpy.stack(images).astype(numpy.float32) / 16


def same(kind):
    """A model that gives its input x, of the ONNX type kind with one dimension, as y."""
    def field(number, text):
        return bytes([number << 3 | 2, len(text)]) + text

    def port(name):
        return field(1, name) + field(2, field(1, bytes([8, kind]) + field(2, field(1, field(2, b"n")))))
    node = field(1, b"x") + field(2, b"y") + field(4, b"Identity")
    graph = field(1, node) + field(2, b"same") + field(11, port(b"x")) + field(12, port(b"y"))
    return b"\x08\x08" + field(7, graph) + field(8, b"\x10\x11")


class Sessions(unittest.TestCase):
    def test_equals_the_tool(self):
        with tempfile.TemporaryDirectory() as folder:
            x = digits(7)
            numpy.save(os.path.join(folder, "x.npy"), x)
            tool = os.path.join(anynpu.prefix(), "bin", "anynpu")
            subprocess.run([tool, "run", DIGITS, "-i", "image=" + os.path.join(folder, "x.npy"), "-o", folder],
                           check=True, stdout=subprocess.DEVNULL)
            with anynpu.Session(DIGITS) as session:
                got = session.run({"image": x})["probabilities"]
            want = numpy.load(os.path.join(folder, "probabilities.npy"))
            self.assertEqual(got.tobytes(), want.tobytes())
            self.assertEqual(got.shape, (7, 10))

    def test_recognizes_digits(self):
        labels = [int(name[name.index("label") + 5]) for name in sorted(os.listdir(IMAGES))]
        with anynpu.Session(DIGITS) as session:
            got = session.run(digits(len(labels)))["probabilities"].argmax(axis=1)
        self.assertGreaterEqual(sum(g == w for g, w in zip(got, labels)), len(labels) - 1)

    def test_query(self):
        with open(DIGITS, "rb") as f, anynpu.Session(f.read()) as session:
            self.assertEqual(session.query(), {
                "inputs": [{"name": "image", "shape": [-1, 1, 8, 8], "type": "float32"}],
                "outputs": [{"name": "probabilities", "shape": [-1, 10], "type": "float32"}]})

    def test_converts_what_loses_nothing(self):
        with anynpu.Session(DIGITS) as session:
            x = digits(1)
            want = session.run(x)["probabilities"]
            for given in (x.astype(numpy.float64), numpy.asfortranarray(x), [x.tolist()], [x], {"image": x}):
                self.assertEqual(session.run(given)["probabilities"].tobytes(), want.tobytes())

    def test_refusals(self):
        x = digits(1)
        with anynpu.Session(DIGITS) as session:
            for inputs, said in (({"picture": x}, "no input 'picture'; it has image"), ({}, "'image' is missing"),
                                 (x[0], r"shape \[1, 8, 8\]"), (x.astype(complex), "type complex128"),
                                 ([x, x], "2 arrays")):
                with self.assertRaisesRegex(anynpu.AnyNPUError, said):
                    session.run(inputs)
            with self.assertRaisesRegex(anynpu.AnyNPUError, "no output 'y'"):
                session.run(x, outputs=["y"])
        with self.assertRaisesRegex(anynpu.AnyNPUError, "closed"):
            session.run(x)
        for model, said in (("missing.onnx", "no such file"), (b"no model", "data of an unknown format")):
            with self.assertRaisesRegex(anynpu.AnyNPUError, said):
                anynpu.Session(model)

    def test_refuses_integers_that_do_not_fit(self):
        for kind, given, value in ((3, "int64", 300), (3, "int16", -129), (6, "int64", 1 << 40), (7, "uint64", 1 << 63),
                                   (2, "uint16", 256)):
            with self.subTest(kind=kind, value=value), anynpu.Session(same(kind)) as session:
                self.assertEqual(session.run(numpy.array([1, 127], given))["y"].tolist(), [1, 127])
                with self.assertRaisesRegex(anynpu.AnyNPUError, "input 'x' has the value %d" % value):
                    session.run(numpy.array([1, value], given))

    def test_threads_share_a_session(self):
        with anynpu.Session(DIGITS) as session:
            x = digits(8)
            want = session.run(x)["probabilities"]
            wrong = []

            def work(i):
                for _ in range(50):
                    got = session.run(x[i:i + 1])["probabilities"]
                    if abs(got - want[i:i + 1]).max() > 1e-6:
                        wrong.append(i)
            threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
            for t in threads:
                t.start()
            for t in threads:
                t.join()
            self.assertEqual(wrong, [])


if __name__ == "__main__":
    unittest.main()
