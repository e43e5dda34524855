#!/usr/bin/env python3
"""Count the instructions that one run of a network takes on arm64, ours and ONNX Runtime's, under emulation.

    arm64.py --bench DIR --run PATTERNS [--set SET] [--cpus CPUS] [--baseline FILE]

DIR has the models in the folder SET, some once more with float16 in place of float32 (halves), the engines for arm64
(arm64/engine, arm64/ort), the plug-in arm64_count.so and libonnxruntime for arm64 under onnxruntime-node-VERSION. A
program runs a network three times, and the instructions of the last run count; one thread. FILE is arm64.json of
another commit.
"""
import argparse
import fnmatch
import glob
import json
import math
import os
import subprocess
import sys
import tempfile

# The features of each emulated processor as ONNX Runtime reads them from /proc/cpuinfo, with its part number. The real
# /proc is that of the host, on which its cpuinfo library does not start.
BASE = "fp asimd evtstrm aes pmull sha1 sha2 crc32 cpuid"
DOT = BASE + " atomics fphp asimdhp asimdrdm lrcpc dcpop asimddp"
CPUS = {
    "cortex-a53": (BASE, "0xd03"),
    "cortex-a72": (BASE, "0xd08"),
    "cortex-a76": (DOT, "0xd0b"),
    "max": (DOT + " i8mm", "0xd49"),
}
LIBRARIES = "/usr/aarch64-linux-gnu/lib"


def root(folder, cpu):
    """A folder of which the emulator takes files before the host's."""
    features, part = CPUS[cpu]
    core = (f"processor\t: %d\nBogoMIPS\t: 100.00\nFeatures\t: {features}\nCPU implementer\t: 0x41\nCPU architecture: 8\n"
            f"CPU variant\t: 0x4\nCPU part\t: {part}\nCPU revision\t: 0\n\n")
    files = {"proc/cpuinfo": core % 0 + core % 1}
    for name, value in (("possible", "0-1"), ("present", "0-1"), ("online", "0-1"), ("kernel_max", "1")):
        files["sys/devices/system/cpu/" + name] = value + "\n"
    for name, text in files.items():
        path = os.path.join(folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="ascii") as f:
            f.write(text)
    os.symlink(LIBRARIES, os.path.join(folder, "lib"))
    return folder


class Emulator:
    def __init__(self, bench, cpu, folder):
        self.bench, self.cpu, self.folder = bench, cpu, folder
        self.root = root(os.path.join(folder, "root-" + cpu), cpu)

    def count(self, command):
        """Instructions of the last run of a program, or None with a message when it fails."""
        path = os.path.join(self.folder, "count")
        if os.path.exists(path):
            os.remove(path)
        plugin = os.path.join(self.bench, "arm64_count.so")
        done = subprocess.run(
            ["qemu-aarch64", "-cpu", self.cpu, "-L", self.root, "-plugin", f"{plugin},out={path}", *command],
            env={**os.environ, "ANYNPU_THREADS": "1", "ANYNPU_LOG_FILE": "/dev/null", "GOMAXPROCS": "1",
                 "LD_LIBRARY_PATH": LIBRARIES}, capture_output=True, text=True, check=False)
        text = ""
        if os.path.exists(path):
            with open(path, encoding="ascii") as f:
                text = f.read()
        if done.returncode != 0 or not text:
            print(f"arm64: {' '.join(command)}: code {done.returncode}: {done.stderr.strip()[-300:]}", file=sys.stderr)
            return None
        return int(text)


def mean(ratios):
    return math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else None


def main():
    ap = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    ap.add_argument("--bench", required=True)
    ap.add_argument("--set", default="models", help="folder of the networks: models or wide")
    ap.add_argument("--run", default="*", help="names or patterns of networks, with commas")
    ap.add_argument("--cpus", default="cortex-a76,cortex-a72", help="processors, with commas: " + ", ".join(CPUS))
    ap.add_argument("--baseline", help="arm64.json of another commit")
    a = ap.parse_args()
    with open(os.path.join(a.bench, a.set, "models.json"), encoding="utf-8") as f:
        models = json.load(f)
    before = {}
    if a.baseline:
        with open(a.baseline, encoding="utf-8") as f:
            before = json.load(f)
    library = glob.glob(os.path.join(a.bench, "onnxruntime-node-*/package/bin/*/linux/arm64/libonnxruntime.so.1"))
    patterns = a.run.split(",")
    names = sorted((n for n in models
                    if models[n]["format"] != "fp16" and any(fnmatch.fnmatch(n, p) for p in patterns)),
                   key=lambda n: (models[n]["format"] != "fp32", models[n]["macs"]))
    results, failed = {}, False
    with tempfile.TemporaryDirectory() as folder:
        for cpu in a.cpus.split(","):
            emulator = Emulator(a.bench, cpu, folder)
            results[cpu] = {}
            print(f"{cpu}: millions of instructions of a run, one thread")
            print(f"{'network':28s} {'MMAC':>8s} {'ours':>10s} {'theirs':>10s} {'ours/theirs':>12s}" +
                  (f" {'before':>10s} {'now/before':>11s}" if before else ""), flush=True)
            for name in names:
                row = measure(emulator, a.bench, library, os.path.join(a.bench, a.set, name + ".onnx"), models[name])
                failed = failed or row["ours"] is None
                results[cpu][name] = row
                print_row(name, row, before.get(cpu, {}).get(name), bool(before))
                half = os.path.join(a.bench, "halves", name + ".onnx")
                if os.path.exists(half):
                    row["half"] = ours(emulator, a.bench, half)
                    failed = failed or row["half"] is None
                    if row["ours"] and row["half"]:
                        print(f"{'  with float16':28s} {'':8s} {row['half'] / 1e6:10.2f}    "
                              f"float16/float32 {row['half'] / row['ours']:.2f}", flush=True)
            for kind, quantized in (("float32", False), ("8 bits", True)):
                ratios = [r["ours"] / r["theirs"] for r in results[cpu].values()
                          if r["quantized"] == quantized and r["ours"] and r["theirs"]]
                if ratios:
                    print(f"geometric mean, {kind}: {mean(ratios):.2f}, largest {max(ratios):.2f}", flush=True)
    with open(os.path.join(a.bench, "arm64.json"), "w", encoding="utf-8") as f:
        json.dump(results, f, indent=1, sort_keys=True)
        f.write("\n")
    return 1 if failed else 0


RUNS = ["0", "1", "/dev/null"]  # one, after two to warm up


def ours(emulator, bench, file):
    return emulator.count([os.path.join(bench, "arm64", "engine"), file, *RUNS])


def measure(emulator, bench, library, file, model):
    row = {"macs": model["macs"], "quantized": model["format"] != "fp32", "ours": ours(emulator, bench, file)}
    row["theirs"] = library and emulator.count([os.path.join(bench, "arm64", "ort"), library[0], "1", file, *RUNS])
    return row


def print_row(name, row, before, compare):
    def millions(x):
        return f"{x / 1e6:10.2f}" if x else f"{'-':>10s}"

    line = f"{name:28s} {row['macs'] / 1e6:8.1f} {millions(row['ours'])} {millions(row['theirs'])} "
    line += f"{row['ours'] / row['theirs']:12.2f}" if row["ours"] and row["theirs"] else f"{'-':>12s}"
    if compare:
        old = before and before["ours"]
        line += f" {millions(old)} " + (f"{row['ours'] / old:11.3f}" if old and row["ours"] else f"{'-':>11s}")
    print(line, flush=True)


if __name__ == "__main__":
    sys.exit(main())
