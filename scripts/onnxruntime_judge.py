"""usage: onnxruntime_judge.py LIST COLUMN SUITE REPORT...

Counts the cases of a suite in REPORTs of `conformance ... --placement --json` that ran beside a provider of ONNX
Runtime: those that passed with the provider alone, those of which it refused a part, by who refused it, those whose
difference LIST names, and those that are wrong, which are printed. Exits 1 if there is one, or if the provider computed
nothing.

LIST has a line `COLUMN SUITE CASE KIND` for each known difference, * for any column or parts of a case. KIND bounds the
differences: `code` numbers that are one apart, `float` numbers that differ by less than 1e-5 of the larger one, or 1e-5,
`words` a refusal in other words, `any` whatever it is.
"""
import collections
import fnmatch
import json
import re
import sys

NUMBER = r"(-?[0-9.]+(?:e[-+]?[0-9]+)?)"
PAIRS = [re.compile(r"\bis %s, want %s" % (NUMBER, NUMBER)), re.compile(r"\bwant %s, got %s" % (NUMBER, NUMBER))]


def accepts(kind, case):
    """Whether a difference is as small as its kind says."""
    text = case.get("message", "") + case.get("refusal", "")
    if kind == "any":
        return True
    if case["status"] != "fail":
        return False
    if kind == "words":
        return not any(p.search(text) for p in PAIRS)
    for p in PAIRS:
        for found in p.finditer(text):
            a, b = float(found[1]), float(found[2])
            if kind == "code":
                return abs(a - b) == 1
            return abs(a - b) <= max(1e-5 * max(abs(a), abs(b)), 1e-5)
    return False


def main(path, column, suite, *reports):
    known = []
    with open(path) as f:
        for line in f:
            words = line.split()
            if words and not line.startswith("#"):
                if len(words) != 4 or words[3] not in ("code", "float", "words", "any"):
                    sys.exit("%s: %r: want COLUMN SUITE CASE KIND" % (path, line.strip()))
                if words[0] in ("*", column) and words[1] == suite:
                    known.append((words[2], words[3]))
    count, stopped = collections.Counter(), ""
    for name in reports:
        with open(name) as f:
            report = json.load(f)
        stopped = stopped or report.get("stopped", "")
        for case in report["results"]:
            if case["status"] in ("skip", "not run"):
                count[case["status"]] += 1
                continue
            if case["status"] != "pass":
                kinds = [k for p, k in known if fnmatch.fnmatchcase(case["id"], p) and accepts(k, case)]
                count[kinds[0] if kinds else "wrong"] += 1
                if not kinds:
                    print("wrong: %s %s %s: %s %s" % (column, suite, case["id"], case["status"],
                                                      case.get("message", "")[:300]))
                continue
            refused = [r for r in case.get("refused") or [] if r.startswith("onnxruntime: ")]
            by_provider = [r for r in refused if "provider" in r or "ONNX Runtime" in r]
            count["F" if by_provider else "R" if refused else "passed"] += 1
            count["computed"] += "onnxruntime" in (case.get("placement") or {})
    named = sum(count[k] for k in ("code", "float", "words", "any"))
    print("%s, %s: passed %d, refused %d (export), %d (provider), wrong %d" % (
        suite, column, count["passed"], count["R"], count["F"], count["wrong"]))
    print("  named %d (one code %d, float %d, words %d, other %d), skipped %d, with the provider %d" % (
        named, count["code"], count["float"], count["words"], count["any"], count["skip"], count["computed"]))
    if stopped or count["not run"]:
        print("%d cases were not run: %s" % (count["not run"], stopped))
    return 1 if count["wrong"] or count["not run"] or not count["computed"] else 0


if __name__ == "__main__":
    if len(sys.argv) < 5:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
