"""Operators one by one beside ONNX Runtime and OpenVINO: make bench-operators. docs/bench.md explains the figures.

Each row of operators.txt becomes a model of one operator for each of its element types. The engines run it by turns
with one thread and the same inputs; the lowest times count. Ratios are the faster peer's time by ours: above 1 we are
faster.
"""
import argparse
import fnmatch
import html
import json
import math
import os
import shutil
import subprocess
import sys

import ml_dtypes
import numpy as np
import onnx

import operator_rows
import peers

SLOW = 0.8  # rows of a lower ratio are listed


class Ours:
    """This library by the tool, for one row."""

    def __init__(self, tool, path, feeds):
        self.tool, self.path = tool, path
        self.inputs = [a for name, file in feeds.items() for a in ("-i", f"{name}={file}")]

    def call(self, verb, *flags):
        return subprocess.run([self.tool, verb, self.path, "--threads", "1", "--json", "--timeout", "60s", *flags,
                               *self.inputs], capture_output=True, text=True)

    def lowest(self, seconds):
        """The lowest time of a run in ms and the message of a failure."""
        done = self.call("bench", "--spread", "1000", "--warmup", f"{seconds / 5}s", "--time", f"{seconds}s")
        if done.returncode:
            return None, done.stderr.strip().splitlines()[-1] if done.stderr.strip() else f"exit code {done.returncode}"
        return json.loads(done.stdout)["figures"]["min_ms"], ""

    def outputs(self, names, folder):
        shutil.rmtree(folder, ignore_errors=True)
        if self.call("run", "-o", folder).returncode:
            return None
        return [np.load(os.path.join(folder, name + ".npy")) for name in names]


def apart(outputs, others):
    """How outputs differ from those of another engine, "" when they agree: integers exactly, codes of 8 bits but for a
    step, others loosely."""
    if len(outputs) != len(others):
        return f"{len(outputs)} results, not {len(others)}"
    for i, (x, y) in enumerate(zip(outputs, others)):
        if x.shape != y.shape:
            return f"result {i} has sizes {list(x.shape)}, not {list(y.shape)}"
        if x.dtype.kind in "biu":
            step = 1 if x.dtype in (np.int8, np.uint8) else 0
            n = np.count_nonzero(np.abs(x.astype(np.int64) - y.astype(np.int64)) > step)
            if n:
                return f"result {i}: {n} of {x.size} integers differ"
            continue
        x, y = x.astype(np.float64), y.astype(np.float64)
        same = (x == y) | (np.isnan(x) & np.isnan(y))
        with np.errstate(invalid="ignore"):
            off = np.where(same, 0, np.nan_to_num(np.abs(x - y), nan=np.inf))
        largest = np.max(np.abs(y), initial=0, where=np.isfinite(y))
        if np.max(off, initial=0) > 0.05 * largest:
            return f"result {i} differs by {np.max(off) / max(largest, 1e-30):.2g} of the largest value"
    return ""


def wrong(results, name):
    """Why an engine's results count as wrong: they agree with those of no other engine."""
    others = [apart(results[name], r) for other, r in results.items() if other != name and r is not None]
    return others[0] if results[name] is not None and others and all(others) else ""


def coarse(results, name):
    """Whether an engine computed float16 with fewer bits: beside each other engine, more than one of a thousand
    elements are more than two units of the last place away."""
    def units(x):
        return np.where(np.signbit(x), -1, 1) * (x.view(np.uint16).astype(np.int32) & 0x7FFF)

    def share(other):
        pairs = [(x, y) for x, y in zip(results[name], other) if x.dtype == np.float16 and x.shape == y.shape]
        off = sum(np.count_nonzero(np.abs(units(x) - units(y)) > 2) for x, y in pairs)
        return off / max(1, sum(x.size for x, _ in pairs))
    others = [share(r) for other, r in results.items() if other != name and r is not None]
    return bool(others) and min(others) > 0.001


def prepare(row, main, folder):
    """Writes the model of a row and its inputs: its path, the names of its results, and the files of inputs."""
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    n, model = operator_rows.network(row, main)
    path = os.path.join(folder, "row.onnx")
    onnx.save(model, path)
    feeds = {}
    for name, x in n.given.items():
        file = os.path.join(folder, name + ".npy")
        if x.dtype == ml_dtypes.bfloat16:  # which has no .npy: the tool makes some up
            np.save(file, x.view(np.uint16))
        else:
            feeds[name] = file
            np.save(file, x)
    return path, [o.name for o in model.graph.output], feeds, len(feeds) == len(n.given)


def measure(row, main, engines, o):
    folder = os.path.abspath(os.path.join(o.out, "operators"))
    path, names, feeds, whole = prepare(row, main, folder)
    ours, mine, why = Ours(o.tool, path, feeds), math.inf, ""
    results = {"anynpu": ours.outputs(names, os.path.join(folder, "ours")) if whole else None}
    times, refused, fewer_bits = {}, {}, None

    def load(e, least):
        answer = e.ask("load", folder, least)
        if "failed" not in answer:
            times[e.name] = math.inf
            file = os.path.join(folder, e.name + ".npz")
            answer = e.ask("outputs", file)
            if "failed" not in answer:
                with np.load(file) as arrays:
                    results[e.name] = list(arrays.values())
        if not e.process or e.name not in times:
            times.pop(e.name, None)
            refused[e.name] = answer["failed"]
    for e in engines:
        load(e, main)
        if e.name == "openvino" and main == "float16" and e.name in results and coarse(results, e.name):
            fewer_bits = e.ask("time", o.seconds).get("ms")
            load(e, "float32")
    bad = wrong(results, "openvino") if "openvino" in results else ""
    for _ in range(o.rounds):
        t, why = ours.lowest(o.seconds)
        mine = min(mine, t or math.inf)
        for e in engines:
            if e.name in times:
                answer = e.ask("time", o.seconds)
                times[e.name] = min(times[e.name], answer.get("ms", math.inf))
                if "failed" in answer:
                    del times[e.name]
                    refused[e.name] = answer["failed"]
    if bad:
        times.pop("openvino", None)
    peer = min(times, key=times.get, default=None)
    family, core, name, inputs, attributes, _, _ = row
    return {"family": family, "operator": core, "onnx": name.lstrip("@"), "type": main, "inputs": " ".join(inputs),
            "attributes": attributes, "ms": mine if mine < math.inf else None, "peer_ms": times.get(peer), "peer": peer,
            "peers": {e.name: times.get(e.name) for e in engines}, "openvino_fewer_bits_ms": fewer_bits,
            "ratio": times[peer] / mine if peer and mine < math.inf else None, "failed": why,
            "peer_failed": "; ".join(f"{k}: {v}" for k, v in refused.items()), "openvino_wrong": bad}


def mean(list):
    return math.exp(sum(map(math.log, list)) / len(list)) if list else None


def page(report):
    cells = ["ratio", "ms", *report["versions"], "family", "operator", "onnx", "type", "inputs", "attributes", "failed",
             "peer_failed", "openvino_wrong", "openvino_fewer_bits_ms"]

    def text(v):
        return f"{v:.3f}" if isinstance(v, float) else html.escape(str("" if v is None else v))
    lines = ["".join(f"<td>{text({**r, **r['peers']}[c])}</td>" for c in cells) for r in report["rows"]]
    means = "".join(f"<tr><td>{html.escape(k)}</td><td>{v:.2f}</td></tr>" for k, v in report["means"].items())
    head = "".join(f"<th>{c}</th>" for c in cells)
    versions = ", ".join(f"{k} {v}" for k, v in report["versions"].items())
    return f"""<!DOCTYPE html><meta charset="utf-8"><title>Operators beside ONNX Runtime and OpenVINO</title>
<style>body{{font:14px sans-serif}}td,th{{padding:2px 8px;text-align:left;border-bottom:1px solid #ddd}}</style>
<h1>Operators beside other engines</h1>
<p>{html.escape(versions)}. One thread, lowest times in ms; ratio: the faster engine's by ours.</p>
<table><tr><th>family</th><th>geometric mean</th></tr>{means}</table>
<table><tr>{head}</tr>{"".join(f"<tr>{x}</tr>" for x in lines)}</table>
"""


def title(r):
    return " ".join(filter(None, (r["onnx"], r["type"], r["inputs"], r["attributes"])))


def line(r):
    figures = (r["ratio"], r["ms"], *r["peers"].values())
    return " ".join(f"{x:.3f}".rjust(10) if x else "-".rjust(10) for x in figures) + "  " + " ".join(
        filter(None, (title(r), r["failed"] or r["peer_failed"], r["openvino_wrong"] and
                      f"openvino is wrong: {r['openvino_wrong']}", r["openvino_fewer_bits_ms"] and
                      f"openvino with fewer bits: {r['openvino_fewer_bits_ms']:.3f}")))


def summary(results):
    means = {}
    for family in ["all", "float32"] + sorted({r["family"] for r in results}):
        m = mean([r["ratio"] for r in results if r["ratio"] and family in ("all", r["family"], r["type"])])
        if m:
            means[family] = m
    return means


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--tool", required=True, help="the program anynpu")
    p.add_argument("--out", required=True, help="folder for operators.json and operators.html")
    p.add_argument("--run", default="*", help="patterns of OPERATOR/TYPE, separated by commas")
    p.add_argument("--seconds", type=float, default=0.1, help="timed seconds per engine and round")
    p.add_argument("--rounds", type=int, default=2)
    o = p.parse_args()
    engines = [peers.Peer(name) for name in peers.ENGINES]
    results = []
    print(" ".join(x.rjust(10) for x in ["ratio", "ours ms", "ORT ms", "OpenVINO"]))
    for row in operator_rows.rows():
        for t in row[-1]:
            if not any(fnmatch.fnmatch(f"{row[1]}/{t}", x) or fnmatch.fnmatch(row[1], x) for x in o.run.split(",")):
                continue
            results.append(measure(row, t, engines, o))
            print(line(results[-1]), flush=True)
    for e in engines:
        e.close()
    results.sort(key=lambda r: r["ratio"] or 0)
    report = {"schema": "anynpu.operators/1", "peer": engines[0].version,
              "versions": {e.name: e.version for e in engines}, "means": summary(results), "rows": results}
    with open(os.path.join(o.out, "operators.json"), "w") as f:
        json.dump(report, f, indent=1)
    with open(os.path.join(o.out, "operators.html"), "w") as f:
        f.write(page(report))
    print("\ngeometric means: " + ", ".join(f"{k} {v:.2f}" for k, v in report["means"].items()))
    slow = [r for r in results if r["ratio"] and r["ratio"] < SLOW]
    print(f"{len(slow)} of {len(results)} rows are below {SLOW}")
    for r in slow:
        print(f"  {r['ratio']:.2f} {title(r)} ({r['peer']})")
    return 1 if any(r["failed"] for r in results) else 0


if __name__ == "__main__":
    sys.exit(main())
