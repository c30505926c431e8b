"""The configuration, one frozen dataclass per room; every key with its default, its meaning and its limits.

A key is written once, here. Help texts, the commented file of `nephila config --init` and the reference page are
made from these lines. `changeable` keys may be given again when a crawl is resumed; all others are fixed when the
crawl folder is made, because changing them would make one crawl out of two different ones (DESIGN: Resume).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Literal

from pydantic import Field

from nephila.config.scoping import Content, Handling, Scope, Sources, Topic
from nephila.config.units import DURATION_FORM, parse_duration
from nephila.config.values import (
    Bytes,
    BytesLimit,
    Count,
    HeaderText,
    Limit,
    Positive,
    Seconds,
    SecondsLimit,
    Share,
    Unit,
    Unlimited,
    Weight,
)
from nephila.config.values import key as _key

__all__ = ["Bytes", "Config", "Content", "Handling", "Scope", "Sources", "Topic", "Unit", "Unlimited"]


@dataclass(frozen=True, slots=True)
class Crawl:
    """What is collected, and where it stops. A limit is a number or "none"."""

    mode: Literal["web", "sites", "parties"] = _key(
        "web",
        "web: follow links to new sites; sites: only the sites of the seeds (S0-5); parties: only what each seed leads "
        "to within its site, no link between sites at all (S1-1)",
    )
    profile: Literal["general", "focusing", "topical", "wrapper"] = _key(
        "general",
        "the kind of crawler (S4-1): general; focusing: the seeds' sites whole, with sitemaps and feeds; topical: what "
        "`topic` wants; wrapper: what `convert.wrappers` names",
    )
    max_pages: Limit = _key(None, "pages requested in all", changeable=True)
    max_sites: Limit = _key(None, "sites visited in all", changeable=True)
    max_pages_per_site: Limit = _key(None, "pages requested per site (S1-34: 3000)", changeable=True)
    max_pages_per_domain: Limit = _key(None, "pages requested per registrable domain", changeable=True)
    max_pages_per_address: Limit = _key(None, "pages requested per IP address", changeable=True)
    max_depth: Limit = _key(None, "links followed from a seed (S1-4); 0 collects the seeds alone", changeable=True)
    max_seconds: SecondsLimit = _key(None, "time for one run of the crawl", changeable=True)
    max_bytes: BytesLimit = _key(None, "bytes received in all", changeable=True)
    max_page_size: Bytes = _key(
        16 * 2**20, "bytes of one body on the wire; a longer one is cut and marked", changeable=True
    )
    max_decoded_size: Bytes = _key(
        32 * 2**20, "bytes of one body after decoding; a longer one is cut and marked", changeable=True
    )
    max_links_per_page: Positive = _key(5000, "links kept of one page; the count of all is recorded", changeable=True)
    max_redirects: Count = _key(
        10, "hops from the URL that was linked to; each hop is a URL of its own", changeable=True
    )
    active_sites: Positive = _key(20_000, "site contexts that one agent keeps in memory at once", changeable=True)
    slots: Limit = _key(None, "shares of the crawl (folders agent-NN); none means one per agent of the first run")
    retries: Count = _key(2, "further tries of a page after a network error", changeable=True)
    retry_wait: Seconds = _key(10.0, "a failed page is tried again after at most so long", changeable=True)
    failures_before_sleep: Positive = _key(5, "failures in a row before a site sleeps", changeable=True)
    sleep_min: Seconds = _key(10.0, "first sleep of a failing site; it doubles each time", changeable=True)
    sleep_max: Seconds = _key(86_400.0, "longest sleep of a failing site", changeable=True)
    give_up: Count = _key(3, "sleeps of a failing site within one run before the run ends without it", changeable=True)
    duplicates: Literal["follow", "drop"] = _key(
        "follow", "follow: links of a duplicate page are followed once; drop: never (S0-14's rule)"
    )


@dataclass(frozen=True, slots=True)
class Politeness:
    """How long a site and its address are left alone after each answer (S1-18)."""

    profile: Literal["default", "paper"] = _key("default", "paper: S1's 30 s and 10 ×, unless given themselves")
    min_delay: Seconds = _key(1.0, "seconds between an answer and the next request", changeable=True)
    delay_factor: Annotated[float, Field(ge=0, le=1000, allow_inf_nan=False)] = _key(
        10.0, "and at least this many times the duration of the last download (l-time)", changeable=True
    )
    max_delay: Seconds = _key(300.0, "no rule makes the delay longer than this", changeable=True)
    connections_per_site: Positive = _key(
        1, "requests at once to one site and address; more only for sites that are yours", changeable=True
    )
    robots: Literal["obey", "ignore"] = _key("obey", "ignore only for sites that are yours")


@dataclass(frozen=True, slots=True)
class Net:
    """How we speak to servers, and to which addresses."""

    contact: HeaderText = _key(
        "", "a URL or mail address in the User-Agent; needed before leaving this machine", changeable=True
    )
    user_agent: HeaderText = _key("nephila", "the robot's name, which robots.txt files address", changeable=True)
    allow_private: tuple[str, ...] = _key(
        [], 'private ranges that may be asked, such as ["127.0.0.0/8"]', changeable=True
    )
    hosts: str = _key("", "a file like /etc/hosts that answers before any name server", changeable=True)
    nameservers: tuple[str, ...] = _key(
        [], 'name servers, as "ADDRESS" or "ADDRESS:PORT"; none: the system\'s', changeable=True
    )
    connect_timeout: Seconds = _key(10.0, "from the first packet to an open connection", changeable=True)
    header_timeout: Seconds = _key(30.0, "from the request to the whole header", changeable=True)
    idle_timeout: Seconds = _key(20.0, "between two packets of a body (S1-23: 5 s)", changeable=True)
    total_timeout: Seconds = _key(120.0, "one whole download", changeable=True)
    min_rate: Bytes = _key(
        100, "bytes per second that a body must reach on average after `min_rate_after`", changeable=True
    )
    min_rate_after: Seconds = _key(20.0, "from when on a body must be as fast as `min_rate`", changeable=True)
    dns_timeout: Seconds = _key(5.0, "one look-up", changeable=True)
    max_header_size: Bytes = _key(64 * 2**10, "bytes of a header", changeable=True)
    verify_tls: bool = _key(True, "refuse certificates that do not hold", changeable=True)
    ipv6: bool = _key(True, "use IPv6 addresses where a name has them and no IPv4 address", changeable=True)
    credentials: str = _key(
        "", "a TOML file of logins, cookies and headers for sites of your own (docs/scopes.md)", changeable=True
    )
    proxy: str = _key("", 'an HTTP proxy for every request, such as "http://proxy.example.org:3128"', changeable=True)
    max_rate: BytesLimit = _key(None, "bytes per second that all agents together receive", changeable=True)
    max_agent_rate: BytesLimit = _key(None, "bytes per second that one agent receives", changeable=True)


@dataclass(frozen=True, slots=True)
class Traps:
    """Budgets for spaces of URLs without end. What they refuse is recorded, and let in when a key is changed."""

    pattern_pages: Limit = _key(
        200,
        "pages of one URL pattern (digits masked) or branch after which they must bring news",
        changeable=True,
    )
    max_segments: Limit = _key(20, "segments of a path", changeable=True)
    max_repeats: Limit = _key(2, "times that a part of a path may stand in it in a row", changeable=True)
    site_pages: Limit = _key(
        10_000, "pages of a site that only a link led to; a hundred times as many of a seed's, more where many link",
        changeable=True,
    )  # fmt: skip
    domain_pages: Limit = _key(50_000, "pages of a registrable domain, likewise", changeable=True)
    address_pages: Limit = _key(50_000, "pages of one IP address, likewise", changeable=True)
    domain_sites: Limit = _key(1_000, "sites of a registrable domain that only its own pages link to", changeable=True)
    probe_after: Limit = _key(
        10, "pages without any 404 after which a site is asked for what cannot be there (soft 404)", changeable=True
    )
    deaths: Limit = _key(4, "agents that may die over one page before it is set aside", changeable=True)
    let_in: tuple[str, ...] = _key(
        [], 'URLs that are no traps, such as ["http://www.example.org/calendar/*"]', changeable=True
    )


@dataclass(frozen=True, slots=True)
class Aliases:
    """When two sites are one (S0-9)."""

    rule: Literal["content", "ip", "off"] = _key(
        "content",
        "content: same address and same answers on sampled paths; ip: same address (the paper's rule); off",
    )


@dataclass(frozen=True, slots=True)
class Links:
    """How URLs are told apart."""

    case: Literal["meaning", "exact"] = _key(
        "meaning", "meaning: convert matches links without regard to case (S3-18)", changeable=True
    )
    max_url_length: Positive = _key(2048, "longer URLs are refused and counted (S1-23: 255)")
    strip_parameters: tuple[str, ...] = _key(
        ["jsessionid", "phpsessid", "aspsessionid*", "sessionid", "session_id", "sid", "cfid", "cftoken", "zenid",
         "utm_*", "gclid", "fbclid", "msclkid", "mc_cid", "mc_eid", "yclid", "_ga"],
        "session ids and tracking parameters cut from every URL (* at the end matches any rest)",
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Archive:
    """How what was fetched is kept."""

    rotate_size: Bytes = _key(10**9, "a WARC file is closed at this size", changeable=True)
    group_pages: Positive = _key(200, "results in one commit at most", changeable=True)
    group_delay: Seconds = _key(0.1, "a result waits at most so long for its commit", changeable=True)
    sync: bool = _key(
        True,
        "wait for the disk at each commit; false may lose the last commits at a power cut",
        changeable=True,
    )


@dataclass(frozen=True, slots=True)
class Keep:
    """Which versions of a page `nephila compact` keeps; the newest always stays, and what it refers to."""

    versions: Annotated[Annotated[int, Field(ge=1)] | None, Unlimited()] = _key(
        None, "versions of a page in the archive, the newest included", changeable=True
    )
    days: Limit = _key(None, "versions older than so many days leave the archive", changeable=True)


@dataclass(frozen=True, slots=True)
class Convert:
    """How archive and state become tables."""

    memory_limit: Bytes = _key(
        4 * 2**30, "memory for joins and sorting; what is larger goes through the disk", changeable=True
    )
    max_parse_size: Bytes = _key(512 * 2**10, "bytes of a body that are parsed; what follows is not", changeable=True)
    max_parse_time: Annotated[float, Unit(parse_duration, DURATION_FORM), Field(gt=0, le=3600)] = _key(
        5.0, "CPU time that the parser may spend on one page", changeable=True
    )
    near_duplicate_distance: Annotated[int, Field(ge=0, le=7)] = _key(
        3, "bits in which the simhashes of near-duplicates differ at most", changeable=True
    )
    communities: str = _key(
        "", 'a file of "site,community" lines; without one communities are found by their links', changeable=True
    )
    wrappers: str = _key(
        "", "a TOML file of wrappers: fields taken from named pages into the table `fields` (docs/scopes.md)",
        changeable=True,
    )  # fmt: skip
    max_pdf_size: Bytes = _key(16 * 2**20, "bytes of a PDF that is read; a longer one is kept and not read",
                               changeable=True)  # fmt: skip


@dataclass(frozen=True, slots=True)
class ClockSettings:
    """Simulated time, shared with the lab. Real time unless said otherwise."""

    rate: Annotated[float, Field(gt=0, le=1e6, allow_inf_nan=False)] = _key(
        1.0, "simulated seconds that pass in one real second"
    )
    origin: Annotated[float, Field(allow_inf_nan=False)] = _key(
        0.0, "simulated UTC second at `real_origin`; 0 with rate 1 is real time"
    )
    real_origin: Annotated[float, Field(allow_inf_nan=False)] = _key(
        0.0, "real UTC second at which simulated time was `origin`"
    )


@dataclass(frozen=True, slots=True)
class Lab:
    """The web in a box."""

    profile: Literal["survey", "study"] = _key("survey", "survey: S1's Tables 1-6; study: its Tables 7-13")
    seed: Count = _key(1, "another seed is another web")
    sites: Positive = _key(128, "seeds in the seed list; the paper's survey had 128,446, its study 1,424")
    max_depth: Limit = _key(None, "depth of the trees; none means the profile's own (5 and 9)")
    port: Annotated[int, Field(ge=1, le=65535)] = _key(8480, "the port of every site")
    delay: Seconds = _key(0.0, "median time before an answer; 0 answers at once (S1: 0.3 s)")
    faults: bool = _key(True, "plant S1's failures; without them every page answers")
    outages: Share = _key(0.0, "share of the sites that are down on any one day after the first, all day long")
    slumps: Share = _key(0.0, "share of the sites that on any such day answer 20 times slower for six hours")
    growth: Annotated[float, Field(gt=0, le=100, allow_inf_nan=False)] = _key(
        1.0, "pages per site, in parts of the paper's; 0.1 makes sites of a tenth"
    )


@dataclass(frozen=True, slots=True)
class Rank:
    """How pages are ranked by their links (S0-23 to S0-29, S3-1 to S3-8)."""

    method: Literal["pagerank", "power", "blockrank", "blockrank-sized", "blockrank-start", "blocks"] = _key(
        "pagerank",
        "pagerank: exact, quickest; power: S3's loop; blockrank: as S0 prints it; -sized: weighted by size; "
        "-start: as a start vector; blocks: exact, by agents",
        changeable=True,
    )
    damping: Share = _key(
        0.85, "share of a page's rank that follows its links; the rest goes anywhere", changeable=True
    )
    tolerance: Annotated[float, Field(ge=0, le=1)] = _key(
        1e-10, "stop when a round changes all ranks together by at most so much; they sum to 1", changeable=True
    )
    max_rounds: Positive = _key(1000, "and after so many rounds at the latest", changeable=True)
    block: Literal["site", "domain", "community"] = _key("site", "what a block is (S0-26)", changeable=True)
    dangling: Literal["uniform", "teleport", "none", "renormalise", "remove"] = _key(
        "uniform",
        "where the rank of pages without links goes; uniform: to all pages (Kim & Lee, S3-8)",
        changeable=True,
    )
    precision: Literal["double", "single"] = _key("double", "single takes half the memory", changeable=True)
    teleport: str = _key("", "a file of pages to begin anew from, for personal ranks", changeable=True)
    topics: str = _key("", "a file of topics and their pages; one further rank per topic", changeable=True)
    duplicates: Literal["drop", "merge"] = _key(
        "drop", "links to a duplicate page; merge: they count for the page it duplicates", changeable=True
    )
    restart: bool = _key(True, "start from the last ranks where there are some", changeable=True)
    memory_limit: Bytes = _key(
        4 * 2**30, "memory for links; beyond it they are sorted and read on disk", changeable=True
    )


@dataclass(frozen=True, slots=True)
class Schedule:
    """At which hours sites are collected (S2). A place is room for one site: crawl.active_sites of each agent."""

    policy: Literal["off", "random", "sorting", "hybrid", "index", "lp"] = _key(
        "off",
        "off: as found; sorting: least load first (S2-5); hybrid: S2's table; index: best hours first; lp: by quotas",
        changeable=True,
    )
    step_five: Literal["next", "later"] = _key(
        "next", "hybrid stops a site before an hour that is worse than the next, or than any later one (S2-13)",
        changeable=True,
    )  # fmt: skip
    learn: bool = _key(True, "keep how quickly sites answer at each hour of the day", changeable=True)
    half_life: Annotated[float, Unit(parse_duration, DURATION_FORM), Field(gt=0, allow_inf_nan=False)] = _key(
        7 * 86_400.0, "what was measured so long ago counts half", changeable=True
    )
    slower: Annotated[float, Field(ge=1, le=1000)] = _key(
        4.0, "a site that answers so many times slower than expected gives its place back for the hour (S2-17)",
        changeable=True,
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Refresh:
    """Which pages are visited again, and when (S4, 2.1)."""

    policy: Literal[
        "index", "uniform", "proportional", "fixed", "groups", "groups-counts", "nutch", "azar", "lambdacrawl"
    ] = _key(
        "index",
        "index: the visit that is worth most; groups: S4's; nutch, azar, lambdacrawl; uniform, proportional, fixed",
        changeable=True,
    )
    per_day: Annotated[float, Field(gt=0, le=100, allow_inf_nan=False)] = _key(
        0.1, "visits per page and day that rounds are planned for", changeable=True
    )
    every: Annotated[float, Unit(parse_duration, DURATION_FORM), Field(gt=0)] = _key(
        3600.0, "time from the beginning of one round of `nephila watch` to the next", changeable=True
    )
    new_share: Share = _key(0.2, "share of a round's requests kept for pages that were never asked", changeable=True)
    per_site: Limit = _key(None, "pages of one site visited again in a round", changeable=True)
    gone_after: Positive = _key(3, "answers 404 or 410 in a row after which a page is marked as gone", changeable=True)
    rank_weight: Share = _key(
        0.5, "how far rank decides what a page weighs; 0: all alike, 1: by rank alone", changeable=True
    )
    search_weight: Share = _key(
        0.3,
        "how far what users search for decides, where search.log keeps it; 0: not at all, 1: alone",
        changeable=True,
    )
    change: Literal["bytes", "text", "simhash"] = _key(
        "bytes",
        "what counts as a change: any byte; another main text; one whose simhash differs by more than 3 bits",
        changeable=True,
    )
    fixed_interval: Seconds = _key(7 * 86_400.0, "the interval of the policy `fixed`", changeable=True)


@dataclass(frozen=True, slots=True)
class Search:
    """How pages are indexed and found. A score is relevance × (1 + rank_weight × log2(1 + rank / mean rank))."""

    title_weight: Weight = _key(3.0, "weight of words in the title", changeable=True)
    anchor_weight: Weight = _key(2.0, "weight of words in links to the page", changeable=True)
    description_weight: Weight = _key(1.0, "weight of words in the description", changeable=True)
    text_weight: Weight = _key(1.0, "weight of words in the text", changeable=True)
    url_weight: Weight = _key(1.0, "weight of words in the URL", changeable=True)
    exact_title_bonus: Weight = _key(
        10.0,
        "added, for each word, to the relevance of a page whose title is just the words asked for",
        changeable=True,
    )
    rank_weight: Weight = _key(0.1, "weight of the rank; 0 searches by relevance alone", changeable=True)
    per_site: Limit = _key(2, "hits of one site in a list, unless a site is asked for", changeable=True)
    per_cluster: Limit = _key(1, "hits of one cluster of near-duplicates in a list", changeable=True)
    page_size: Annotated[int, Field(ge=1, le=100)] = _key(10, "hits of one page of results", changeable=True)
    candidates: Annotated[int, Field(ge=10, le=100_000)] = _key(
        500, "best answers of the index that are scored exactly", changeable=True
    )
    snippet_size: Annotated[int, Field(ge=20, le=2000)] = _key(220, "characters of a snippet", changeable=True)
    max_text: Annotated[int, Field(ge=100)] = _key(
        100_000, "characters of a page's text that are indexed and kept for snippets", changeable=True
    )
    korean: Literal["pairs", "morphemes"] = _key(
        "pairs", "how Korean words are cut: pairs of syllables, or morphemes (needs nephila[korean])", changeable=True
    )
    noindex: Literal["obey", "ignore"] = _key("obey", "obey: pages that ask for it are not indexed", changeable=True)
    memory_limit: Bytes = _key(2 * 2**30, "memory for comparing tables and index", changeable=True)
    log: bool = _key(
        False,
        "keep what is searched for, shown and opened in DIR/state/searches.db, and nowhere else; refresh visits such "
        "pages more often",
        changeable=True,
    )
    log_queries: Annotated[int, Field(ge=10, le=10_000_000)] = _key(
        10_000, "different searches that are kept, the latest ones", changeable=True
    )


@dataclass(frozen=True, slots=True)
class Stats:
    """How a crawl is described."""

    memory_limit: Bytes = _key(2 * 2**30, "memory for counting; what is larger goes through the disk", changeable=True)
    top: Annotated[int, Field(ge=1, le=1000)] = _key(
        20, "entries of a list that are shown, the most frequent first", changeable=True
    )
    country_ranges: tuple[str, ...] = _key(
        [],
        'which address is where, as in scope.country_ranges: ["KR=kr_ipv4_ranges.csv.gz", "x.mmdb"]',
        changeable=True,
    )


@dataclass(frozen=True, slots=True)
class Serve:
    """Where the web pages are served."""

    host: str = _key("127.0.0.1", "address to listen on; any but a loopback one asks for a token", changeable=True)
    port: Annotated[int, Field(ge=0, le=65535)] = _key(8470, "port to listen on; 0 means any free one", changeable=True)
    names: tuple[str, ...] = _key(
        [], "further names under which browsers reach the server, as behind a proxy", changeable=True
    )


@dataclass(frozen=True, slots=True)
class Config:
    """The whole configuration; only the command line and jobs see it."""

    crawl: Crawl = field(default_factory=Crawl)
    politeness: Politeness = field(default_factory=Politeness)
    net: Net = field(default_factory=Net)
    scope: Scope = field(default_factory=Scope)
    sources: Sources = field(default_factory=Sources)
    content: Content = field(default_factory=Content)
    topic: Topic = field(default_factory=Topic)
    traps: Traps = field(default_factory=Traps)
    aliases: Aliases = field(default_factory=Aliases)
    links: Links = field(default_factory=Links)
    archive: Archive = field(default_factory=Archive)
    keep: Keep = field(default_factory=Keep)
    convert: Convert = field(default_factory=Convert)
    rank: Rank = field(default_factory=Rank)
    schedule: Schedule = field(default_factory=Schedule)
    refresh: Refresh = field(default_factory=Refresh)
    search: Search = field(default_factory=Search)
    stats: Stats = field(default_factory=Stats)
    serve: Serve = field(default_factory=Serve)
    clock: ClockSettings = field(default_factory=ClockSettings)
    lab: Lab = field(default_factory=Lab)
