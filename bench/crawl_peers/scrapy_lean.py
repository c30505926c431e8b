"""Scrapy stripped down: no middleware that is not needed, links by a regular expression, pages to files: SEEDS OUT."""

import hashlib
import re
import sys
from pathlib import Path
from urllib.parse import urljoin, urlsplit

import scrapy
from scrapy.crawler import CrawlerProcess

seeds = Path(sys.argv[1]).read_text().split()
out = Path(sys.argv[2])
got = (out / "got.txt").open("w")
hosts = {urlsplit(seed).hostname for seed in seeds}
LINK = re.compile(r"""<(?:a|area|frame|iframe)\b[^>]*?\b(?:href|src)\s*=\s*["']?([^"'\s>#]+)""", re.I)


class Lean(scrapy.Spider):
    name = "lean"
    start_urls = seeds

    def __init__(self):
        self.seen = set(seeds)

    def parse(self, response):
        got.write(response.url + "\n")
        (out / hashlib.sha1(response.url.encode()).hexdigest()).write_bytes(response.body)
        if b"text/html" not in response.headers.get("Content-Type", b""):
            return
        for href in set(LINK.findall(response.text)):
            url = urljoin(response.url, href.replace("&amp;", "&"))
            if url not in self.seen and url.startswith("http") and urlsplit(url).hostname in hosts:
                self.seen.add(url)
                yield scrapy.Request(url, dont_filter=True)


process = CrawlerProcess(
    {"LOG_LEVEL": "ERROR", "CONCURRENT_REQUESTS": 64, "CONCURRENT_REQUESTS_PER_DOMAIN": 8, "ROBOTSTXT_OBEY": False,
     "COOKIES_ENABLED": False, "RETRY_ENABLED": False, "REDIRECT_ENABLED": True, "TELNETCONSOLE_ENABLED": False,
     "HTTPCACHE_ENABLED": False, "SPIDER_MIDDLEWARES_BASE": {},
     "EXTENSIONS_BASE": {}, "DNSCACHE_ENABLED": True}
)  # fmt: skip
process.crawl(Lean)
process.start()
got.close()
