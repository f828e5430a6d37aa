#!/usr/bin/env python3
"""Make wheels of the Python package, each with the program of its platform.

    scripts/wheels.py [--dist DIR] [--out DIR] [ARCHIVE...]

reads the archives of a release (``make release-snapshot``) and writes a wheel for each. A
wheel has weftgraph and the program; its tag says on which systems the program runs. On
Linux that is told by the versions of the C library that the program asks for; the static
program is for systems with musl. The same archives give the same wheels, byte for byte.
"""

import argparse
import base64
import configparser
import hashlib
import io
import pathlib
import re
import sys
import tarfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent / "python"
NAME = re.compile(r"weft_(?P<version>.+)_(?P<os>linux|darwin|windows)_(?P<arch>amd64|arm64)(?P<static>_static)?\.(tar\.gz|zip)")
MACHINES = {"amd64": "x86_64", "arm64": "aarch64"}
# The first bytes of a program, and the place and bytes of its processor.
HEADS = {
    ("linux", "amd64"): (b"\x7fELF\x02\x01", 18, b"\x3e\x00"),
    ("linux", "arm64"): (b"\x7fELF\x02\x01", 18, b"\xb7\x00"),
    ("darwin", "amd64"): (b"\xcf\xfa\xed\xfe", 4, b"\x07\x00\x00\x01"),
    ("darwin", "arm64"): (b"\xcf\xfa\xed\xfe", 4, b"\x0c\x00\x00\x01"),
    ("windows", "amd64"): (b"MZ", 4, b"\x64\x86"),  # the place is that after the signature PE
    ("windows", "arm64"): (b"MZ", 4, b"\x64\xaa"),
}
MACOS = "12_0"  # the oldest macOS of the programs that Go 1.26 makes
DATE = (2020, 1, 1, 0, 0, 0)


def check(archive: pathlib.Path, system: str, arch: str, program: bytes) -> None:
    """End with an error if a program is not one of the platform in its archive's name."""
    head, at, processor = HEADS[system, arch]
    if system == "windows":
        at += int.from_bytes(program[0x3C:0x40], "little")
    if not program.startswith(head) or program[at : at + len(processor)] != processor:
        sys.exit(f"{archive}: the program is not one for {system} on {arch}")


def tag(system: str, arch: str, static: bool, program: bytes) -> str:
    """Return the platform tag of a program."""
    if system == "windows":
        return {"amd64": "win_amd64", "arm64": "win_arm64"}[arch]
    if system == "darwin":
        return f"macosx_{MACOS}_{'arm64' if arch == 'arm64' else 'x86_64'}"
    if static:
        return f"musllinux_1_1_{MACHINES[arch]}"
    versions = [(int(a), int(b)) for a, b in re.findall(rb"GLIBC_(\d+)\.(\d+)", program)]
    major, minor = max(versions, default=(2, 17))
    return f"manylinux_{major}_{max(minor, 17)}_{MACHINES[arch]}"


def program_of(archive: pathlib.Path) -> bytes:
    """Return the program in an archive."""
    if archive.suffix == ".zip":
        with zipfile.ZipFile(archive) as z:
            names = [n for n in z.namelist() if n.endswith("/weft.exe")]
            return z.read(names[0]) if names else missing(archive)
    with tarfile.open(archive) as t:
        for member in t:
            if member.isfile() and member.name.endswith("/weft"):
                return t.extractfile(member).read()
    return missing(archive)


def missing(archive: pathlib.Path) -> bytes:
    sys.exit(f"{archive}: the archive has no program weft")


def wheel(archive: pathlib.Path, out: pathlib.Path, version: str) -> pathlib.Path:
    """Write the wheel of an archive, and return its path."""
    match = NAME.fullmatch(archive.name)
    if match is None:
        sys.exit(f"{archive}: the name is not that of an archive of a release, such as weft_1.0.0_linux_amd64.tar.gz")
    program = program_of(archive)
    check(archive, match["os"], match["arch"], program)
    platform = tag(match["os"], match["arch"], bool(match["static"]), program)
    info = f"weftgraph-{version}.dist-info"
    entries = configparser.ConfigParser(delimiters=("=",))
    for group in ("networkx.backends", "networkx.backend_info"):
        section = re.search(rf'\[project\.entry-points\."{re.escape(group)}"\]\n(\w+) = "(.+)"', (ROOT / "pyproject.toml").read_text())
        entries[group] = {section[1]: section[2]}
    text = io.StringIO()
    entries.write(text)
    files = {f"weftgraph/{p.name}": p.read_bytes() for p in sorted((ROOT / "weftgraph").iterdir()) if p.suffix == ".py" or p.name == "py.typed"}
    binary = "weftgraph/bin/weft" + (".exe" if match["os"] == "windows" else "")
    files[binary] = program
    files[f"{info}/METADATA"] = (
        f"Metadata-Version: 2.1\nName: weftgraph\nVersion: {version}\n"
        "Summary: Subgraph matching by weft: counts, matches and motifs of graphs, from Python\n"
        "Requires-Python: >=3.10\nDescription-Content-Type: text/markdown\n"
        "Provides-Extra: pandas\nRequires-Dist: pandas; extra == 'pandas'\n"
        "Provides-Extra: arrow\nRequires-Dist: pyarrow; extra == 'arrow'\n"
        "Provides-Extra: networkx\nRequires-Dist: networkx; extra == 'networkx'\n\n"
    ).encode() + (ROOT / "README.md").read_bytes()
    files[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: weft\nRoot-Is-Purelib: false\nTag: py3-none-{platform}\n".encode()
    files[f"{info}/entry_points.txt"] = text.getvalue().encode()
    for name in ("LICENSE", "THIRD_PARTY_NOTICES"):
        files[f"{info}/{name}"] = (ROOT.parent / name).read_bytes()
    record = "".join(
        f"{n},sha256={base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b'=').decode()},{len(data)}\n" for n, data in files.items()
    )
    files[f"{info}/RECORD"] = (record + f"{info}/RECORD,,\n").encode()
    path = out / f"weftgraph-{version}-py3-none-{platform}.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as z:
        for name, data in files.items():
            entry = zipfile.ZipInfo(name, DATE)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.create_system = 3
            entry.external_attr = (0o100755 if name == binary else 0o100644) << 16
            z.writestr(entry, data)
    return path


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", 1)[0])
    parser.add_argument("archives", nargs="*", type=pathlib.Path, help="archives of a release; default: all in --dist")
    parser.add_argument("--dist", type=pathlib.Path, default=ROOT.parent / "dist")
    parser.add_argument("--out", type=pathlib.Path, help="folder of the wheels; default: that of --dist")
    options = parser.parse_args()
    archives = options.archives or sorted(p for p in options.dist.glob("weft_*") if NAME.fullmatch(p.name))
    if not archives:
        sys.exit(f"{options.dist}: no archives; make release-snapshot makes them")
    out = options.out or options.dist
    out.mkdir(parents=True, exist_ok=True)
    version = re.search(r'__version__ = "(.+)"', (ROOT / "weftgraph/__init__.py").read_text())[1]
    for archive in archives:
        print(wheel(archive, out, version))


if __name__ == "__main__":
    main()
