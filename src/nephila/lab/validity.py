"""From when to when a URL of the lab answers as it does now: until it changes, goes, comes back, or lists what is new.

A home page, or a page without children, may be down for a whole batch; a list changes with the URLs below it; a
redirect with the URL it leads to. What none of these ends is valid for as long as was looked (`until` None).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from nephila.lab.card import Card
from nephila.lab.change import BATCH_S, next_change
from nephila.lab.fates import Fate
from nephila.lab.holders import Holder
from nephila.lab.lives import is_list
from nephila.lab.pages import original
from nephila.lab.paths import place_of
from nephila.lab.skeleton import Skeleton
from nephila.lab.web import Web

_WINDOWS: Final = 25  # of a batch each, about the 60 days that changes are looked for


def validity(
    web: Web, card: Card, skeleton: Skeleton, page: int, generation: int, fate: Fate, now: float
) -> tuple[float, float | None]:
    """(since, until) of what a page's URL answers now."""
    if web.law.profile == "survey":
        return web.clock_origin, None
    since = [web.clock_origin]
    until: list[float] = []
    for holder in _holders(web, card, skeleton, page, generation, fate, now):
        since.append(holder.since)
        if holder.until is not None:
            until.append(holder.until)
    itself = web.holders.found(card.model, skeleton, page, generation, now)
    if itself is not None:
        since.append(itself.since)
        until += [itself.gone_at] if itself.gone_at is not None else []
    if fate is Fate.OK:
        shown = original(skeleton, page)
        since.append(web.version(card, skeleton, shown, now, generation).since)
        rate = web.rate_per_day(card, skeleton, shown, generation)
        change = next_change(web.law, card.model, shown, rate, now, generation=generation)
        until += [change] if change is not None else []
    if itself is not None:
        since += _turns(web, card, skeleton, page, generation, fate, now, -1)
        until += _turns(web, card, skeleton, page, generation, fate, now, +1)
    return max(moment for moment in since if moment <= now), min(until, default=None)


def _holders(
    web: Web, card: Card, skeleton: Skeleton, page: int, generation: int, fate: Fate, now: float
) -> Iterator[Holder]:
    """Of the places that a page's bytes name."""
    if fate in (Fate.MOVED, Fate.FOUND):
        origin, path = web.redirect_target(card, skeleton, page, now)
        target = place_of(card.paths, path, skeleton.pages) if origin == card.origin else None
        if target is not None:
            yield web.holders.now(card.model, skeleton, target[0], now)
    elif fate is Fate.OK and is_list(web.law, card.model, page):
        for child in range(skeleton.first_child.item(page), skeleton.first_child.item(page + 1)):
            yield web.holders.now(card.model, skeleton, child, now)


def _turns(
    web: Web, card: Card, skeleton: Skeleton, page: int, generation: int, fate: Fate, now: float, step: int
) -> list[float]:
    """The nearest border between two batches, before or after now, beyond which the page has another fate."""
    if skeleton.fate.item(page) != Fate.OK:
        return []
    window = int((now - web.clock_origin) // BATCH_S)
    for number in range(1, _WINDOWS + 1):
        other = window + step * number
        middle = web.clock_origin + (other + 0.5) * BATCH_S
        if other < 0:
            return []
        down = web.fate(card, skeleton, page, middle, generation) if page == 0 else (
            Fate.SERVER_ERROR if web.law.faults and web.holders.away(card.model, skeleton, page, middle) else Fate.OK
        )  # fmt: skip
        if down is not fate:
            return [web.clock_origin + (max(other, other - step)) * BATCH_S]
    return []
