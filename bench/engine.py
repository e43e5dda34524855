"""What the engines in Python share: each is a program of make bench-compare with the arguments

    THREADS MODEL SECONDS RUNS OUTPUTS      (at least RUNS runs)

that loads a model file, runs it for some time and prints one JSON object, as bench/ort does; the results of the last
run go to the file OUTPUTS as they are in memory, one after another. Exit code 1 with a line on stderr: it cannot.
"""
import importlib.metadata
import json
import os
import sys
import time

import numpy as np


def entry(path):
    """What models.json beside a model tells of it."""
    with open(os.path.join(os.path.dirname(path), "models.json"), encoding="utf-8") as f:
        return json.load(f)[os.path.splitext(os.path.basename(path))[0]]


def filled(shape):
    """Element i is ((2654435761 i + 12345) mod 2^32) / 2^31 - 1, as every engine fills its inputs."""
    i = np.arange(int(np.prod(shape, dtype=np.int64)), dtype=np.uint64)
    x = (i * np.uint64(2654435761) + np.uint64(12345)) & np.uint64(0xFFFFFFFF)
    return (x.astype(np.float64) / 2**31 - 1).astype(np.float32).reshape(shape)


def peak_rss():
    """The largest resident size of this process so far in bytes."""
    with open("/proc/self/status", encoding="ascii") as f:
        return next(int(line.split()[1]) * 1024 for line in f if line.startswith("VmHWM:"))


def measure(package, threads, path, seconds, least, outputs, load):
    """Runs what load(threads, path) returns: the seconds of loading, a function that runs, one that gives results."""
    loading, run, results = load(int(threads), path)
    seconds, least, clock = float(seconds), int(least), time.perf_counter
    begin, runs = clock(), 0
    while runs < 2 or clock() - begin < seconds / 10:
        run()
        runs += 1
    samples, begin = [], clock()
    while len(samples) < least or clock() - begin < seconds:
        start = clock()
        run()
        samples.append(clock() - start)
    peak = peak_rss()
    with open(outputs, "wb") as f:
        for x in results():
            f.write(np.ascontiguousarray(x, np.float32).tobytes())
    samples.sort()
    print(json.dumps({"version": importlib.metadata.version(package), "load": loading, "runs": len(samples),
                      "best": samples[0], "median": samples[len(samples) // 2], "peak_rss": peak}))


def main(package, load):
    if len(sys.argv) != 6:
        sys.exit(f"usage: {os.path.basename(sys.argv[0])} THREADS MODEL SECONDS RUNS OUTPUTS")
    try:
        measure(package, *sys.argv[1:], load)
    except Exception as e:
        sys.exit((str(e).strip() or type(e).__name__).splitlines()[-1])
