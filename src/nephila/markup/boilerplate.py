"""The main text of a page: what is left of its tree without menus, footers, forms, adverts and what is hidden.

Rules on elements, their roles and the words in their class and id, as the field's extractors have them, and one rule
of their own for lists: a list whose text is mostly links is a menu. Where next to nothing is left, as on a page that
is a table of contents, all text is the main text.
"""

from __future__ import annotations

import re
from typing import Final

from turbohtml import Document, Element, PlainText, parse

UNSEEN: Final = "script,style,template,title"
_NO_TEXT: Final = "noscript,textarea,input,button,select,object,video,audio,embed,iframe,svg,canvas,dialog"
_ELEMENTS: Final = "nav,footer,aside"
_ROLES: Final = ("alert", "checkbox", "contentinfo", "dialog", "menu", "menubar", "menuitem", "navigation", "radio",
                 "search")  # fmt: skip
_HIDDEN: Final = (
    '[hidden],[aria-hidden="true"],[style*="display:none" i],[style*="display: none" i],[style*="visibility:hidden" i]'
)
_CONTAINERS: Final = ("div", "section", "ul", "table", "td")
_WORDS: Final = (
    "ad", "ads", "advert", "advertisement", "banner", "breadcrumb", "breadcrumbs", "collapsed", "dropdown", "footer",
    "hidden", "invisible", "lightbox", "menu", "modal", "nav", "navbar", "navfooter", "navheader", "navigation",
    "page-footer", "popup", "promoted", "search", "searchbox", "share", "sharing", "sidebar", "site-footer",
    "skip", "skiplink", "social",
)  # fmt: skip
_NAMED: Final = ",".join(f".{word},#{word}" for word in _WORDS)
# Written so that the engine can pass over most elements by their name or for lack of the attribute.
_BOILERPLATE: Final = ",".join(
    [f":is({_NO_TEXT},{_ELEMENTS})", f"[role]:is({','.join(f'[role={role}]' for role in _ROLES)})", _HIDDEN,
     *(f"{name}:is({_NAMED})" for name in _CONTAINERS)]
)  # fmt: skip
_LISTS: Final = "ul,ol,menu"
_MENU_LINKS: Final = 3
_MENU_SHARE: Final = 0.7
_LEAST_SHARE: Final = 0.1
# The layout of lists and tables loses what lies in them outside their items and cells, and joins paragraphs in cells;
# as plain blocks they keep every word in a line of its own.
_BLOCKS: Final = ("table,caption,thead,tbody,tfoot,tr,td,th,center,ul,ol,li,menu,dir,form,fieldset,legend,hgroup,"
                  "listing,blockquote")  # fmt: skip
_LAYOUT: Final = PlainText(layout="strict")
_EMPTY_LINES: Final = re.compile("\n\n\n+")


def main_text(tree: Document, html: str) -> str:
    """The main text, in paragraphs; changes the tree, from which what is unseen was taken before."""
    body = tree.select_one("body")
    if body is None:
        return _without_frames(tree)
    most = len(body.text)
    tree.remove(_BOILERPLATE)
    for found in body.select(_LISTS):
        if _is_menu(found):
            found.extract()
    text = _lay_out(body)
    return text if len(text) > most * _LEAST_SHARE else _all_text(html)


def _is_menu(found: Element) -> bool:
    links = found.select("a")
    if len(links) < _MENU_LINKS:
        return False
    return sum(_letters(link.text) for link in links) > _letters(found.text) * _MENU_SHARE


def _letters(text: str) -> int:
    return len("".join(text.split()))


def _all_text(html: str) -> str:
    tree = parse(html)
    tree.remove(f"{UNSEEN},{_NO_TEXT}")
    body = tree.select_one("body")
    return _lay_out(body) if body is not None else ""


def _without_frames(tree: Document) -> str:
    """What a page of frames says to those who see none."""
    found = tree.select_one("noframes")
    return _all_text(found.text) if found is not None else ""


def _lay_out(body: Element) -> str:
    for block in body.select(_BLOCKS):
        block.tag = "div"
    return _EMPTY_LINES.sub("\n\n", body.to_text(_LAYOUT))
