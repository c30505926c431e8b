"""The table of hostile sites as a page of the documentation: `python -m nephila.lab.hostile.listing`."""

from __future__ import annotations

from nephila.lab.hostile.places import CANARY_ADDRESS, CONTROL_HOST, RANGE
from nephila.lab.hostile.table import TABLE

_HEAD = f"""\
# Hostile sites of the lab

`nephila lab serve --hostile` serves them beside `http://{CONTROL_HOST}` (fifty clean pages), all of them on
{RANGE}; the rows are those of RELIABILITY section 2. Each is a site of its own, acted out on raw sockets by a
process of its own. {CANARY_ADDRESS} is the canary: some rows lead there, nobody may ask it, and its visitors stand in
the witness. The outcomes are those of each site's home page in the short time-outs of `tests/hostile`, which holds
every crawl to this table; further URLs of a site have theirs in `lab/hostile/table.py`. D14 and E17 have their TLS two
ports on, with certificates of the lab's own authority; a crawl trusts it when SSL_CERT_FILE names a file with it.

| row | site | what it does | outcome |
|---|---|---|---|
"""


def listing() -> str:
    """The whole page."""
    lines = (
        f"| {row.row} | `{row.host()}` | {row.does} | {' or '.join(f'`{each}`' for each in row.expected.split())} |\n"
        for row in TABLE
    )
    return _HEAD + "".join(lines)


if __name__ == "__main__":
    import sys

    sys.stdout.write(listing())
