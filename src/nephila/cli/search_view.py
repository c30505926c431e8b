"""How hits read in a terminal: every text of the web inert, the words looked for in bold where there are colours."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from nephila.cli.output import inert

if TYPE_CHECKING:
    from nephila.search.results import Hit, Marks, Results


def show(results: Results) -> None:
    """Print for a person; colours and bold only where the terminal has them."""
    console = Console(highlight=False, soft_wrap=False, markup=False, emoji=False)
    console.print(rendered(results))


def as_text(results: Results) -> str:
    """The same without colours."""
    return rendered(results).plain


def rendered(results: Results) -> Text:
    """All of it as styled text."""
    whole = Text()
    for remark in results.remarks:
        whole.append(inert(remark) + "\n", "yellow")
    for hit in results.hits:
        whole.append_text(_hit(hit)).append("\n")
    return whole.append(_summary(results), "dim")


def _hit(hit: Hit) -> Text:
    lines = Text(f"{hit.place:>3}  ")
    lines.append_text(_marked(hit.title or hit.url, hit.title_marks if hit.title else (), "bold cyan")).append("\n")
    lines.append(f"     {inert(hit.url)}\n", "green")
    if hit.snippet:
        lines.append("     ").append_text(_marked(hit.snippet, hit.snippet_marks, "")).append("\n")
    at = hit.published_at or hit.modified_at
    known = [f"{at:%Y-%m-%d}" if at else "", inert(hit.language), f"rank {hit.times_mean:.1f} × mean"]
    lines.append("     " + " · ".join(filter(None, known)) + "\n", "dim")
    if hit.explanation is not None:
        lines.append(f"     {inert(hit.explanation.line)}\n", "magenta")
    return lines


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
