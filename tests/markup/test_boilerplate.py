"""The main text: menus go, words stay."""

from __future__ import annotations

import tarfile
from pathlib import Path

import pytest
from turbohtml import parse

from nephila.markup.boilerplate import UNSEEN, _lay_out, main_text
from nephila.markup.text import read_text

PROSE = "This paragraph is the text of the page, and long enough to be it. " * 3


def text_of(html: str) -> str:
    tree = parse(html)
    tree.remove(UNSEEN)
    return main_text(tree, html)


@pytest.mark.parametrize(
    "menu",
    [
        "<nav>{}</nav>",
        "<footer>{}</footer>",
        '<div class="navheader">{}</div>',
        '<td id="footer">{}</td>',
        '<div role="navigation">{}</div>',
        "<p hidden>{}</p>",
        '<div style="color: red; display:none">{}</div>',
        "<form><select><option>{}</select></form>",
        "<script>{}</script>",
        "<noscript>{}</noscript>",
    ],
)
def test_what_is_no_text_of_the_page_goes(menu: str) -> None:
    found = text_of(f"<title>t</title><table><tr>{menu.format('menu')}<td><p>{PROSE}</table>")
    assert "menu" not in found and "long enough" in found


def test_a_list_of_links_is_a_menu_and_a_list_of_sentences_is_text() -> None:
    links = "".join(f'<li><a href="{name}">{name}</a>' for name in ("home", "news", "contact"))
    sentences = '<li>The first reason, <a href="x">see there</a>, is long.<li>The second is longer.<li>A third.'
    found = text_of(f"<ul>{links}</ul><p>{PROSE}</p><ul>{sentences}</ul>")
    assert "contact" not in found
    assert "The first reason, see there, is long." in found and "A third." in found


def test_a_page_that_is_a_table_of_contents_keeps_it() -> None:
    chapters = "".join(f'<li><a href="{n}.html">Chapter {n}: of many things</a>' for n in range(50))
    assert "Chapter 49" in text_of(f"<h1>Contents</h1><ul>{chapters}</ul>")


def test_cells_items_and_what_lies_between_them_keep_their_words_apart() -> None:
    """Pages of old indent with lists that have no items, and lay out with tables."""
    html = f"<p>{PROSE}</p><ul>indented<li>item</ul><table><caption>about</caption><tr><td>one<td>two<p>three</table>"
    assert text_of(html).split()[-6:] == ["indented", "item", "about", "one", "two", "three"]


def test_a_page_of_frames_says_what_it_says_without_them() -> None:
    html = "<html><frameset><frame src=a><noframes><p>Your browser</p> shows no frames.</noframes></frameset></html>"
    assert text_of(html) == "Your browser\n\nshows no frames."
    assert read_text(html).visible_bytes == 0


def test_every_word_of_the_korean_manual_is_laid_out(data: Path) -> None:
    """What the tree holds and what is laid out are the same letters in the same order."""
    with tarfile.open(data / "html" / "apache_manual_ko_mod.tar.gz") as tar:
        opened = [tar.extractfile(entry) for entry in tar if entry.isfile()]
        bodies = [file.read() for file in opened if file]
    compared = 0
    for body in bodies:
        tree = parse(body.decode("cp949" if b"euc-kr" in body[:500].lower() else "utf-8", "replace"))
        tree.remove(UNSEEN + ",svg,select,datalist")
        page = tree.select_one("body")
        if page is None:
            continue
        letters = "".join(page.text.split())
        assert "".join(_lay_out(page).split()) == letters
        compared += len(letters)
    assert compared > 100_000
