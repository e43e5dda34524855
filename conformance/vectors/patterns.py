"""Elements of tensors that follow from a seed: what conformance/suite/numbers has as a Pattern."""
import numpy as np


def splitmix64(seed, n):
    with np.errstate(over="ignore"):
        z = (np.uint64(seed) << np.uint64(32)) + np.arange(1, n + 1, dtype=np.uint64)
        z = z * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return z ^ (z >> np.uint64(31))


def elements(p, n):
    h = splitmix64(p["seed"], n)
    if p.get("real"):
        return p["lo"] + (p["hi"] - p["lo"]) * ((h >> np.uint64(40)).astype(np.float64) / (1 << 24))
    span = np.uint64(p["hi"] - p["lo"] + 1)
    return (p["lo"] + ((h >> np.uint64(33)) % span).astype(np.float64)) * p.get("step", 1)
