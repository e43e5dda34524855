"""Matrix products deeper than the blocks in which sums are formed and wider than a tile, with every remainder of M, N and K modulo 16."""

import numpy as np

from case import BOOL, F32, F64, I8, I32, I64, U8, Q, param
from binary import ACT
from pattern import Codes, Exact, Real, ints, reals
from size_windows import SIZE, exponent

MM, FC = "MATMUL", "FULL_CONNECTION"


def matmul(name, sa, sb, ta=False, tb=False, act=0, const=True, dyn=(), real=False):
    t = lambda v, yes: v.swapaxes(-1, -2) if yes else v
    make = reals if real else ints
    k = sa[-2 if ta else -1]
    more = (-k**-0.5, k**-0.5) if real else ()
    a, b = make(MM + name + "a", sa, dyn=dyn), make(MM + name + "b", sb, *more, const=const)
    y = ACT[act](t(a.value.astype(F64), ta) @ t(b.value.astype(F64), tb))
    ps = [param(MM + "_TRANSPOSE_A", ta, BOOL), param(MM + "_TRANSPOSE_B", tb, BOOL)] + ([param(MM + "_ACTIVATION_TYPE", act, I8)] if act else [])
    SIZE.case(MM, ("real_" if real else "float32_") + name, [a, b], [Real(y) if real else Exact(y, dyn=dyn, grid=1)], ps)


def coded_matmul(name, sa, sb, ta=False, tb=False, dtype=I8, const=True):
    info = np.iinfo(dtype)
    t = lambda v, yes: v.swapaxes(-1, -2) if yes else v
    qa, qb = Q(2.0**-4, info.min + 134), Q(2.0**-5, info.min + 122)
    a = ints(MM + name + "qa", sa, info.min, info.max, dtype, q=qa)
    b = ints(MM + name + "qb", sb, info.min + 2, info.max, dtype, q=qb, const=const)
    acc = t(a.value.astype(F64) - qa.zero[0], ta) @ t(b.value.astype(F64) - qb.zero[0], tb)
    qy = Q(2.0**(exponent(acc) - 9), info.min + 125)
    ps = [param(MM + "_TRANSPOSE_A", ta, BOOL), param(MM + "_TRANSPOSE_B", tb, BOOL)] if ta or tb else []
    SIZE.case(MM, f"{np.dtype(dtype)}_{name}", [a, b], [Codes(acc * 2.0**-9, qy, dtype)], ps)


for i in range(16):
    m, n, k = 16 * (1 + i % 3) + i, 16 * (1 + (i + 1) % 3) + (5 * i + 3) % 16, 16 * (2 + i % 4) + (11 * i + 7) % 16
    ta, tb = bool(i & 1), bool(i & 2)
    matmul(f"{m}x{n}x{k}", (k, m) if ta else (m, k), (n, k) if tb else (k, n), ta, tb, act=(0, 0, 1, 2)[i % 4], const=i % 3 > 0)
    if i % 2:
        coded_matmul(f"{m}x{n}x{k}", (m, k), (n, k) if tb else (k, n), False, tb, (I8, U8)[i % 4 == 3], const=i % 3 > 0)
for i, (m, n, k) in enumerate(((1, 33, 1537), (2, 17, 1600), (3, 40, 2049), (4, 50, 1999), (5, 8, 3100), (6, 1, 1601), (7, 100, 1553), (13, 36, 2500), (33, 19, 1700), (1, 1, 5001), (1, 131, 700), (70, 2, 611), (12, 97, 1100))):
    matmul(f"deep_{m}x{n}x{k}", (m, k), (n, k) if i % 2 else (k, n), tb=bool(i % 2), const=i % 4 > 0)
    if i % 3 == 0:
        coded_matmul(f"deep_{m}x{n}x{k}", (m, k), (n, k) if i % 2 else (k, n), tb=bool(i % 2))
matmul("wide_3x1601x65", (3, 65), (65, 1601))
matmul("tall_1601x3x65", (1601, 65), (65, 3))
matmul("batch", (5, 17, 33), (5, 33, 19), const=False)
matmul("batch_transposed", (5, 33, 17), (5, 19, 33), True, True, const=False)
matmul("broadcast_right", (6, 17, 40), (40, 35))
matmul("broadcast_left", (17, 41), (4, 41, 34), const=False)
matmul("broadcast_both", (3, 1, 18, 33), (1, 4, 33, 21), const=False)
matmul("open", (37, 70), (70, 51), dyn=(0,))
matmul("33x40x1700", (33, 1700), (1700, 40), real=True)
matmul("5x70x300", (5, 300), (300, 70), real=True)

for i in range(16):
    m, n, k = (1, 2, 5, 16, 33)[i % 5] + (i // 5), 16 * (1 + i % 4) + (7 * i + 5) % 16, (16 * (2 + i % 3) + (3 * i + 1) % 16) * (1, 1, 1, 41)[i % 4]
    bias, act = i % 3 > 0, i % 3 if i % 2 else 0
    x, w, b = ints(FC + f"{i}x", (m, k)), ints(FC + f"{i}w", (n, k), const=True), ints(FC + f"{i}b", (n,), -9, 9, const=True)
    y = ACT[act](x.value.astype(F64) @ w.value.astype(F64).T + (b.value if bias else 0))
    ps = [param(FC + "_HAS_BIAS", bias, BOOL), param(FC + "_ACTIVATIONTYPE", act, I8)]
    SIZE.case(FC, f"float32_{m}x{n}x{k}", [x, w] + [b] * bias, [Exact(y, grid=1)], ps)
    for dtype in (I8, U8)[i % 2:1 + i % 2]:
        info = np.iinfo(dtype)
        qx, qw = Q(2.0**-4, info.min + 141), Q(2.0**-6, 0 if dtype == I8 else 128)
        x = ints(FC + f"{i}qx", (m, k), info.min, info.max, dtype, q=qx)
        w = ints(FC + f"{i}qw", (n, k), info.min // 2 + 1, info.max // 2, dtype, step=2, q=qw, const=True)
        b = ints(FC + f"{i}qb", (n,), -1000.5, 1000.5, I32, step=2, const=True)
        acc = (x.value.astype(F64) - qx.zero[0]) @ (w.value.astype(F64) - qw.zero[0]).T + b.value
        SIZE.case(FC, f"{np.dtype(dtype)}_{m}x{n}x{k}", [x, w, b], [Codes(acc * 2.0**-10, Q(2.0**(exponent(acc) - 10), info.min + 119), dtype)], [param(FC + "_HAS_BIAS", True, BOOL)])
x, w, b = ints(FC + "x", (3, 17, 19)), ints(FC + "w", (21, 323), const=True), ints(FC + "b", (21,), const=True)
SIZE.case(FC, "float32_of_an_axis", [x, w, b], [Exact(x.value.reshape(3, 323).astype(F64) @ w.value.T + b.value, grid=1)],
          [param(FC + "_HAS_BIAS", True, BOOL), param(FC + "_USE_AXIS", True, BOOL), param(FC + "_AXIS", 1, I64)])

# Deeper than 4,096 and 8,192, with every remainder of M modulo 16, and batches of them.
for i, k in enumerate((4096, 4097, 4111, 5000, 6143, 8191, 8192, 8193, 8200, 9001, 12289, 16385)):
    m, n = (1, 2, 7, 16, 3, 33, 5, 1, 17, 4, 9, 6)[i], (1, 19, 8, 33, 64, 7, 15, 130, 16, 3, 40, 24)[i]
    tb = bool(i % 2)
    matmul(f"deeper_{m}x{n}x{k}", (m, k), (n, k) if tb else (k, n), tb=tb, act=i % 3 % 2, const=i % 4 != 1)
    if i % 4 in (1, 3):
        coded_matmul(f"deeper_{m}x{n}x{k}", (m, k), (n, k) if tb else (k, n), tb=tb, dtype=(I8, U8)[i % 8 > 3])
for m in range(1, 34):
    matmul(f"rows_{m}x23x130", (m, 130), (130, 23), const=m % 2 > 0)
matmul("deeper_batch", (3, 5, 4099), (3, 4099, 7), const=False)
matmul("deeper_broadcast", (4, 3, 4099), (4099, 9))
matmul("many_batches", (67, 3, 5), (67, 5, 2), const=False)
matmul("many_small_rows", (513, 1, 9), (513, 9, 1), const=False)
matmul("wider_2x5003x40", (2, 40), (40, 5003))
matmul("taller_5003x2x40", (5003, 40), (40, 2))
