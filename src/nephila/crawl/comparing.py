"""Whether a site is another name of one on the same address: what is known is gathered, `aliases` decides (S0-9).

Sites on one address belong to one slot, so everything needed is at hand. Each address has a board: who is on it, in the
order in which they were opened, and which home pages they have. A newcomer is compared with those that were opened
before it and have its home page, so that 10,000 sites on one address are never compared in pairs; the one that was
opened first is the canonical one.
"""

from __future__ import annotations

from collections import defaultdict, deque
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

_SAMPLES: Final = 50
_WAITING: Final = Wait(float("inf"))
_NO_ANSWER: Final = b""


@dataclass(slots=True)
class Board:
    """One address: its sites that are no aliases, in the order in which they were opened."""

    order: dict[int, int] = field(default_factory=dict)  # number of the site → place
    homes: dict[bytes, list[int]] = field(default_factory=lambda: defaultdict(list))
    untried: deque[int] = field(default_factory=deque)  # in memory, and their home page was not asked for yet
    live: int = 0

    def place(self, number: int) -> int:
        return self.order.setdefault(number, len(self.order))


@dataclass(slots=True)
class Comparing:
    """The comparisons under way in one slot."""

    rule: AliasRule
    slot: Slot
    contexts: dict[int, SiteContext]
    _boards: dict[str, Board] = field(default_factory=dict)
    _sampled: dict[int, dict[int, list[Sampled]]] = field(default_factory=dict)
    _mine: dict[int, dict[str, bytes | None]] = field(default_factory=dict)  # answers of the newcomer's own seeds
    _crawled: dict[int, tuple[int, dict[str, bytes]]] = field(default_factory=dict)

    def begin(self, context: SiteContext) -> None:
        """A site came into memory: is there anybody on its address to compare it with?"""
        if self.rule == "off":
            context.compared = True
            return
        board = self._boards.get(context.address)
        if board is None:
            board = self._boards[context.address] = self._board(context)
        mine = board.place(context.number)
        board.live += 1
        context.compared = mine == 0 or context.requested > 0  # it has been collected: then it was found distinct
        if self.rule == "content":
            board.untried.append(context.number)
            if len(board.order) > 1:
                self._want_homes(board)

    def forget(self, context: SiteContext, *, is_alias: bool = False) -> None:
        """The site has left; what it is stays on the board as long as anybody on its address is in memory.

        An alias stays not: whoever comes is compared with the canonical site alone, not with its two hundred names.
        """
        self._sampled.pop(context.number, None)
        self._mine.pop(context.number, None)
        self._crawled.pop(context.number, None)
        board = self._boards.get(context.address)
        if board is None:
            return
        if is_alias and context.home is not None and context.number in board.homes[context.home]:
            board.homes[context.home].remove(context.number)
        board.live -= 1
        if board.live == 0:
            del self._boards[context.address]

    def is_alone(self, context: SiteContext) -> bool:
        """Whether no other site is known on its address."""
        board = self._boards.get(context.address)
        return board is None or len(board.order) == 1

    def next_step(self, context: SiteContext) -> AskSample | BecomeAlias | Wait | None:
        """What must happen before this site is collected; None: nothing, or its home page first."""
        if context.compared:
            return None
        board = self._boards[context.address]
        if self.rule == "ip":
            others = [number for number in board.order if board.order[number] < board.order[context.number]]
        else:
            if not context.home_tried:
                return None
            self._settle(board)
            if board.untried and board.order[board.untried[0]] < board.order[context.number]:
                return _WAITING
            others = self._with_my_home(board, context)
        step = self._among(context, board, others)
        if step is None:
            context.compared = True
        return step

    def answered(self, context: SiteContext, asked: AskSample, checksum: bytes | None) -> None:
        """One answer more; None stands for one that was not 200."""
        if asked.site == context.url and asked.expected is None:
            self._mine.setdefault(context.number, {})[asked.path] = checksum
            return
        if asked.site == context.url:
            sampled = Sampled(asked.path, on_canonical=asked.expected, on_other=checksum)
        else:
            sampled = Sampled(asked.path, on_canonical=checksum, on_other=asked.expected)
        self._sampled.setdefault(context.number, {}).setdefault(asked.other, []).append(sampled)

    def _board(self, context: SiteContext) -> Board:
        """Those that were collected before, in this run or an earlier one, in the order of their numbers."""
        homes = dict(self.slot.state.collected_on(context.address))
        for group in (self.slot.committing, self.slot.group):
            for row in group.sites.values():
                if row.address == context.address and row.state in ("done", "asleep"):
                    homes[row.site] = row.home
                elif row.state == "alias":
                    homes.pop(row.site, None)
        board = Board()
        for number, home in homes.items():
            if number not in self.contexts and number != context.number:
                board.place(number)
                if home is not None:
                    board.homes[home].append(number)
        return board

    def _want_homes(self, board: Board) -> None:
        for number in board.untried:
            if number in self.contexts:
                self.contexts[number].wants_home = True

    def _settle(self, board: Board) -> None:
        """Home pages that were asked for meanwhile go on the board."""
        while board.untried:
            live = self.contexts.get(board.untried[0])
            if live is not None and not live.home_tried:
                return
            number = board.untried.popleft()
            home = live.home if live is not None else self._home_of(number)
            if home is not None:
                board.homes[home].append(number)

    def _home_of(self, number: int) -> bytes | None:
        row = self.slot.row(number)
        return None if row is None or row.state == "alias" else row.home

    def _with_my_home(self, board: Board, context: SiteContext) -> list[int]:
        if context.home is None:
            return []
        mine = board.order[context.number]
        return [number for number in board.homes[context.home] if board.order[number] < mine]

    def _among(self, context: SiteContext, board: Board, others: list[int]) -> AskSample | BecomeAlias | Wait | None:
        me = self._about(context.number, board)
        known = {number: self._about(number, board) for number in others if number not in context.distinct_from}
        numbers = {about.site: number for number, about in known.items()}
        for candidate in candidates(me, known.values(), self.rule):
            step = self._with(context, me, candidate, numbers[candidate.site])
            if step is not None:
                return step
        return None

    def _with(
        self, context: SiteContext, me: OnAddress, other: OnAddress, number: int
    ) -> AskSample | BecomeAlias | Wait | None:
        if self.rule == "content":
            other = replace(other, crawled=self._crawled_of(number))
        match next_probe(other, me, self._sampled.get(context.number, {}).get(number, []), self.rule):
            case Alias(reason=reason):
                return BecomeAlias(number, reason)
            case Sample(site=site, path=path) if site == context.url:
                return AskSample(site, path, number, other.crawled[path])
            case Sample(site=site, path=path):
                # A path that only the newcomer's seeds name: asked here first, then of the canonical site.
                mine = self._mine.get(context.number, {})
                if path not in mine:
                    return AskSample(context.url, path, number)
                return AskSample(site, path, number, mine[path] or _NO_ANSWER)
            case NotYet() | CompareHomes() if number in self.contexts:
                return _WAITING
            case NotYet() | CompareHomes() | Distinct():
                context.distinct_from.add(number)
                return None

    def _crawled_of(self, number: int) -> dict[str, bytes]:
        """Some pages of the canonical site; looked up again only after it brought more."""
        live = self.contexts.get(number)
        requested = live.requested if live is not None else -1
        kept = self._crawled.get(number)
        if kept is not None and kept[0] == requested and len(kept[1]) > 1:
            return kept[1]
        crawled = dict(self.slot.state.samples(number, _SAMPLES))
        self._crawled[number] = (requested, crawled)
        return crawled

    def _about(self, number: int, board: Board) -> OnAddress:
        live = self.contexts.get(number)
        if live is not None:
            seeds = tuple(task.path for depth, _, task in live.tasks[:8] if depth == 0)
            return OnAddress(live.url, board.order[number], live.home, seed_paths=seeds)
        row = self.slot.row(number)
        assert row is not None, number
        return OnAddress(row.url, board.order[number], row.home, done=True)
