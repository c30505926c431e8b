"""crawlee-python with its ParselCrawler, much at once and nothing stored but the pages as files: SEEDS OUT."""

import asyncio
import hashlib
import logging
import sys
from datetime import timedelta
from pathlib import Path
from urllib.parse import urlsplit

from crawlee import ConcurrencySettings, Request
from crawlee.crawlers import ParselCrawler
from crawlee.storage_clients import MemoryStorageClient

seeds = Path(sys.argv[1]).read_text().split()
out = Path(sys.argv[2])
got = (out / "got.txt").open("w")
hosts = {urlsplit(seed).hostname for seed in seeds}
logging.disable(logging.WARNING)


async def main():
    crawler = ParselCrawler(
        storage_client=MemoryStorageClient(),
        concurrency_settings=ConcurrencySettings(min_concurrency=40, max_concurrency=64, desired_concurrency=40),
        max_request_retries=0, configure_logging=False, request_handler_timeout=timedelta(seconds=60),
    )  # fmt: skip

    @crawler.router.default_handler
    async def keep(context):
        url = context.request.url
        body = await context.http_response.read()
        got.write(url + "\n")
        (out / hashlib.sha1(url.encode()).hexdigest()).write_bytes(body)
        await context.enqueue_links(selector="a, area, frame, iframe", strategy="same-hostname")

    await crawler.run([Request.from_url(seed) for seed in seeds])


asyncio.run(main())
got.close()
