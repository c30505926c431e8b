"""Pieces of an index become one: tantivy's segments are files that never change, so they are linked side by side.

A generation is a folder with tantivy's files. The next one starts with hard links to the files of the last, strikes
out the pages that are gone or written anew, takes in the segments of the portions, and lets tantivy merge. tantivy's
own list of segments, `meta.json`, is the union of the pieces' lists; their form is that of the version we require, and
the number of pages is checked before anyone sees the result. Many portions are first merged by the workers, eight by
eight, since one merge takes one core.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from nephila.errors import NephilaError
from nephila.search.fields import create_index, open_index
from nephila.store.durable import aside_of, crash_point, disk_errors, publish
from nephila.urls import hash128

_META: Final = "meta.json"
_MANAGED: Final = ".managed.json"
_HEAP_BYTES: Final = 64 * 2**20

MERGED_AT_ONCE: Final = 8
"""tantivy merges segments of like size when there are so many"""


@dataclass(frozen=True, slots=True)
class Pieces:
    """Finished portions that become one."""

    folders: tuple[Path, ...]
    target: Path


def merge_pieces(pieces: Pieces) -> Path:
    """A worker's share of merging; the result appears by rename, and is found again by its name."""
    name = hash128(" ".join(folder.name for folder in pieces.folders)).hex()
    folder = pieces.target / f"merged-{name}"
    if not folder.is_dir():
        aside = aside_of(folder)
        shutil.rmtree(aside, ignore_errors=True)
        aside.mkdir(parents=True)
        with disk_errors(aside):
            for piece in pieces.folders:
                _link_files(piece, aside)
            _unite(aside, pieces.folders[1:])
        _merge(aside)
        publish(aside, folder)
        crash_point("search.merged")
    return folder


def assemble(target: Path, last: Path | None, portions: Sequence[Path], remove: Any, pages: int) -> None:
    """Make the generation `target`, an empty folder, which must hold `pages` pages in the end."""
    with disk_errors(target):
        if last is None:
            create_index(target)
        else:
            _link_files(last, target)
    if len(remove):
        _strike_out(target, remove)
    with disk_errors(target):
        for portion in portions:
            _link_files(portion, target)
        _unite(target, portions)
    merged = _merge(target)
    if merged != pages:
        raise NephilaError(
            f"the index came out with {merged} pages instead of {pages}; delete {target.parent} and run "
            "`nephila index` again, and please report this."
        )


def _link_files(source: Path, target: Path) -> None:
    for entry in os.scandir(source):
        if entry.name == _META and not (target / _META).exists():
            (target / _META).write_bytes(Path(entry.path).read_bytes())
        elif _is_segment_file(entry.name):
            _link(Path(entry.path), target / entry.name)


def _link(source: Path, target: Path) -> None:
    try:
        target.hardlink_to(source)
    except OSError:  # a file system without hard links
        shutil.copyfile(source, target)


def _is_segment_file(name: str) -> bool:
    stem = name.partition(".")[0]
    return len(stem) == 32 and all(sign in "0123456789abcdef" for sign in stem)


def _unite(target: Path, portions: Sequence[Path]) -> None:
    """One list of segments, and the list of files that tantivy may remove when it has merged them."""
    meta = json.loads((target / _META).read_bytes())
    for portion in portions:
        other = json.loads((portion / _META).read_bytes())
        if other["schema"] != meta["schema"]:
            raise NephilaError(f"{portion} has other fields than the index; delete {target.parent} and run again.")
        meta["segments"] += other["segments"]
        meta["opstamp"] = max(meta["opstamp"], other["opstamp"])
    files = sorted(entry.name for entry in os.scandir(target) if _is_segment_file(entry.name))
    _write(target / _MANAGED, [*files, _META])
    _write(target / _META, meta)


def _write(path: Path, content: Any) -> None:
    """The generation is nobody's yet: a kill leaves it to be made anew, so plain writing will do."""
    path.write_text(json.dumps(content), encoding="utf-8")


def _strike_out(target: Path, remove: Any) -> None:
    files = sorted(entry.name for entry in os.scandir(target) if _is_segment_file(entry.name))
    _write(target / _MANAGED, [*files, _META])
    writer = open_index(target).writer(_HEAP_BYTES, 1)
    for page_id in remove.tolist():
        writer.delete_documents_by_term("page_id", page_id)
    writer.commit()
    writer.wait_merging_threads()


def _merge(target: Path) -> int:
    """Commit once, which makes tantivy merge small segments; gives the number of pages."""
    index = open_index(target)
    writer = index.writer(_HEAP_BYTES, 1)
    writer.commit()
    writer.wait_merging_threads()
    index.reload()
    return int(index.searcher().num_docs)
