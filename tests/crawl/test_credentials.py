"""Logins for own sites: read from a file, never shown, and sent to exactly the site they are for."""

from __future__ import annotations

import base64
from dataclasses import replace
from pathlib import Path

import pytest

from nephila.clock import REAL_TIME
from nephila.config.sections import Crawl, Net
from nephila.crawl.credentials import read_credentials
from nephila.crawl.fetcher import Connection, Site, fetching
from nephila.errors import ConfigError

SECRET = "hunter2-hunter2"


def written(folder: Path, text: str) -> str:
    path = folder / "credentials.toml"
    path.write_text(text)
    return str(path)


def test_values_come_from_the_file_the_environment_or_another_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOKEN", SECRET)
    (tmp_path / "secret").write_text(f"{SECRET}\nsecond line\n")
    logins = read_credentials(
        written(
            tmp_path,
            f"""
            ["https://A.example"]
            basic = {{ user = "me", password = "file:{tmp_path / "secret"}" }}
            cookies = {{ a = "1", b = "env:TOKEN" }}
            ["http://b.example:8080"]
            bearer = "env:TOKEN"
            headers = {{ X-Own = "plain" }}
            [proxy]
            basic = {{ user = "p", password = "q" }}
            """,
        )
    )
    assert set(logins) == {"https://a.example", "http://b.example:8080", "proxy"}
    pair = base64.b64encode(f"me:{SECRET}".encode()).decode()
    assert logins["https://a.example"].lines == f"Authorization: Basic {pair}\r\nCookie: a=1; b={SECRET}\r\n"
    assert logins["http://b.example:8080"].lines == f"Authorization: Bearer {SECRET}\r\nX-Own: plain\r\n"
    assert logins["proxy"].lines.startswith("Proxy-Authorization: Basic ")


def test_no_representation_of_a_login_holds_its_values(tmp_path: Path) -> None:
    logins = read_credentials(written(tmp_path, f'["https://a.example"]\nbearer = "{SECRET}"\n'))
    assert SECRET not in repr(logins) + str(logins) + f"{logins['https://a.example']}"
    assert logins["https://a.example"].masked == "Authorization: ***\r\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (f'["a.example/path"]\nbearer = "{SECRET}"', "no site"),
        (f'["https://u:{SECRET}@a.example"]\nbearer = "x"', "no site"),
        (f'["https://a.example"]\nbarer = "{SECRET}"', "must hold some of"),
        (f'["https://a.example"]\nbearer = "{SECRET}\\r\\nX: y"', "line ends"),
        (f'["https://a.example"]\nbearer = "{SECRET}"\nbasic = {{ user = "a", password = "b" }}', "one of them"),
        (f'["https://a.example"]\nbasic = "{SECRET}"', "basic must be"),
        (f'["https://a.example"]\nheaders = {{ Host = "{SECRET}" }}', "cannot be given"),
        (f'["https://a.example"]\nheaders = "{SECRET}"', "must be a table"),
        ('["https://a.example"]\nbearer = "env:NO_SUCH_VARIABLE"', "no variable NO_SUCH_VARIABLE"),
        ('["https://a.example"]\nbearer = "file:/no/such/file"', "cannot be read"),
        (f'["https://a.example"]\nbearer = "{SECRET}', "not valid TOML"),
    ],
)
def test_what_is_wrong_is_named_without_the_secret(text: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=said) as caught:
        read_credentials(written(tmp_path, text))
    # the name of a site is the user's own and is told; a secret in it is where none belongs, and is cut
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize(
    "site", [("http", "a.example", 80), ("https", "a.example", 8443), ("https", "b.a.example", 443)]
)
def test_another_scheme_port_or_host_gets_nothing(site: tuple[str, str, int], tmp_path: Path) -> None:
    logins = read_credentials(written(tmp_path, f'["https://a.example"]\nbearer = "{SECRET}"\n'))
    net, crawl = Net(), Crawl()
    shared = replace(fetching(net, crawl, REAL_TIME), logins=logins)
    own = Connection(Site("https", "a.example", 443), "192.0.2.1", shared)
    other = Connection(Site(*site), "192.0.2.1", shared)  # type: ignore[arg-type]
    assert (SECRET in own._fixed, SECRET in own._shown) == (True, False)
    assert "Authorization" not in other._fixed


def test_without_a_file_there_are_none() -> None:
    assert dict(read_credentials("")) == {}
