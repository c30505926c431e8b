"""Why a site is not asked for anything right now: one sentence, decided from its rows."""

from __future__ import annotations

from nephila.shown import RobotsShown, SiteLine
from nephila.store.control import Control


def waits_for(line: SiteLine, robots: RobotsShown | None, control: Control, next_at: float, now: float) -> str:
    """The strongest reason first: what a person asked for, what the site has come to, what manners ask for."""
    left = line.known - line.requested
    if line.state in ("done", "alias", "refused"):
        return _at_rest(line)
    if line.url in control.blocked:
        return "You have blocked it: it is asked for nothing, and its URLs wait."
    if control.paused:
        return "The crawl is paused."
    match line.state:
        case "new":
            return "It waits to be handed to an agent; its name is looked up then."
        case "asleep":
            why = f": {line.outcome}, {line.reason}".rstrip(" ,:") if line.outcome else ""
            return f"It is asleep{why}. The next run takes it up again{_in(next_at - now)}."
    if robots is not None and robots.standing == "unreachable":
        return f"Its robots.txt cannot be reached ({robots.reason}), which means no{_in(robots.next_ask_at - now)}."
    ready_in_s = (line.last_at or 0.0) + line.delay_s - now
    if ready_in_s > 0:
        return f"It was asked a moment ago and is left alone for {line.delay_s:g} s after each answer."
    if left > 0:
        return f"Its turn comes when its address may be asked; {left:,} of its URLs were not requested yet."
    return "Nothing of it waits at this moment."


def _at_rest(line: SiteLine) -> str:
    match line.state:
        case "alias":
            return f"It is another name of another site ({line.reason}), which is collected instead."
        case "refused":
            return f"It is not collected: {line.reason or line.outcome}."
        case _ if line.outcome:
            return f"Nothing of it can be asked: {line.outcome}{f', {line.reason}' if line.reason else ''}."
        case _:
            return "Everything known of it has been collected or decided."


def _in(seconds: float) -> str:
    return f", not before {seconds:,.0f} s from now" if seconds >= 1 else ""
