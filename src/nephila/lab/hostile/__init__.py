"""Hostile sites of the lab: every behaviour of RELIABILITY section 2, each a site of its own, beside a control site.

The life of a hostile request: the name server (`names`) gives the site's own address, on which a process of its own
listens (`serving`); the row of the table (`table`) that lives there is asked what to do, and its answer is a script of
bytes, pauses and an end (`scripts`), which the lab's connection acts out on the raw socket as it does for every site.
The scripts stand in `framing`, `headers`, `compression`, `redirects`, `robots`, `spaces`, `content` and `wires`; the
witness writes one line per request as everywhere in the lab. The canary is an address that nobody may ever ask.
"""
