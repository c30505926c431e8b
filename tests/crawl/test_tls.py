"""TLS as the web has it: certificates that hold and those that do not, broken handshakes, sessions (N15, H6, H7)."""

from __future__ import annotations

import asyncio
import dataclasses
import shutil
import ssl
import subprocess
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
import uvloop

from nephila.crawl.fetcher import Connection, Fetched, FetchRequest, Site
from nephila.crawl.tls import RememberingContext, client_context
from nephila.records import Outcome

sys.path.insert(0, str(Path(__file__).parent))

from raw_web import LIMITS, Visitor, answer, serving, shared, talking

PAGE = FetchRequest("/")


@dataclass(frozen=True)
class Certificates:
    """An authority of our own and what it signed."""

    folder: Path

    @property
    def authority(self) -> str:
        return str(self.folder / "ca.pem")

    def server(self, name: str) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.folder / f"{name}.pem", self.folder / f"{name}.key")
        return context

    def trusting(self) -> RememberingContext:
        return client_context(verify=True, authorities=self.authority)


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    if shutil.which("openssl") is None:
        pytest.skip("certificates are made with the openssl command, which is not here")
    folder = tmp_path_factory.mktemp("certificates")

    def openssl(*arguments: str) -> None:
        subprocess.run(["openssl", *arguments], cwd=folder, check=True, capture_output=True)

    key = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")
    openssl("req", "-x509", *key, "-keyout", "ca.key", "-out", "ca.pem", "-days", "30", "-subj", "/CN=test authority")
    for name, days, host in (
        ("good", "30", "site.test"),
        ("expired", "-1", "site.test"),
        ("other", "30", "other.test"),
    ):
        alternative = f"subjectAltName=DNS:{host}"
        openssl(
            "req", *key, "-keyout", f"{name}.key", "-out", f"{name}.csr", "-subj", f"/CN={host}", "-addext", alternative
        )
        signing = ("-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-copy_extensions", "copy", "-days", days)
        openssl("x509", "-req", "-in", f"{name}.csr", *signing, "-out", f"{name}.pem")
    return Certificates(folder)


def asking(port: int, context: RememberingContext, connect_s: float = 2.0) -> Connection:
    limits = dataclasses.replace(LIMITS, connect_s=connect_s)
    return Connection(Site("https", "site.test", port), "127.0.0.1", shared(limits, context=context))


async def fetch_from(server: ssl.SSLContext | None, context: RememberingContext) -> Fetched:
    async with serving(answer(b"sealed"), tls=server) as web:
        asked = asking(web.port, context)
        try:
            return await asked.fetch(PAGE)
        finally:
            await asked.aclose()


async def test_a_certificate_that_holds_gives_the_page_and_the_version(certificates: Certificates) -> None:
    fetched = await fetch_from(certificates.server("good"), certificates.trusting())
    assert (fetched.outcome, fetched.payload, fetched.tls) == (Outcome.OK, b"sealed", "TLSv1.3")


@pytest.mark.parametrize(
    ("server", "trusted", "reason"),
    [
        ("expired", True, "expired"),
        ("other", True, "site.test"),
        ("good", False, "unable to get local issuer certificate"),
    ],
)
async def test_a_certificate_that_does_not_hold_is_refused_with_the_reason(
    certificates: Certificates, server: str, trusted: bool, reason: str
) -> None:  # H6
    context = certificates.trusting() if trusted else client_context(verify=True)
    fetched = await fetch_from(certificates.server(server), context)
    assert fetched.outcome is Outcome.TLS_ERROR
    assert reason in fetched.reason
    assert fetched.payload == b""


@pytest.mark.parametrize("server", ["expired", "other", "good"])
async def test_without_verification_every_certificate_will_do(certificates: Certificates, server: str) -> None:
    fetched = await fetch_from(certificates.server(server), client_context(verify=False))
    assert fetched.outcome is Outcome.OK


@pytest.mark.parametrize("said", [b"HTTP/1.1 400 Bad Request\r\n\r\n", b"\0" * 64, b"rubbish\r\n", b""])
async def test_what_is_no_tls_is_a_tls_error(certificates: Certificates, said: bytes) -> None:  # H7
    async def say(visitor: Visitor) -> None:
        await visitor.reader.read(1)
        await visitor.say(said)

    async with talking(say) as port:
        fetched = await asking(port, certificates.trusting()).fetch(PAGE)
    assert fetched.outcome is Outcome.TLS_ERROR
    assert fetched.reason


async def test_a_handshake_that_hangs_is_a_connect_time_out(certificates: Certificates) -> None:  # H7
    async with talking(Visitor.until_left) as port:
        fetched = await asking(port, certificates.trusting(), connect_s=0.3).fetch(PAGE)
    assert fetched.outcome is Outcome.TIMEOUT_CONNECT
    assert fetched.total_ms < 1000


async def reopened(certificates: Certificates) -> list[bool]:
    """Whether each of three connections in a row resumed a session, as the client's TLS object tells."""
    resumed = []
    async with serving(answer(b"sealed"), tls=certificates.server("good")) as web:
        asked = asking(web.port, certificates.trusting())
        for _ in range(3):
            assert (await asked.fetch(PAGE)).outcome is Outcome.OK
            assert asked._wire is not None
            resumed.append(asked._wire.tls.session_reused)
            await asked.aclose()
    return resumed


@pytest.mark.parametrize("run", [asyncio.run, uvloop.run])
def test_a_session_is_resumed_when_a_site_is_asked_again(
    certificates: Certificates, run: Callable[[Awaitable[list[bool]]], list[bool]]
) -> None:
    assert run(reopened(certificates)) == [False, True, True]
