"""The webs that crawlers are measured on, as files behind nginx, and which pages each of them really has.

    real    twelve manuals of Debian as twelve sites; mid: five of them; small: 200 sites of 40 pages, made up;
    synth   200 sites of 200 pages, 17.5 KB and 40 links each

Each site has an address of its own on the loopback, so that no crawler takes two for one.
"""

from __future__ import annotations

import random
import shutil
import subprocess
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urldefrag, urljoin, urlsplit

from selectolax.lexbor import LexborHTMLParser

PORT = 8700
MID = {
    "cmake-doc": "usr/share/doc/cmake-data/html",
    "postgresql-doc-15": "usr/share/doc/postgresql-doc-15/html",
    "sqlite3-doc": "usr/share/doc/sqlite3",
    "python-django-doc": "usr/share/doc/python-django-doc/html",
    "apache2-doc": "usr/share/doc/apache2-doc/manual",
}
REAL = MID | {
    "libstdc++-12-doc": "usr/share/doc/gcc-12-base/libstdc++",
    "python-scipy-doc": "usr/share/doc/python-scipy-doc/html",
    "libboost1.74-doc": "usr/share/doc/libboost1.74-doc/doc/html",
    "octave-doc": "usr/share/doc/octave/octave.html",
    "python-sqlalchemy-doc": "usr/share/doc/python-sqlalchemy-doc/html",
    "python3.11-doc": "usr/share/doc/python3.11/html",
    "anarchism": "usr/share/doc/anarchism/html",
}
MADE_UP = {"small": (200, 40), "synth": (200, 200)}
_PAGE_BYTES, _LINKS = 17_500, 40
_FOLLOWED = {"a": "href", "area": "href", "frame": "src", "iframe": "src"}

File = tuple[str, str]
"""An address, and a path without its query: what two URLs of one file have in common."""


@dataclass(frozen=True)
class Web:
    """A web that is served: the first page of each site, and every file that links lead to from there."""

    name: str
    roots: dict[str, Path]  # by address

    @property
    def seeds(self) -> list[str]:
        return [f"http://{address}:{PORT}/" for address in self.roots]

    def truth(self) -> set[File]:
        """By a parser (lexbor) and a walk that are none of the crawlers'."""
        found: set[File] = set()
        for address, root in self.roots.items():
            start = f"http://{address}:{PORT}/"
            known, waiting = {start}, deque([start])
            while waiting:
                url = waiting.popleft()
                file = _file(root, url)
                if file is None:
                    continue
                found.add(key(url))
                for link in _links(file, url) if file.suffix in (".html", ".htm") else ():
                    if link.startswith(start) and link not in known:
                        known.add(link)
                        waiting.append(link)
        return found


def key(url: str) -> File:
    parts = urlsplit(url)
    path = unquote(parts.path)
    return parts.hostname or "", f"{path}index.html" if path.endswith("/") else path


def _file(root: Path, url: str) -> Path | None:
    path = root / key(url)[1].lstrip("/")
    try:
        return path if path.is_file() else None
    except (OSError, ValueError):
        return None


def _links(file: Path, url: str) -> Iterator[str]:
    page = LexborHTMLParser(file.read_bytes())
    own = page.css_first("base[href]")
    base = urljoin(url, own.attributes["href"] or "") if own is not None else url
    for element, attribute in _FOLLOWED.items():
        for node in page.css(f"{element}[{attribute}]"):
            try:
                yield urldefrag(urljoin(base, (node.attributes[attribute] or "").strip())).url
            except ValueError:
                continue


def build(name: str, place: Path) -> Web:
    """The web, downloaded or made up once; the folder may be kept for the next time."""
    if name in MADE_UP:
        sites, pages = MADE_UP[name]
        root = place / name
        if not (root / "whole").exists():
            _make_up(root, sites, pages)
        third = 2 + sorted(MADE_UP).index(name)
        return Web(name, {f"127.9.{third}.{site + 1}": root / str(site) for site in range(sites)})
    packages = MID if name == "mid" else REAL
    roots = {f"127.9.1.{number + 1}": _unpacked(package, place) / packages[package]
             for number, package in enumerate(packages)}  # fmt: skip
    return Web(name, roots)


def _unpacked(package: str, place: Path) -> Path:
    target = place / "debian" / package
    if not target.exists():
        place.mkdir(parents=True, exist_ok=True)
        subprocess.run(["apt-get", "download", package], cwd=place, check=True, capture_output=True)
        [archive] = place.glob(f"{package}_*.deb")
        subprocess.run(["dpkg-deb", "-x", archive, target], check=True)
        archive.unlink()
    return target


def _make_up(root: Path, sites: int, pages: int) -> None:
    shutil.rmtree(root, ignore_errors=True)
    chance = random.Random(1)
    words = ["".join(chance.choices("abcdefghijklmnopqrstuvwxyz", k=chance.randint(2, 9))) for _ in range(5_000)]
    for site in range(sites):
        folder = root / str(site)
        folder.mkdir(parents=True)
        for page in range(pages):
            near = [(page * step + 1) % pages for step in range(2, 6)]  # so that every page is reached
            names = [*near, *(chance.randrange(pages) for _ in range(_LINKS - len(near)))]
            named = [(page + 1) % pages, *names]
            links = " ".join(f'<a href="p{name}.html">{chance.choice(words)}</a>' for name in named)
            text = " ".join(chance.choices(words, k=(_PAGE_BYTES - len(links)) // 7))
            body = f"<html><head><title>{site} {page}</title></head><body><p>{links}</p><p>{text}</p></body></html>"
            (folder / ("index.html" if page == 0 else f"p{page}.html")).write_text(body)
        (folder / "p0.html").symlink_to("index.html")
    (root / "whole").touch()


@contextmanager
def served(web: Web, place: Path) -> Iterator[None]:
    """One nginx worker for all sites, as long as the measuring takes."""
    binary = shutil.which("nginx") or "/usr/sbin/nginx"
    lines = [
        f"worker_processes 1; daemon off; pid {place}/nginx.pid; error_log {place}/nginx.err;",
        "events { worker_connections 4096; }",
        "http { include /etc/nginx/mime.types; access_log off; keepalive_requests 100000000; sendfile on;",
        "open_file_cache max=60000 inactive=1h;",
        *(f"server {{ listen {address}:{PORT}; root {root}; index index.html index.htm; }}"
          for address, root in web.roots.items()),
        "}",
    ]  # fmt: skip
    place.mkdir(parents=True, exist_ok=True)
    config = place / "nginx.conf"
    config.write_text("\n".join(lines))
    server = subprocess.Popen([binary, "-c", str(config.resolve())], stderr=subprocess.DEVNULL)
    try:
        yield
    finally:
        server.terminate()
        server.wait()
