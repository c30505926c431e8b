"""A folder as a site: right types, right redirects, and nothing outside the folder."""

from __future__ import annotations

import tarfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nephila.lab.static import StaticSite, content_type


@pytest.fixture
def site(tmp_path: Path) -> StaticSite:
    root = tmp_path / "root"
    (root / "sub dir").mkdir(parents=True)
    (root / "bare").mkdir()
    (root / "index.html").write_bytes(b"<html>home</html>")
    (root / "sub dir" / "index.html").write_bytes(b"<html>sub</html>")
    (root / "한글.txt").write_bytes(b"korean")
    (root / "within.html").symlink_to(root / "index.html")
    (tmp_path / "secret.html").write_bytes(b"secret")
    (root / "climber.html").symlink_to(tmp_path / "secret.html")
    (root / "loop").symlink_to(root / "loop")
    return StaticSite("docs.example", "127.3.0.1", str(root))


@pytest.mark.parametrize(
    ("target", "body"),
    [
        ("/", b"<html>home</html>"),
        ("/index.html", b"<html>home</html>"),
        ("/index.html?x=../..", b"<html>home</html>"),
        ("//index.html", b"<html>home</html>"),
        ("/sub%20dir/", b"<html>sub</html>"),
        ("/within.html", b"<html>home</html>"),
        ("/%ED%95%9C%EA%B8%80.txt", b"korean"),
    ],
)
def test_a_file_is_served(site: StaticSite, target: str, body: bytes) -> None:
    answer = site.answer(target)
    assert (answer.status, answer.body) == (200, body)


def test_a_folder_without_slash_is_redirected(site: StaticSite) -> None:
    answer = site.answer("/sub%20dir?q=1")
    assert answer.status == 301
    assert ("Location", "/sub%20dir/?q=1") in answer.headers


@pytest.mark.parametrize(
    "target",
    [
        "/missing.html",
        "/bare/",
        "/index.html/",
        "/../secret.html",
        "/%2e%2e/secret.html",
        "/sub%20dir/../../secret.html",
        "/..%2fsecret.html",
        "/climber.html",
        "/loop",
        "/%00",
        "/%ff",
        "/" + "a" * 5000,
        "*",
        "",
    ],
)
def test_what_is_not_in_the_folder_is_not_found(site: StaticSite, target: str) -> None:
    assert site.answer(target).status == 404


@given(st.lists(st.sampled_from(["..", ".", "/", "%2e", "%2f", "secret.html", "root", "%5c", "\\"]), max_size=8))
def test_no_target_reaches_the_file_outside(tmp_path_factory: pytest.TempPathFactory, pieces: list[str]) -> None:
    outside = tmp_path_factory.getbasetemp() / "outside"
    (outside / "root").mkdir(parents=True, exist_ok=True)
    (outside / "secret.html").write_bytes(b"secret")
    answer = StaticSite("a.example", "127.3.0.1", str(outside / "root")).answer("/" + "".join(pieces))
    assert b"secret" not in answer.body


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("a.html", "text/html"),
        ("a.HTM", "text/html"),
        ("a.css", "text/css"),
        ("a.png", "image/png"),
        ("a.pdf", "application/pdf"),
        ("sitemap.xml.gz", "application/gzip"),
        ("robots.txt", "text/plain"),
        ("README", "application/octet-stream"),
    ],
)
def test_types_come_from_names(name: str, expected: str) -> None:
    assert content_type(name) == expected


def test_a_file_has_a_date_and_a_tag(site: StaticSite) -> None:
    names = {name for name, _ in site.answer("/").headers}
    assert names == {"Content-Type", "Last-Modified", "ETag"}


def test_a_real_site_of_fixtures_is_served_whole(data: Path, tmp_path: Path) -> None:
    with tarfile.open(data / "sites" / "nutch_fixtures.tar.gz") as archive:
        # Python before 3.11.4 has no filters; the file is our own.
        archive.extractall(tmp_path, **({"filter": "data"} if hasattr(tarfile, "data_filter") else {}))
    site = StaticSite("nutch.example", "127.3.0.2", str(tmp_path))
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert files
    for path in files:
        answer = site.answer("/" + path.relative_to(tmp_path).as_posix())
        assert (answer.status, answer.body) == (200, path.read_bytes())
