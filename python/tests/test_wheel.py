"""Wheels: their tags, that they can be installed by pip, and that the program beside the package is found."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile

import pytest

import weftgraph
from weftgraph import _process

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "wheels.py"


def build(folder, *archives):
    done = subprocess.run([sys.executable, SCRIPT, "--out", folder, *archives], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return [pathlib.Path(line) for line in done.stdout.split()]


PLATFORMS = ("linux_amd64", "linux_arm64", "linux_arm64_static", "darwin_arm64", "windows_amd64")


def pack(folder, platform, content):
    """Make the archive of a release that has a program."""
    name = f"weft_snapshot_{platform}"
    if platform.startswith("windows"):
        with zipfile.ZipFile(folder / f"{name}.zip", "w") as z:
            z.writestr(f"{name}/weft.exe", content)
        return folder / f"{name}.zip"
    (folder / "weft").write_bytes(content)
    with tarfile.open(folder / f"{name}.tar.gz", "w:gz") as t:
        t.add(folder / "weft", f"{name}/weft")
    return folder / f"{name}.tar.gz"


@pytest.fixture(scope="module")
def programs(tmp_path_factory):
    """A program of Go for each platform. The programs for Linux tell which C library they need."""
    if shutil.which("go") is None:
        pytest.skip("go, which makes programs of all platforms, is not installed")
    folder = tmp_path_factory.mktemp("programs")
    (folder / "go.mod").write_text("module empty\n")
    (folder / "main.go").write_text("package main\n\nfunc main() {}\n")
    found = {}
    for platform in PLATFORMS:
        system, arch, *static = platform.split("_")
        subprocess.run(["go", "build", "-o", folder / "program", "."], cwd=folder, check=True,
                       env={**os.environ, "GOOS": system, "GOARCH": arch, "CGO_ENABLED": "0", "GOFLAGS": "", "GOWORK": "off"})
        found[platform] = (folder / "program").read_bytes() + (b"" if static or system != "linux" else b"GLIBC_2.2.5 GLIBC_2.34 GLIBC_2.9")
    return found


@pytest.fixture
def archives(programs, tmp_path):
    return [pack(tmp_path, platform, content) for platform, content in programs.items()]


def test_tags_and_bytes(archives, tmp_path):
    first, second = build(tmp_path / "one", *archives), build(tmp_path / "two", *archives)
    assert [p.name.split("-", 2)[2] for p in first] == [
        "py3-none-manylinux_2_34_x86_64.whl", "py3-none-manylinux_2_34_aarch64.whl", "py3-none-musllinux_1_1_aarch64.whl",
        "py3-none-macosx_12_0_arm64.whl", "py3-none-win_amd64.whl"]
    assert [p.read_bytes() for p in first] == [p.read_bytes() for p in second]
    done = subprocess.run([sys.executable, SCRIPT, "--dist", tmp_path / "none"], capture_output=True, text=True)
    assert done.returncode == 1 and "no archives" in done.stderr


# The platforms that pip names, of a machine that takes the wheel, and of one that does not.
MACHINES = {
    "manylinux_2_34_x86_64": ("manylinux_2_34_x86_64", "manylinux_2_28_x86_64"),
    "manylinux_2_34_aarch64": ("manylinux_2_34_aarch64", "manylinux_2_34_x86_64"),
    "musllinux_1_1_aarch64": ("musllinux_1_1_aarch64", "manylinux_2_34_aarch64"),
    "macosx_12_0_arm64": ("macosx_14_0_arm64", "macosx_11_0_arm64"),
    "win_amd64": ("win_amd64", "win_arm64"),
}


def pip(*arguments):
    return subprocess.run([sys.executable, "-m", "pip", "--isolated", "--disable-pip-version-check", *arguments], capture_output=True, text=True,
                          env={**os.environ, "PIP_CONFIG_FILE": os.devnull, "PIP_NO_CACHE_DIR": "1"})


def test_names_are_those_of_the_packaging_standard(archives, tmp_path):
    utils, tags = pytest.importorskip("packaging.utils"), pytest.importorskip("packaging.tags")
    for wheel in build(tmp_path, *archives):
        name, version, number, found = utils.parse_wheel_filename(wheel.name)
        assert (name, str(version), number) == ("weftgraph", weftgraph.__version__, ())
        (tag,) = found
        with zipfile.ZipFile(wheel) as z:
            text = z.read(f"weftgraph-{version}.dist-info/WHEEL").decode()
        assert f"\nTag: {tag}\n" in text
    mac = {str(t) for t in tags.mac_platforms((14, 0), "arm64")}
    assert "macosx_12_0_arm64" in mac


@pytest.mark.skipif(pip("--version").returncode != 0, reason="pip is not installed")
def test_pip_installs_the_wheel_of_each_platform(archives, programs, tmp_path):
    """pip takes each wheel for a machine of its platform, and for no other; what it installs has the program of the archive."""
    wheels = build(tmp_path / "wheels", *archives)
    assert len(wheels) == len(PLATFORMS)
    for platform, wheel in zip(PLATFORMS, wheels):
        tag = wheel.stem.split("-")[-1]
        takes, refuses = MACHINES[tag]
        site = tmp_path / tag
        common = ("install", "--no-index", "--no-deps", "--only-binary=:all:", "--python-version", "3.12", "--implementation", "py", "--abi", "none", "--target")
        done = pip(*common, site, "--platform", takes, wheel)
        assert done.returncode == 0, done.stderr
        program = site / "weftgraph" / "bin" / ("weft.exe" if platform.startswith("windows") else "weft")
        assert program.read_bytes() == programs[platform]
        assert program.stat().st_mode & 0o111
        done = pip(*common, tmp_path / "refused", "--platform", refuses, wheel)
        assert done.returncode != 0 and "not a supported wheel" in done.stderr, (tag, refuses)
        # Of all wheels in a folder, pip chooses the one of the platform.
        done = pip(*common, tmp_path / f"chosen-{tag}", "--platform", takes, "--find-links", tmp_path / "wheels", "weftgraph")
        assert done.returncode == 0, done.stderr
        (chosen,) = (tmp_path / f"chosen-{tag}").glob("weftgraph/bin/weft*")
        assert chosen.read_bytes() == programs[platform]


def test_program_of_another_platform(programs, tmp_path):
    for platform in PLATFORMS:
        for other in PLATFORMS:
            system, arch = platform.split("_")[:2]
            if other.split("_")[:2] != [system, arch]:
                done = subprocess.run([sys.executable, SCRIPT, "--out", tmp_path, pack(tmp_path, platform, programs[other])], capture_output=True, text=True)
                assert done.returncode == 1 and f"not one for {system} on {arch}" in done.stderr, (platform, other)
    done = subprocess.run([sys.executable, SCRIPT, "--out", tmp_path, pack(tmp_path, "windows_amd64", b"MZ")], capture_output=True, text=True)
    assert done.returncode == 1 and "not one for windows" in done.stderr
    assert list(tmp_path.glob("*.whl")) == []


@pytest.mark.skipif(not os.environ.get("WEFT_DIST"), reason="WEFT_DIST does not name a folder with the archives of a release")
def test_wheels_of_a_release(tmp_path):
    """The archives of make release-snapshot give a wheel for each platform, which pip installs there."""
    dist = pathlib.Path(os.environ["WEFT_DIST"])
    done = subprocess.run([sys.executable, SCRIPT, "--dist", dist, "--out", tmp_path], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    tags = {p.stem.split("-")[-1]: p for p in tmp_path.glob("*.whl")}
    found = set()
    for tag, wheel in tags.items():
        kind = re.sub(r"\d+_\d+_", "", tag)
        found.add(kind)
        takes = {"macosx_arm64": "macosx_14_0_arm64", "macosx_x86_64": "macosx_14_0_x86_64"}.get(kind, tag)
        done = pip("install", "--no-index", "--no-deps", "--only-binary=:all:", "--python-version", "3.12", "--implementation", "py", "--abi", "none",
                   "--target", tmp_path / tag, "--platform", takes, wheel)
        assert done.returncode == 0, (tag, done.stderr)
        (program,) = (tmp_path / tag).glob("weftgraph/bin/weft*")
        assert program.stat().st_size > 10 << 20
        if kind.startswith("manylinux"):
            assert int(tag.split("_")[2]) <= 34, tag  # a C library of 2021
    assert {"manylinux_x86_64", "manylinux_aarch64", "musllinux_x86_64", "musllinux_aarch64", "macosx_arm64", "win_amd64"} <= found


@pytest.mark.skipif(sys.platform != "linux", reason="the program under test is one of Linux")
def test_installed(tmp_path):
    arch = {"x86_64": "amd64", "aarch64": "arm64"}[os.uname().machine]
    archive = tmp_path / f"weft_snapshot_linux_{arch}.tar.gz"
    with tarfile.open(archive, "w:gz", compresslevel=1) as t:
        t.add(_process.find_binary(), f"weft_snapshot_linux_{arch}/weft")
    (wheel,) = build(tmp_path, archive)
    with zipfile.ZipFile(wheel) as z:
        assert z.testzip() is None
        z.extractall(tmp_path / "site")  # what an installer does with a wheel
    program = tmp_path / "site" / "weftgraph" / "bin" / "weft"
    program.chmod(0o755)
    environment = {k: v for k, v in os.environ.items() if k not in ("WEFT_BINARY", "PYTHONPATH")}
    out = subprocess.run(
        [sys.executable, "-c", "import weftgraph as w, importlib.metadata as m\n"
         "print(w._process.find_binary(), w.from_edges([(1, 2)]).count('MATCH (a)--(b)'), m.version('weftgraph') == w.__version__,"
         "[e.load().__class__.__name__ for e in m.entry_points(group='networkx.backends', name='weft')])"],
        env={**environment, "PYTHONPATH": str(tmp_path / "site"), "PATH": "/usr/bin:/bin"}, cwd="/", capture_output=True, text=True, check=True).stdout
    assert out == f"{program} 1 True ['_Interface']\n"
