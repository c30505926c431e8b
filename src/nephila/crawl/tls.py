"""TLS: one context per agent, which remembers the sessions of the hosts it spoke to.

asyncio and uvloop give no way to pass a session to resume; both ask the context for the connection's TLS object,
and that is where this one adds it. A session is kept per host name, for which its certificate was checked.
"""

from __future__ import annotations

import ssl
from collections import OrderedDict
from typing import Final

MAX_SESSIONS: Final = 4096


class RememberingContext(ssl.SSLContext):
    """A client context that resumes the last session with a host where the server allows it."""

    _sessions: OrderedDict[str, ssl.SSLSession]
    _reads_authorities: bool  # with the first connection: reading the system's takes as long as a hundred pages

    def wrap_bio(
        self,
        incoming: ssl.MemoryBIO,
        outgoing: ssl.MemoryBIO,
        server_side: bool = False,
        server_hostname: str | bytes | None = None,
        session: ssl.SSLSession | None = None,
    ) -> ssl.SSLObject:
        if session is None and isinstance(server_hostname, str):
            session = self._sessions.get(server_hostname)
        if self._reads_authorities:
            self._reads_authorities = False
            self.load_default_certs()
        return super().wrap_bio(incoming, outgoing, server_side, server_hostname, session)

    def remember(self, tls_object: ssl.SSLObject) -> None:
        session, host = tls_object.session, tls_object.server_hostname
        if session is None or not session.has_ticket or host is None:
            return
        self._sessions[host] = session
        self._sessions.move_to_end(host)
        if len(self._sessions) > MAX_SESSIONS:
            self._sessions.popitem(last=False)


def client_context(*, verify: bool, authorities: str | None = None) -> RememberingContext:
    """A context for many connections; `authorities` is a file of certificates trusted besides the system's."""
    context = RememberingContext(ssl.PROTOCOL_TLS_CLIENT)
    context._sessions = OrderedDict()
    context.set_alpn_protocols(["http/1.1"])
    context._reads_authorities = verify
    if verify:
        if authorities:
            context.load_verify_locations(authorities)
    else:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context


def tls_reason(error: BaseException) -> str:
    """Why TLS failed, in the words of OpenSSL without its line numbers."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"certificate: {error.verify_message}"
    if isinstance(error, ssl.SSLError) and error.reason:
        return error.reason.replace("_", " ").lower()
    return str(error) or type(error).__name__
