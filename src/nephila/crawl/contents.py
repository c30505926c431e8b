"""What is done with what is no HTML: a type or a name goes in, fetch, archive or skip comes out.

A type is known for certain only when its header has come; its name tells it before. What the header shows to be of a
type that is skipped has its body left on the wire; what the name shows is not asked for (rule `content` of the scope).
"""

from __future__ import annotations

from typing import Final

from nephila.config.sections import Content, Handling

FEED_TYPES: Final = frozenset({"application/rss+xml", "application/atom+xml", "application/rdf+xml"})
PDF_TYPES: Final = frozenset({"application/pdf", "application/x-pdf"})
ARCHIVE_ONLY: Final = "archive_only"
"""The flag of a page whose content is kept and not read."""

_PAGES: Final = frozenset({"", "text/html", "application/xhtml+xml"})
_SOURCES: Final = frozenset({"application/xml", "text/xml", "application/gzip", "application/x-gzip"})
"""Sitemaps are served as these; whoever skips everything else still wants to read them."""

# Only names that a page never has: `.php` or `.cgi` may be anything.
_NAMES: Final[dict[str, str]] = {
    **dict.fromkeys(("pdf",), "pdf"),
    **dict.fromkeys(("txt",), "text"),
    **dict.fromkeys(("rss", "atom"), "feeds"),
    **dict.fromkeys(
        ("png", "jpg", "jpeg", "gif", "webp", "svg", "ico", "bmp", "tif", "tiff", "avif", "psd"), "images"
    ),
    **dict.fromkeys(
        ("mp3", "mp4", "m4a", "m4v", "ogg", "ogv", "oga", "wav", "flac", "avi", "mov", "mkv", "webm", "wmv", "mpg",
         "mpeg", "flv"), "media"
    ),
    **dict.fromkeys(
        ("css", "js", "json", "woff", "woff2", "ttf", "otf", "eot", "zip", "tar", "gz", "tgz", "bz2", "xz", "7z", "rar",
         "exe", "msi", "dmg", "iso", "img", "bin", "deb", "rpm", "jar", "apk", "doc", "docx", "xls", "xlsx", "ppt",
         "pptx", "odt", "ods", "odp", "epub", "ps", "swf", "class"), "other"
    ),
}  # fmt: skip


def mime_of(content_type: str | None) -> str:
    """The type alone, in lower case; a header that is no type is none."""
    mime = (content_type or "").partition(";")[0].strip().lower()
    return mime if mime.isascii() and mime.count("/") == 1 and len(mime) <= 100 else ""


def group_of(mime: str) -> str:
    """The key of the section `content` for a type; empty for HTML, and for what has no type."""
    if mime in _PAGES:
        return ""
    if mime in PDF_TYPES:
        return "pdf"
    if mime == "text/plain":
        return "text"
    if mime in FEED_TYPES:
        return "feeds"
    if mime.startswith("image/"):
        return "images"
    return "media" if mime.startswith(("audio/", "video/")) else "other"


def handling_of(mime: str, content: Content) -> Handling:
    """What is done with a body of this type."""
    group = group_of(mime)
    if not group:
        return "fetch"
    handling: Handling = getattr(content, group)
    return "fetch" if handling == "skip" and mime in _SOURCES else handling


def handling_of_path(path: str, content: Content) -> Handling:
    """What is done with a URL of which only path and query are known; `fetch` where its name says nothing."""
    name = path.partition("?")[0].rpartition("/")[2]
    group = _NAMES.get(name.rpartition(".")[2].lower(), "") if "." in name else ""
    if not group or (group == "other" and name.endswith((".xml.gz", ".txt.gz"))):
        return "fetch"
    handling: Handling = getattr(content, group)
    return handling
