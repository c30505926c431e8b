"""Whether a site is another name of one on the same address: what is known is gathered, `aliases` decides (S0-9).

Sites on one address belong to one slot, so everything needed is at hand: contexts in memory, rows on disk.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field, replace
from typing import Final

from nephila.crawl.aliases import (
    Alias,
    AliasRule,
    CompareHomes,
    Distinct,
    NotYet,
    OnAddress,
    Sample,
    Sampled,
    candidates,
    next_probe,
)
from nephila.crawl.site import AskSample, BecomeAlias, SiteContext, Wait
from nephila.crawl.slot import Slot

FOUND_LATER: Final = 1 << 40
"""Sites named by the user come before all that were found."""

_SAMPLES: Final = 50
_WAITING: Final = Wait(float("inf"))
_NO_ANSWER: Final = b""


@dataclass(slots=True)
class Comparing:
    """The comparisons under way in one slot."""

    rule: AliasRule
    slot: Slot
    contexts: dict[int, SiteContext]
    _earlier: dict[int, list[int]] = field(default_factory=dict)
    _sampled: dict[tuple[int, int], list[Sampled]] = field(default_factory=lambda: defaultdict(list))
    _mine: dict[tuple[int, str], bytes | None] = field(default_factory=dict)  # answers of the newcomer's own seeds

    def begin(self, context: SiteContext) -> None:
        """A site came into memory: which others must it be compared with?"""
        earlier = [] if self.rule == "off" else self._others(context)
        context.compared = not earlier
        self._earlier[context.number] = earlier
        if self.rule == "content" and earlier:
            context.wants_home = True
            for number in earlier:
                if number in self.contexts:
                    self.contexts[number].wants_home = True

    def forget(self, context: SiteContext) -> None:
        for number in self._earlier.pop(context.number, ()):
            self._sampled.pop((context.number, number), None)

    def next_step(self, context: SiteContext) -> AskSample | BecomeAlias | Wait | None:
        """What must happen before this site is collected; None: nothing, or its home page first."""
        if context.compared:
            return None
        others = {number: self._about(number) for number in self._earlier[context.number]}
        if self.rule == "content":
            if not context.home_tried:
                return None
            if any(number in self.contexts and not self.contexts[number].home_tried for number in others):
                return _WAITING
        me = self._about_live(context)
        numbers = {about.site: number for number, about in others.items()}
        for candidate in candidates(me, others.values(), self.rule):
            step = self._with(context, me, candidate, numbers[candidate.site])
            if step is not None:
                return step
        context.compared = True
        return None

    def answered(self, context: SiteContext, asked: AskSample, checksum: bytes | None) -> None:
        """One answer more; None stands for one that was not 200."""
        if asked.site == context.url and asked.expected is None:
            self._mine[context.number, asked.path] = checksum
            return
        if asked.site == context.url:
            sampled = Sampled(asked.path, on_canonical=asked.expected, on_other=checksum)
        else:
            sampled = Sampled(asked.path, on_canonical=checksum, on_other=asked.expected)
        self._sampled[context.number, asked.other].append(sampled)

    def _with(
        self, context: SiteContext, me: OnAddress, other: OnAddress, number: int
    ) -> AskSample | BecomeAlias | Wait | None:
        if number in context.distinct_from:
            return None
        if self.rule == "content":
            other = replace(other, crawled=dict(self.slot.state.samples(number, _SAMPLES)))
        match next_probe(other, me, self._sampled[context.number, number], self.rule):
            case Alias(reason=reason):
                return BecomeAlias(number, reason)
            case Sample(site=site, path=path) if site == context.url:
                return AskSample(site, path, number, other.crawled[path])
            case Sample(site=site, path=path):
                # A path that only the newcomer's seeds name: asked here first, then of the canonical site.
                if (context.number, path) not in self._mine:
                    return AskSample(context.url, path, number)
                return AskSample(site, path, number, self._mine[context.number, path] or _NO_ANSWER)
            case NotYet() | CompareHomes() if number in self.contexts:
                return _WAITING
            case NotYet() | CompareHomes() | Distinct():
                context.distinct_from.add(number)
                return None

    def _others(self, context: SiteContext) -> list[int]:
        """The sites on the address that come before this one, whatever has become of them, but no aliases."""
        mine = _order(context.number, given=context.given)
        return [
            row.site
            for row in self.slot.state.sites_on(context.address)
            if row.site != context.number
            and row.site not in context.distinct_from
            and row.state != "alias"
            and _order(row.site, given=row.given) < mine
        ]

    def _about(self, number: int) -> OnAddress:
        live = self.contexts.get(number)
        if live is not None:
            return self._about_live(live)
        row = self.slot.row(number)
        assert row is not None, number
        return OnAddress(row.url, _order(number, given=row.given), row.home, done=True)

    def _about_live(self, context: SiteContext) -> OnAddress:
        seeds = tuple(task.path for depth, _, task in context.tasks[:8] if depth == 0)
        return OnAddress(context.url, _order(context.number, given=context.given), context.home, seed_paths=seeds)


def _order(number: int, *, given: bool) -> int:
    return number if given else FOUND_LATER + number
