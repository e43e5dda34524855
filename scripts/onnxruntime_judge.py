"""usage: onnxruntime_judge.py LIST COLUMN SUITE REPORT...
       onnxruntime_judge.py --test

Counts the cases of a suite in REPORTs of `conformance ... --placement --json` that ran beside a provider of ONNX
Runtime: those that passed with the provider alone, those of which it refused a part, by who refused it, those whose
difference LIST names, and those that are wrong, which are printed. Exits 1 if there is one, or if the provider computed
nothing. --test checks the judge itself.

LIST has a line `COLUMN SUITE CASE BOUND` for each known difference, * for any column or parts of a case. BOUND is one
of these, and a case that exceeds it is wrong:

off=D,P%   numbers that are at most D apart, in at most P percent of the elements of a result
part=F,P%  numbers that are at most F times the largest wanted one apart, in at most P percent of the elements
says=TEXT  the case fails, and its message contains TEXT
"""
import collections
import fnmatch
import json
import re
import sys

APART = re.compile(r"element \d+ of (\d+) is (\S+), want (\S+); wrong are (\d+), by up to (\S+), "
                   r"the largest wanted is ([-+.\w]+)")
BOUND = re.compile(r"(off|part)=([0-9.e-]+),([0-9.]+)%$")


def bounded(bound):
    """Whether a text is a bound."""
    return BOUND.match(bound) is not None or bound.startswith("says=") and len(bound) > len("says=")


def accepts(bound, case):
    """Whether a difference is within its bound."""
    text = case.get("message", "")
    if case["status"] != "fail":
        return False
    if bound.startswith("says="):
        return bound[len("says="):] in text
    kind, most, share = BOUND.match(bound).groups()
    found = APART.search(text)
    if not found:
        return False
    count, wrong = int(found[1]), int(found[4])
    apart, largest = float(found[5]), float(found[6])
    if 100 * wrong > float(share) * count:
        return False
    return apart <= float(most) * (largest if kind == "part" else 1)


def read(path):
    """The lines of a list: column, suite, case, bound."""
    out = []
    with open(path) as f:
        for line in f:
            words = line.split(None, 3)
            if not words or line.startswith("#"):
                continue
            if len(words) != 4 or not bounded(words[3].strip()):
                sys.exit("%s: %r: want COLUMN SUITE CASE BOUND" % (path, line.strip()))
            out.append((words[0], words[1], words[2], words[3].strip()))
    return out


def main(path, column, suite, *reports):
    known = [(case, bound) for c, s, case, bound in read(path) if c in ("*", column) and s == suite]
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
                bounds = [b for p, b in known if fnmatch.fnmatchcase(case["id"], p) and accepts(b, case)]
                count[bounds[0].split("=")[0] if bounds else "wrong"] += 1
                if not bounds:
                    print("wrong: %s %s %s: %s %s" % (column, suite, case["id"], case["status"],
                                                      case.get("message", "")[:300]))
                continue
            refused = [r for r in case.get("refused") or [] if r.startswith("onnxruntime: ")]
            by_provider = [r for r in refused if "provider" in r or "ONNX Runtime" in r]
            count["F" if by_provider else "R" if refused else "passed"] += 1
            count["computed"] += "onnxruntime" in (case.get("placement") or {})
    print("%s, %s: passed %d, refused %d (export), %d (provider), wrong %d" % (
        suite, column, count["passed"], count["R"], count["F"], count["wrong"]))
    print("  named %d (steps %d, part of the largest %d, words %d), skipped %d, with the provider %d" % (
        count["off"] + count["part"] + count["says"], count["off"], count["part"], count["says"], count["skip"],
        count["computed"]))
    if stopped or count["not run"]:
        print("%d cases were not run: %s" % (count["not run"], stopped))
    return 1 if count["wrong"] or count["not run"] or not count["computed"] else 0


def test():
    """Differences at and beyond each bound."""
    def case(wrong, by, largest="9", status="fail"):
        return {"status": status, "message": "output 0: element 4 of 200 is 3, want 4; wrong are %d, by up to %s, the "
                "largest wanted is %s (x)" % (wrong, by, largest)}
    for bound, c, want in [
            ("off=2,5%", case(10, "2"), True), ("off=2,5%", case(11, "2"), False),
            ("off=2,5%", case(1, "3"), False), ("off=2,5%", case(1, "NaN"), False),
            ("off=2,5%", case(1, "1", status="crash"), False),
            ("part=1e-2,5%", case(1, "0.09"), True), ("part=1e-2,5%", case(1, "0.1"), False),
            ("part=1e-2,5%", case(1, "+Inf"), False), ("part=1e-2,5%", case(1, "0.1", largest="10"), True),
            ("part=1e-2,5%", {"status": "fail", "message": "2 elements, want 3"}, False),
            ("says=by up to 7", case(1, "7"), True), ("says=by up to 8", case(1, "7"), False),
            ("says=by up to 7", case(1, "7", status="hang"), False)]:
        if accepts(bound, c) != want:
            sys.exit("onnxruntime judge: %s of %s: want %s" % (bound, c, want))
    for bound, want in [("off=1,5%", True), ("any", False), ("off=1", False), ("says=", False), ("part=x,1%", False)]:
        if bounded(bound) != want:
            sys.exit("onnxruntime judge: %s: want %s" % (bound, want))


if __name__ == "__main__":
    if sys.argv[1:] == ["--test"]:
        sys.exit(test())
    if len(sys.argv) < 5:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
