"""`/metrics`: the figures of a crawl as Prometheus reads them, made at the moment they are asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from nephila.shown import CrawlNow

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


class _Figures(Collector):
    def __init__(self, crawl: Callable[[], CrawlNow]) -> None:
        self._crawl = crawl

    def describe(self) -> Iterator[Metric]:
        """Nothing is read before somebody asks."""
        yield from ()

    def collect(self) -> Iterator[Metric]:
        now = self._crawl()
        yield GaugeMetricFamily("nephila_running", "1 while the crawl runs", value=now.running)
        yield GaugeMetricFamily("nephila_paused", "1 while it is paused", value=now.paused)
        yield CounterMetricFamily("nephila_pages", "URLs requested at least once", value=now.pages)
        yield CounterMetricFamily("nephila_received_bytes", "bytes received", value=now.received_bytes)
        yield CounterMetricFamily("nephila_agent_deaths", "agents that died in this run", value=now.agent_deaths)
        yield CounterMetricFamily("nephila_dns_queries", "names looked up in this run", value=now.dns_queries)
        yield GaugeMetricFamily("nephila_archive_bytes", "bytes of WARC files", value=now.archive_bytes)
        yield GaugeMetricFamily("nephila_pages_per_second", "pages per second", value=now.pages_per_s)
        yield GaugeMetricFamily("nephila_waiting_urls", "URLs that wait to be requested", value=now.waiting_urls)
        yield GaugeMetricFamily("nephila_active_sites", "sites in the memory of agents", value=now.active_sites)
        yield GaugeMetricFamily("nephila_agents", "agents at work", value=now.agents)
        urls = GaugeMetricFamily("nephila_urls", "URLs known, by their outcome", labels=["outcome"])
        for outcome, count in sorted(now.outcomes.items()):
            urls.add_metric([outcome], count)
        yield urls
        sites = GaugeMetricFamily("nephila_sites", "sites known, by their state", labels=["state"])
        for state in ("new", "leased", "done", "asleep", "alias", "refused"):
            sites.add_metric([state], getattr(now.sites, state))
        yield sites


def make_metrics(crawl: Callable[[], CrawlNow]) -> Callable[[], bytes]:
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Figures(crawl))
    return lambda: generate_latest(registry)
