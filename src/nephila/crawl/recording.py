"""What a fetched page changes: its own row, the URLs it makes known, the links it sends to other sites.

`record_page` is called once per answer, in the loop, and fills the slot's group; nothing here waits.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from nephila.config.sections import Sources
from nephila.crawl.contents import ARCHIVE_ONLY, handling_of
from nephila.crawl.fetcher import Fetched
from nephila.crawl.focusing import Stance, strayed_after
from nephila.crawl.group import FoundPage, OutsideUrl, Seen, Visited
from nephila.crawl.harvest import NO_SOURCES, WITH_CONTENT, Harvest, Reads, harvest_or_nothing, is_html
from nephila.crawl.messages import OutLink
from nephila.crawl.outcome import Hop, after_redirect, after_visit
from nephila.crawl.revisiting import judge
from nephila.crawl.scope import Candidate, Verdict, decide, rule_of, tally_of, url_candidate
from nephila.crawl.setup import Setup
from nephila.crawl.site import HOME, SiteContext
from nephila.crawl.slot import Slot
from nephila.crawl.slot_state import PageTask
from nephila.crawl.trapped import Brought
from nephila.crawl.traps import branch_of, pattern_of, shape_refusal
from nephila.records import LinkKind, Outcome
from nephila.urls import Refusal, host_of, join, split, url_hash

SEED_KIND: Final = "s"
REDIRECT_KIND: Final = "r"


def record_page(setup: Setup, slot: Slot, context: SiteContext, task: PageTask, fetched: Fetched) -> None:
    """Put one page's answer into the group, and the page back into its site's queue if it is to be tried again."""
    crawl = setup.config.crawl
    if task.is_new:
        slot.group.pages += 1
        setup.counts.pages += 1
        context.requested += 1
    count_request(setup, context, fetched)
    if setup.config.schedule.learn:  # of pages alone: a robots.txt is a file, and comes as quickly at noon as at night
        setup.hours.note(context.url, fetched)
    tries = task.tries + 1
    next_try = after_visit(fetched.outcome, fetched.status, tries, context.retries, crawl.retry_wait)
    if next_try.wait_s is not None:
        slot.visit(_visited(context, task, fetched, todo=True, seen=Seen.UNTOLD), task.outcome)
        again = replace(task, tries=tries, outcome=fetched.outcome)
        context.try_later(again, setup.clock.monotonic() + next_try.wait_s)
        return
    if task.depth == 0 and (context.seed_outcome is None or task.hash in context.asked_again):
        context.seed_outcome = fetched.outcome
    held = context.hold(task, fetched)
    if held and context.asked_again.get(task.hash):
        next_try = replace(next_try, archived=False)  # an error answer of it is in the archive already
    if not fetched.status:
        slot.visit(_visited(context, task, fetched, todo=held, seen=Seen.UNTOLD), task.outcome)
        return
    url = context.url + task.path
    reads = reads_of(setup.config.sources, task.kind)
    name, most = setup.config.net.user_agent, crawl.max_links_per_page
    brought = harvest_or_nothing(url, fetched, setup.strip, name, most, setup.joined, reads)
    if fetched.skipped:
        slot.group.tallies["page:skipped"] += 1
        brought = replace(brought, checksum=None, payload_sha1=None)
    elif setup.archives_some and handling_of(brought.mime, setup.config.content) == "archive":
        slot.group.tallies["page:archived"] += 1
        brought = replace(brought, links=(), targets=(), is_read=False)
    slot.group.refused.update({refusal.value: count for refusal, count in brought.refused.items()})
    seen = None if task.kept is None else judge(task.kept, fetched, brought.checksum, setup.config.refresh.gone_after)
    if seen is not None and seen is not Seen.CHANGED:
        if seen is Seen.AS_IT_WAS and task.kept is not None and fetched.outcome is Outcome.NOT_MODIFIED:
            brought = replace(brought, checksum=task.kept.checksum)
        slot.visit(
            _visited(context, task, fetched, archived=next_try.archived, brought=brought, seen=seen), task.outcome
        )
        return
    if task.path == HOME:
        context.home_tried = True
        context.home = brought.checksum if fetched.status == 200 else None
    visited = _visited(context, task, fetched, archived=next_try.archived, brought=brought, seen=seen)
    if fetched.outcome is Outcome.REDIRECT:
        visited = _redirected(setup, slot, context, task, fetched, visited)
    elif fetched.outcome in WITH_CONTENT and not fetched.skipped:
        visited = _with_content(slot, context, task, visited)
        is_page = is_html(brought.mime, fetched.payload)
        soft = is_page and context.traps.is_soft_404(task.path, fetched.payload, trusted=context.given)
        if soft:
            visited = replace(visited, flags=f"{visited.flags} soft404".strip())
        new = NOTHING_NEW
        stance = (
            _stance(setup, slot, task, fetched) if setup.focus is not None and is_page and not soft else Stance.UNTOLD
        )
        if stance.is_off:
            visited = replace(visited, flags=f"{visited.flags} off:{stance.value}".strip())
        if (
            not soft
            and _follows(setup, task, brought, visited)
            and _lets_follow(setup, slot, context, task, stance, brought)
        ):
            strayed = strayed_after(stance, task.strayed, is_seed=task.kind == SEED_KIND)
            via_duplicate = visited.duplicate_of is not None
            new = _follow(setup, slot, context, task, brought, via_duplicate=via_duplicate, strayed=strayed)
        came = Brought(
            is_page, visited.duplicate_of is not None, soft, new.outside_pattern, new.outside_branch,
            new.inside_pattern, new.inside_branch, task.depth,
        )  # fmt: skip
        for row in context.traps.learn(task.path, fetched.payload, came) if task.kept is None else ():
            slot.group.patterns[context.number, row.pattern] = row
    elif fetched.status in (404, 410):
        context.traps.was_missing()
    slot.visit(visited, task.outcome)


def record_older(setup: Setup, slot: Slot, context: SiteContext, task: PageTask, fetched: Fetched) -> None:
    """An answer from before the one that is kept, out of an archive: one more visit, and the page stays as it is."""
    count_request(setup, context, fetched)
    crawl = setup.config.crawl
    url = context.url + task.path
    brought = harvest_or_nothing(url, fetched, setup.strip, setup.config.net.user_agent, crawl.max_links_per_page)
    visited = _visited(context, task, fetched, archived=True, brought=brought)
    is_first = False
    if fetched.outcome in WITH_CONTENT and brought.checksum is not None:
        is_first = brought.checksum not in context.contents
        context.contents.first(brought.checksum, task.hash)
    slot.visit(replace(visited, seen=Seen.OLDER, kept=None, first_of_content=is_first), None)


def _stance(setup: Setup, slot: Slot, task: PageTask, fetched: Fetched) -> Stance:
    """Whether the page is on topic and in a language that is wanted."""
    assert setup.focus is not None
    stance = setup.focus.judge(fetched.payload, fetched.header("content-type"))
    if stance is not Stance.UNTOLD and task.kept is None:
        slot.group.tallies[f"page:{stance.value}"] += 1
    return stance


def _lets_follow(
    setup: Setup, slot: Slot, context: SiteContext, task: PageTask, stance: Stance, brought: Harvest
) -> bool:
    """Whether links may be followed from here; if not, each is left out by the rule that says so."""
    if not stance.is_off or task.kind == SEED_KIND:
        return True
    strayed = strayed_after(stance, task.strayed)
    candidate = Candidate(
        context.url, host_of(context.url), None, from_seeds=True, strayed=strayed, astray=stance.value
    )  # fmt: skip
    verdict = decide(candidate, setup.scope)
    if verdict.inside:
        return True
    for url in dict.fromkeys(link.url for link in brought.links):
        refuse(setup, slot, url, context.url + task.path, verdict)
    return False


def reads_of(sources: Sources, kind: str) -> Reads:
    """Whether a page that was found in this way is read where it is a sitemap or a feed."""
    sitemaps = sources.sitemaps != "off" and (sources.sitemaps != "seeds" or kind in (SEED_KIND, LinkKind.SITEMAP))
    feeds = sources.feeds == "all" or (sources.feeds == "seeds" and kind == SEED_KIND)
    if not sitemaps and not feeds:
        return NO_SOURCES
    most = sources.max_sitemap_urls
    return Reads(sitemaps, feeds, most if most is not None else 10**9)


def count_request(setup: Setup, context: SiteContext, fetched: Fetched) -> None:
    """Every request counts, whatever its role."""
    setup.counts.requests += 1
    setup.counts.received_bytes += fetched.received_bytes
    setup.counts.outcomes[fetched.outcome.value] += 1
    context.received_bytes += fetched.received_bytes
    context.last_ms = round(fetched.total_ms)
    context.first_at = context.first_at or fetched.started_at
    context.last_at = fetched.started_at


def offer(
    setup: Setup, slot: Slot, context: SiteContext, path: str, referrer: str, kind: str, depth: int,
    *, hops: int = 0, via_duplicate: bool = False, seed: bool = False, strayed: int = 0,
) -> bool:  # fmt: skip
    """A URL of this site was found: it is known from now on, and waits if nothing speaks against it."""
    key = url_hash(path)
    if not context.seen.add(key):
        return False
    place, context.known = context.known, context.known + 1
    outcome, reason = _fate(setup, context, path, depth, seed=seed)
    now = setup.clock.now()
    page = FoundPage(
        context.number, key, path, depth, place, outcome, reason, now, referrer, kind, hops, via_duplicate, seed,
        strayed,
    )  # fmt: skip
    slot.find(page)
    if outcome is Outcome.WAITING:
        came_from = referrer if hops else ""
        context.push(PageTask(depth, place, key, path, hops, via_duplicate, 0, outcome, came_from, kind, strayed))
    elif outcome in (Outcome.SCOPE_REJECTED, Outcome.FORGOTTEN):
        slot.group.tallies[tally_of(rule_of(reason))] += 1
    return True


def report(setup: Setup, slot: Slot, url: str, referrer: str, kind: str, hops: int = 0, strayed: int = 0) -> bool:
    """A URL of another site was found: the coordinator is told, unless it is out of scope. False: reported lately."""
    if not setup.reported.add(url_hash(url)):
        return False
    # Whose seeds are known is the coordinator's business; in mode `parties` no link between sites is followed.
    verdict = decide(url_candidate(url, from_seeds=setup.scope.mode != "parties"), setup.scope)
    if verdict.inside:
        slot.group.links.append(OutLink(url, referrer, kind, hops, strayed))
    else:
        refuse(setup, slot, url, referrer, verdict)
    slot.touch()
    return True


def refuse(setup: Setup, slot: Slot, url: str, referrer: str, verdict: Verdict) -> None:
    """A URL is left out where it was found; found again elsewhere it may be let in."""
    assert verdict.outcome is not None
    slot.group.outside.append(OutsideUrl(url, verdict.outcome, verdict.reason, referrer, setup.clock.now()))
    slot.group.tallies[tally_of(verdict.rule)] += 1
    slot.touch()


def _leave_out(setup: Setup, slot: Slot, url: str, referrer: str) -> None:
    """A URL of another site is left out because of the depth; it is let in when the limit is changed."""
    slot.group.outside.append(OutsideUrl(url, Outcome.LIMIT, "crawl.max_depth", referrer, setup.clock.now()))
    slot.touch()


def _fate(setup: Setup, context: SiteContext, path: str, depth: int, *, seed: bool) -> tuple[Outcome, str]:
    max_depth = setup.config.crawl.max_depth
    if max_depth is not None and depth > max_depth:
        return Outcome.LIMIT, "crawl.max_depth"
    verdict = decide(Candidate(context.url, host_of(context.url), path, True, seed), setup.scope)
    if not verdict.inside:
        assert verdict.outcome is not None
        return verdict.outcome, verdict.reason
    trapped = None if seed else shape_refusal(path, setup.traps.keys) or context.traps.refusal(path, setup.traps)
    if trapped is not None and not setup.traps.lets_in(context.url + path):
        return Outcome.TRAP_REJECTED, trapped
    return Outcome.WAITING, ""


def _visited(
    context: SiteContext, task: PageTask, fetched: Fetched,
    *, todo: bool = False, archived: bool = False, brought: Harvest | None = None, seen: Seen | None = None,
) -> Visited:  # fmt: skip
    flags = []
    if brought is not None:
        flags = [
            *(["noindex"] if not brought.robots.index else []),
            *(["nofollow"] if not brought.robots.follow else []),
        ]
    if brought is not None and brought.unread:
        flags.append(f"unread:{brought.unread}")
    if fetched.truncated:
        flags.append(f"truncated:{fetched.truncated}")
    if brought is not None and not brought.is_read:
        flags.append(ARCHIVE_ONLY)
    return Visited(
        site=context.number,
        site_url=context.url,
        hash=task.hash,
        path=task.path,
        role="page",
        fetched=fetched,
        outcome=fetched.outcome,
        reason=fetched.reason,
        archived=archived and bool(fetched.raw_header),
        checksum=brought.checksum if brought is not None else None,
        payload_sha1=brought.payload_sha1 if brought is not None else None,
        todo=todo,
        tries=task.tries + 1,
        mime=brought.mime if brought is not None else "",
        link_kinds=brought.link_kinds if brought is not None else "",
        flags=" ".join(flags),
        links=brought.links if brought is not None else (),
        link_count=brought.link_count if brought is not None else 0,
        seen=seen if task.kept is not None else None,
        kept=task.kept,
    )


def _redirected(
    setup: Setup, slot: Slot, context: SiteContext, task: PageTask, fetched: Fetched, visited: Visited
) -> Visited:
    """Each hop is a URL of its own, with its own robots and address check; chains and loops end (N3)."""
    url = context.url + task.path
    target = join(url, (fetched.header("location") or "").strip(), setup.strip)
    if isinstance(target, Refusal):
        return replace(visited, outcome=Outcome.HTTP_ERROR, reason=f"redirect to nowhere: {target.value}")
    visited = replace(visited, redirect_to=target)
    hop = after_redirect(task.hops, target, (url, task.came_from), setup.config.crawl.max_redirects)
    if hop is not Hop.FOLLOW:
        return replace(visited, outcome=Outcome(hop.value))
    hops, strayed = task.hops + 1, task.strayed
    _go(setup, slot, context, target, url, REDIRECT_KIND, task.depth, hops, task.via_duplicate, strayed)
    return visited


def _with_content(slot: Slot, context: SiteContext, task: PageTask, visited: Visited) -> Visited:
    """S0-14: whether this content is new in the site."""
    assert visited.checksum is not None
    first = context.contents.first(visited.checksum, task.hash)
    context.contents.let_go(slot.filling, slot.written)
    if first == task.hash:
        return replace(visited, first_of_content=visited.archived)
    return replace(visited, duplicate_of=first)


def _follows(setup: Setup, task: PageTask, brought: Harvest, visited: Visited) -> bool:
    """Links of a duplicate are followed, those of a duplicate found through a duplicate are not (a trap's way)."""
    if not brought.robots.follow:
        return False
    if visited.duplicate_of is None:
        return True
    return setup.config.crawl.duplicates == "follow" and not task.via_duplicate


@dataclass(frozen=True, slots=True)
class NewUrls:
    """Whether a page made URLs known that are not of its own pattern or branch, and such that are."""

    outside_pattern: bool = False
    outside_branch: bool = False
    inside_pattern: bool = False
    inside_branch: bool = False


NOTHING_NEW: Final = NewUrls()


def _follow(
    setup: Setup, slot: Slot, context: SiteContext, task: PageTask, brought: Harvest, *, via_duplicate: bool,
    strayed: int,
) -> NewUrls:  # fmt: skip
    outside_pattern = outside_branch = inside_pattern = inside_branch = False
    pattern, branch = pattern_of(task.path), branch_of(task.path)
    url = context.url + task.path
    prefix = context.url + "/"
    max_depth = setup.config.crawl.max_depth
    too_deep = max_depth is not None and task.depth >= max_depth  # a link to another site is a link followed, too
    offered = set()
    if brought.refresh_to:
        offered.add(brought.refresh_to)
        if task.hops < setup.config.crawl.max_redirects:
            _go(setup, slot, context, brought.refresh_to, url, "h", task.depth, task.hops + 1, via_duplicate, strayed)
    for target, link in zip(brought.targets, brought.links, strict=True):
        is_own = link.url.startswith(prefix)
        if (is_own and target.followed) or link.url in offered:
            continue
        offered.add(link.url)
        if is_own:
            target.followed = True
            path = link.url[len(prefix) - 1 :]
            is_new = offer(setup, slot, context, path, url, link.kind.value, task.depth + 1,
                           via_duplicate=via_duplicate, strayed=strayed)  # fmt: skip
            if is_new and not (outside_branch and inside_pattern):
                is_inside, is_near = pattern_of(path) == pattern, branch_of(path) == branch
                outside_pattern, inside_pattern = outside_pattern or not is_inside, inside_pattern or is_inside
                outside_branch, inside_branch = outside_branch or not is_near, inside_branch or is_near
        elif too_deep:
            _leave_out(setup, slot, link.url, url)
        elif report(setup, slot, link.url, url, link.kind.value, strayed=strayed):
            outside_pattern = outside_branch = True
    return NewUrls(outside_pattern, outside_branch, inside_pattern, inside_branch)


def _go(
    setup: Setup, slot: Slot, context: SiteContext, target: str, referrer: str, kind: str, depth: int, hops: int,
    via_duplicate: bool, strayed: int,
) -> None:  # fmt: skip
    site, path = split(target)
    if site == context.url:
        offer(
            setup, slot, context, path, referrer, kind, depth, hops=hops, via_duplicate=via_duplicate, strayed=strayed
        )  # fmt: skip
    else:
        report(setup, slot, target, referrer, kind, hops, strayed)
