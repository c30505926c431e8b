"""How hits read in a terminal: every text of the web inert, the words looked for in bold where there are colours."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from rich.console import Console
from rich.text import Text

from nephila.cli.output import inert

if TYPE_CHECKING:
    from nephila.search.results import Hit, Marks, Results

_MEASURE: Final = Console(width=200)  # wrapping asks a console how tabs and wide letters count


INDENT: Final = 5
_LEAST_WIDTH: Final = 20


def show(results: Results) -> None:
    """Print for a person; colours and bold only where the terminal has them, lines broken at its width."""
    console = Console(highlight=False, soft_wrap=False, markup=False, emoji=False)
    width = max(_LEAST_WIDTH, console.width - INDENT) if console.is_terminal else None
    console.print(rendered(results, width), soft_wrap=True)


def rendered(results: Results, width: int | None = None) -> Text:
    """All of it as styled text; what is longer than `width` goes on under its own beginning."""
    whole = Text()
    for remark in results.remarks:
        whole.append(inert(remark) + "\n", "yellow")
    for hit in results.hits:
        number = f"{hit.place:>3}  "
        for paragraph in _hit(hit):
            for line in paragraph.wrap(_MEASURE, width) if width else [paragraph]:
                line.rstrip()
                whole.append(number).append_text(line).append("\n")
                number = " " * INDENT
        whole.append("\n")
    return whole.append(_summary(results), "dim")


def _hit(hit: Hit) -> Iterator[Text]:
    yield _marked(hit.title or hit.url, hit.title_marks if hit.title else (), "bold cyan")
    yield Text(inert(hit.url), "green")
    if hit.snippet:
        yield _marked(hit.snippet, hit.snippet_marks, "")
    at = hit.published_at or hit.modified_at
    known = [f"{at:%Y-%m-%d}" if at else "", inert(hit.language), f"rank {hit.times_mean:.1f} × mean"]
    yield Text(" · ".join(filter(None, known)), "dim")
    if hit.explanation is not None:
        yield Text(inert(hit.explanation.line), "magenta")


def _marked(text: str, marks: Marks, style: str) -> Text:
    from nephila.search.results import pieces

    shown = Text()
    for piece, is_word in pieces(text, marks):
        shown.append(_one_line(inert(piece)), f"{style} bold underline".strip() if is_word else style)
    return shown


def _one_line(text: str) -> str:
    return text.replace("\n", " ").replace("\t", " ")


def _summary(results: Results) -> str:
    took = f"{results.seconds * 1000:.0f} ms"
    if not results.hits:
        return f"nothing found ({took})" if not results.total else f"no hits on page {results.page} ({took})"
    first, last = results.hits[0].place, results.hits[-1].place
    line = f"{first} to {last}; {results.total:,} pages match ({took})"
    if results.given_way:
        line += "; some gave way to better ones of their site or cluster: --all shows them"
    return line + (f"; --page {results.page + 1} shows more" if results.has_more else "")
