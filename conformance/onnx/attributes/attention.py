"""Attention, rotary embeddings and Einstein sums."""
import numpy as np

from sweep import add, f32, node, sweep


def attention():
    x = {"q": f32(2, 4, 3, 6), "k": f32(2, 4, 5, 6), "v": f32(2, 4, 5, 7)}
    c = {"m": f32(3, 5), "M": f32(2, 1, 3, 5), "H": f32(2, 4, 3, 5), "B": np.array([[1, 0, 1, 1, 0], [1, 1, 0, 0, 1], [0, 1, 1, 1, 1]], bool), "pk": f32(2, 4, 2, 6), "pv": f32(2, 4, 2, 7)}
    sweep("attention", "Attention", 23, ["q k v", "q k v m", "q k v M", "q k v H", "q k v B"], x, {"is_causal": [1], "scale": [0.1, 1.0]}, c)
    for i, (attrs, mask) in enumerate((({"softcap": 0.5}, ""), ({"is_causal": 1, "scale": 0.3}, ""), ({"scale": 0.2}, " m"), ({"softmax_precision": 1}, " M"))):
        add(f"attention_23_more_{i}", node("Attention", "q k v" + mask, **attrs), x, c, opset=23)
    add("attention_23_past", node("Attention", "q k v - pk pv", "y a b"), x, c, opset=23)
    add("attention_23_past_causal", node("Attention", "q k v - pk pv", "y a b", is_causal=1), x, c, opset=23, skip_reference=True)
    add("attention_23_past_mask", node("Attention", "q k v n pk pv", "y a b"), x, {**c, "n": f32(3, 7)}, opset=23)
    # Mode 1 of opset 23 is after the mask and mode 2 after the cap in one evaluator and the other way round in the other.
    for mode in (0, 3):
        add(f"attention_23_scores_{mode}", node("Attention", "q k v m", "y - - s", qk_matmul_output_mode=mode), x, c, opset=23)
    g = {"q": f32(2, 6, 3, 4), "k": f32(2, 2, 5, 4), "v": f32(2, 2, 5, 4)}
    rest = {"skip_reference": True, "opset": 23}  # it repeats the list of key heads, and takes flat inputs for [batch, heads, length, size]
    add("attention_23_groups", node("Attention", "q k v"), g, expected=[attended(g)], **rest)
    add("attention_23_groups_causal", node("Attention", "q k v", is_causal=1), g, expected=[attended(g, np.where(np.tri(3, 5), 0, -np.inf))], **rest)
    one = {**g, "k": f32(2, 1, 5, 4), "v": f32(2, 1, 5, 4)}
    add("attention_23_one_key_head", node("Attention", "q k v"), one, expected=[attended(one)], **rest)
    heads = lambda a, n: a.reshape(*a.shape[:2], n, -1).transpose(0, 2, 1, 3)
    for name, h, kv, sizes in (("flat", 4, 4, (24, 24, 28)), ("flat_groups", 6, 2, (24, 8, 6))):
        flat = {"q": f32(2, 3, sizes[0]), "k": f32(2, 5, sizes[1]), "v": f32(2, 5, sizes[2])}
        whole = {"q": heads(flat["q"], h), "k": heads(flat["k"], kv), "v": heads(flat["v"], kv)}
        for tag, ins, mask in (("", "q k v", 0), ("_mask", "q k v m", c["m"])):
            want = attended(whole, mask).transpose(0, 2, 1, 3).reshape(2, 3, -1)
            add(f"attention_23_{name}{tag}", node("Attention", ins, q_num_heads=h, kv_num_heads=kv), flat, c, expected=[want], **rest)


def attended(x, mask=0):
    """Attention of [batch, heads, length, size] by its definition; mask is added to the scores."""
    q, k, v = (x[n].astype(np.float64) for n in "qkv")
    k, v = (np.repeat(a, q.shape[1] // a.shape[1], 1) for a in (k, v))
    scores = q @ k.transpose(0, 1, 3, 2) / np.sqrt(q.shape[-1]) + mask
    e = np.exp(scores - scores.max(-1, keepdims=True))
    return (e / e.sum(-1, keepdims=True) @ v).astype(np.float32)


def rotated(x, cos, sin, positions=None, interleaved=0, part=0):
    """RotaryEmbedding of [batch, heads, length, size] by its definition."""
    y = x.astype(np.float64).copy()
    cos, sin = (cos, sin) if positions is None else (cos[positions], sin[positions])
    n = part or x.shape[-1]
    for i in range(n // 2):
        a, b = (2 * i, 2 * i + 1) if interleaved else (i, i + n // 2)
        c, s = cos[:, None, :, i], sin[:, None, :, i]
        y[..., a], y[..., b] = x[..., a] * c - x[..., b] * s, x[..., a] * s + x[..., b] * c
    return y.astype(np.float32)


def rotary():
    x, angle = f32(2, 3, 4, 8), rng_angles(9, 4)
    positions = np.array([[0, 3, 5, 8], [7, 2, 2, 1]], np.int64)
    table = {"c": np.cos(angle), "s": np.sin(angle)}
    three = {"c": np.cos(angle)[positions], "s": np.sin(angle)[positions]}
    half = {"c": table["c"][:, :2], "s": table["s"][:, :2]}
    for inter in (0, 1):
        at = {"interleaved": inter} if inter else {}
        want = rotated(x, table["c"], table["s"], positions, inter)
        add(f"rotary_23_positions_{inter}", node("RotaryEmbedding", "x c s p", **at), {"x": x, "p": positions}, table, opset=23, expected=[want])
        add(f"rotary_23_tables_{inter}", node("RotaryEmbedding", "x c s", **at), {"x": x}, three, opset=23, expected=[want])
        flat = x.transpose(0, 2, 1, 3).reshape(2, 4, 24)
        add(f"rotary_23_flat_{inter}", node("RotaryEmbedding", "x c s p", num_heads=3, **at), {"x": flat, "p": positions}, table, opset=23,
            expected=[want.transpose(0, 2, 1, 3).reshape(2, 4, 24)])
        want = rotated(x, half["c"], half["s"], positions, inter, 4)
        add(f"rotary_23_part_{inter}", node("RotaryEmbedding", "x c s p", rotary_embedding_dim=4, **at), {"x": x, "p": positions}, half, opset=23, expected=[want])


def rng_angles(n, m):
    return (np.arange(n)[:, None] / (1 + np.arange(m)) ** 1.5).astype(np.float32)


def einsum():
    a, b, c, v, s, t = f32(2, 3, 4), f32(4, 5), f32(3, 2), f32(3), f32(4, 4), f32(2, 3, 3)
    for i, (eq, args) in enumerate((("ijk,kl->ijl", (a, b)), ("ijk,kl", (a, b)), ("ijk->kji", (a,)), ("ijk->j", (a,)), ("ijk->", (a,)), ("ii->", (s,)), ("ii->i", (s,)), ("bii->ib", (t,)),
                                    ("i,j->ji", (v, f32(5))), ("i,i->", (v, f32(3))), ("ij,ij->ij", (c, f32(3, 2))), ("...k,kl->...l", (a, b)), ("i...,i...->...", (a, f32(2, 1, 4))),
                                    ("ijk,ji,kl->lj", (a, c, b)), ("zyx->xz", (a,)), ("...ij->...ji", (a,)), (" i j k , k l -> l i j ", (a, b)), ("ab,bc,cd->ad", (c, f32(2, 4), b)),
                                    ("bhqd,bhkd->bhqk", (f32(2, 2, 3, 4), f32(2, 2, 5, 4))), ("aB,BA->AaB", (c, f32(2, 4))), ("ba", (c,)), ("ij,kj->ik", (c, f32(5, 2))))):
        names = "abc"[:len(args)]
        want = np.einsum(eq.replace(" ", ""), *[x.astype(np.float64) for x in args]).astype(np.float32)
        add(f"einsum_{i}", node("Einsum", " ".join(names), equation=eq), dict(zip(names, args)), opset=12, expected=[np.asarray(want)], skip_reference=True)
    n = np.arange(12, dtype=np.int32).reshape(3, 4)
    add("einsum_int32", node("Einsum", "a b", equation="ij,kj->ik"), {"a": n, "b": n - 5}, opset=12, expected=[(n @ (n - 5).T).astype(np.int32)])


def make():
    attention()
    rotary()
    einsum()
