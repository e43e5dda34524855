"""usage: zoo.py FOLDER LIBRARIES [PATTERN]

Computes every ONNX file of FOLDER, which fetch.py filled, or those that match PATTERN, with ONNX Runtime, `anynpu run`,
OH_NN, RKNN and hbDNN, at two sizes where the model leaves sizes open, by one thread. LIBRARIES is build/lib. Prints a
table, and writes it to FOLDER/zoo.txt or the file ZOO_OUT: milliseconds of ONNX Runtime, how far each side is off as a
part of the largest number, milliseconds of OH_NN and ONNX Runtime's divided by them. Exits 1 if a side differs from
ONNX Runtime or refuses a model, but for what models.json names. ZOO_SIDES names some of the sides, ZOO_SECONDS is how
long runs are repeated for; 0 tells nothing of times.
"""
import fnmatch
import json
import os
import sys

import numpy
import onnx

import inputs
import sides

HERE = os.path.dirname(os.path.abspath(__file__))
OURS = os.environ.get("ZOO_SIDES", "tool ohnn rknn hbdnn").split()
TOLERANCE = 1e-3  # of an output's largest number
SMALL = 1e-3  # the least that counts as the largest number: what is below is the last digits of probabilities


def difference(got, want):
    """How far got is from want as a part of the largest number of want, or in words what else differs."""
    if got.size != want.size or [d for d in got.shape if d != 1] != [d for d in want.shape if d != 1]:
        return "shape %s, want %s" % (list(got.shape), list(want.shape))
    if not want.size:
        return 0.0
    got, want = got.reshape(want.shape).astype(numpy.float64), want.astype(numpy.float64)
    if not numpy.array_equal(numpy.isfinite(got), numpy.isfinite(want)):
        return "NaN or infinite numbers in other places"
    finite = numpy.isfinite(want)
    largest = numpy.abs(want[finite]).max(initial=0)
    off = numpy.abs(got[finite] - want[finite]).max(initial=0)
    return float(off / max(largest, SMALL))


def worst(result, want):
    """The largest difference of all outputs, or the first one in words."""
    if len(result.arrays) != len(want):
        return "%d outputs, want %d" % (len(result.arrays), len(want))
    found = [difference(g, w) for g, w in zip(result.arrays, want)]
    words = [f for f in found if isinstance(f, str)]
    return words[0] if words else max(found, default=0.0)


def metadata(given, names, want, bounds):
    """What programs of RKNN and hbDNN, whose models have fixed sizes, need to be told of a model that is open."""
    entries = {"anynpu.input.%s.shape" % n: list(a.shape) for n, a in given.items() if a.ndim}
    if bounds:
        entries.update({"anynpu.output.%s.max_shape" % n: list(w.shape) for n, w in zip(names, want) if w.ndim})
    return entries


class Zoo:
    def __init__(self, folder, library, hints, out):
        self.folder, self.library, self.hints, self.out = folder, library, hints, out
        self.counts = dict.fromkeys(("models", "runs", "agree", "known", "faults"), 0)

    def line(self, text):
        print(text, flush=True)
        print(text, file=self.out, flush=True)

    def known(self, name, side, text):
        """The reason that models.json gives for a refusal or difference, or None."""
        for pattern, entry in self.hints.items():
            if fnmatch.fnmatch(name, pattern):
                for known in entry.get("known", []):
                    if side in known.get("sides", OURS) and known["text"] in text:
                        return known["why"]
        return None

    def fault(self, name, at, side, text):
        why = self.known(name, side, text)
        self.counts["known" if why else "faults"] += 1
        self.line("  %s %s %s: %s%s" % ("known" if why else "FAULT", at, side, text[:400], " - " + why if why else ""))

    def model(self, name):
        path = os.path.join(self.folder, name)
        model = onnx.load(path, load_external_data=False)
        hints = inputs.hints_of(name, self.hints)
        self.counts["models"] += 1
        try:
            ports = inputs.inputs_of(model)
        except inputs.Unusable as e:
            self.refusal(name, path, str(e))
            return
        names = [o.name for o in model.graph.output]
        computed = 0
        for level in (0, 1) if any(p.open for p in ports) else (0,):
            shapes = inputs.shapes(ports, level, hints)
            given = inputs.values(ports, shapes, level, hints)
            computed += self.size(name, path, given, names, level)
        if not computed:
            self.refusal(name, path, "ONNX Runtime does not compute it")

    def refusal(self, name, path, why):
        """A model that ONNX Runtime was not asked for: the library says why it does not take it."""
        got = sides.compute("ohnn", path, {}, [], self.library, path + ".log")
        self.fault(name, "-", "ohnn", "%s; %s" % (why, got.refused or "loads"))

    def size(self, name, path, given, names, level):
        want = sides.compute("onnxruntime", path, given, names, self.library, path + ".log")
        at = " ".join("x".join(map(str, a.shape)) or "scalar" for a in given.values())[:60]
        if want.refused:
            self.fault(name, at, "onnxruntime", want.refused)
            return False
        row = "%-58s %-34s %8.1f ms" % (name[:58], at[:34], 1000 * want.run)
        faults = []
        for side in OURS:
            got = self.ours(side, path, given, names, want.arrays)
            self.counts["runs"] += 1
            if got.refused:
                row += "  %-6s refused " % side
                faults.append((side, got.stage + ": " + got.refused))
                continue
            off = worst(got, want.arrays)
            ok = not isinstance(off, str) and off <= self.tolerance(name)
            self.counts["agree"] += ok
            row += "  %-6s %s" % (side, "%7.1e " % off if not isinstance(off, str) else "differs ")
            if side == "ohnn":
                row += "%8.1f ms %5.2f" % (1000 * got.run, want.run / got.run if got.run else 0)
            if not ok:
                faults.append((side, "differs by %s" % (off if isinstance(off, str) else "%.2e" % off)))
        self.line(row)
        for side, text in faults:
            self.fault(name, at, side, text)
        return True

    def ours(self, side, path, given, names, want):
        told = path + ".anynpu.json"
        if side in ("rknn", "hbdnn"):
            with open(told, "w") as f:
                json.dump(metadata(given, names, want, False), f)
        got = sides.compute(side, path, given, names, self.library, path + ".log")
        if got.refused and "max_shape" in got.refused:
            with open(told, "w") as f:
                json.dump(metadata(given, names, want, True), f)
            got = sides.compute(side, path, given, names, self.library, path + ".log")
        if os.path.exists(told):
            os.remove(told)
        return got

    def tolerance(self, name):
        return max([TOLERANCE] + [entry.get("tolerance", 0) for pattern, entry in self.hints.items()
                                  if fnmatch.fnmatch(name, pattern)])


def main():
    folder, library = sys.argv[1], os.path.abspath(sys.argv[2])
    pattern = sys.argv[3] if len(sys.argv) > 3 else "*"
    with open(os.path.join(HERE, "models.json")) as f:
        hints = json.load(f)
    files = sorted(os.path.relpath(os.path.join(at, f), folder) for at, _, all_ in os.walk(folder) for f in all_
                   if f.endswith(".onnx"))
    with open(os.environ.get("ZOO_OUT") or os.path.join(folder, "zoo.txt"), "w") as out:
        zoo = Zoo(folder, library, hints, out)
        for name in files:
            if fnmatch.fnmatch(name, pattern):
                zoo.model(name)
        zoo.line("zoo: models %(models)d, runs %(runs)d, agree %(agree)d, refused or differing by name %(known)d, "
                 "faults %(faults)d" % zoo.counts)
    sys.exit(1 if zoo.counts["faults"] or not zoo.counts["models"] else 0)


if __name__ == "__main__":
    main()
