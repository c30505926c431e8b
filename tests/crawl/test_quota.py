"""Limits of pages over all slots: shared out, asked back, and reached only when nobody has any left."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from nephila.config.sections import Crawl
from nephila.crawl.collecting import PAGES_PURSE
from nephila.crawl.messages import Credit, Exhausted, Findings, GiveBack, Orders
from nephila.crawl.quota import Quota
from nephila.crawl.site_list import Admission, SiteList

ADMISSION = Admission(follow_links=True, max_sites=None)


class Office:
    """A quota with what it sent, and slots that answer by hand."""

    def __init__(self, path: Path, max_pages: int) -> None:
        self.sites = SiteList(path, 2)
        self.granted: list[tuple[int, int]] = []
        self.asked: list[GiveBack] = []
        self._sequences = [0, 0]
        self.quota = Quota(replace(Crawl(), max_pages=max_pages), self.sites, self._post, self._ask, self._tell_all)

    async def returns(self, slot: int, pages: int, asking: int = 0) -> None:
        self._sequences[slot] += 1
        findings = Findings(slot, self._sequences[slot], returned=(Credit(PAGES_PURSE, pages, asking),))
        self.sites.apply(findings, ADMISSION, 0.0)
        await self.quota.found(findings)

    async def _post(self, orders: list[Orders]) -> None:
        self.granted += [(parcel.slot, credit.pages) for parcel in orders for credit in parcel.credits]

    async def _ask(self, message: GiveBack) -> None:
        self.asked.append(message)

    async def _tell_all(self, message: Exhausted) -> None:
        raise AssertionError(message)


@pytest.fixture
async def office(tmp_path: Path) -> Office:
    opened = Office(tmp_path / "coordinator.db", max_pages=2)
    for slot in (0, 1):
        await opened.returns(slot, 0)  # the account that each slot gives when it comes up
    return opened


async def test_credit_that_one_slot_does_not_need_goes_to_another(office: Office) -> None:
    await office.quota.starves(0, PAGES_PURSE)
    await office.quota.starves(1, PAGES_PURSE)
    assert office.granted == [(0, 1), (1, 1)]
    await office.quota.starves(0, PAGES_PURSE)
    assert [(message.slot, message.asking) for message in office.asked] == [(0, 1), (1, 1)]
    await office.returns(1, 1, asking=1)
    assert office.granted[2:] == [(0, 1)]
    assert not office.quota.is_used_up


async def test_a_late_answer_to_an_earlier_asking_does_not_end_the_crawl(office: Office) -> None:
    # given a slot that was asked while its page was under way, and credit that came from another meanwhile
    for slot in (0, 1, 0):
        await office.quota.starves(slot, PAGES_PURSE)
    await office.returns(1, 1, asking=1)
    # when all is given out again, and its answer to the first asking comes after the second
    await office.quota.starves(1, PAGES_PURSE)
    assert {message.asking for message in office.asked[2:]} == {2}
    await office.returns(0, 0, asking=1)
    await office.returns(1, 0, asking=2)
    # then it may still have a page to ask for, and is waited for
    assert not office.quota.is_used_up
    await office.returns(0, 0, asking=2)
    assert office.quota.is_used_up
