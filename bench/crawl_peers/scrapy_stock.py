"""Scrapy's CrawlSpider as its tutorial has it, with delays off and every page written to a file: SEEDS OUT."""

import hashlib
import sys
from pathlib import Path
from urllib.parse import urlsplit

from scrapy.crawler import CrawlerProcess
from scrapy.linkextractors import LinkExtractor
from scrapy.spiders import CrawlSpider, Rule

seeds = Path(sys.argv[1]).read_text().split()
out = Path(sys.argv[2])
got = (out / "got.txt").open("w")


class Stock(CrawlSpider):
    name = "stock"
    start_urls = seeds
    allowed_domains = tuple(urlsplit(seed).hostname for seed in seeds)
    rules = (Rule(LinkExtractor(tags=("a", "area", "frame", "iframe"), attrs=("href", "src"), deny_extensions=[]),
                  callback="keep", follow=True),)  # fmt: skip

    def parse_start_url(self, response):
        self.keep(response)
        return []

    def keep(self, response):
        got.write(response.url + "\n")
        (out / hashlib.sha1(response.url.encode()).hexdigest()).write_bytes(response.body)


process = CrawlerProcess(
    {"LOG_LEVEL": "ERROR", "CONCURRENT_REQUESTS": 64, "CONCURRENT_REQUESTS_PER_DOMAIN": 8, "DOWNLOAD_DELAY": 0,
     "ROBOTSTXT_OBEY": True, "TELNETCONSOLE_ENABLED": False}
)  # fmt: skip
process.crawl(Stock)
process.start()
got.close()
