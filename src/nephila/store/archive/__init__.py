"""The archive: every exchange with a server, kept as it came, in WARC 1.1 files that other tools read.

The life of a row: an `Exchange` (`exchange`) becomes three records (`encode`): `response` (or `revisit`, when the
body is known already), `request` and `metadata`. Each record is one gzip member. The writer (`writer`) appends the
members of a group, syncs, and tells its `Position`, which the agent commits with the group's rows. The reader
(`reader`, on top of `records`) stops at the committed position; `verify` is strict where other readers are lenient:
they read a file that was cut off in the middle without a word.

Archives of others are read by `foreign` (any layout, as a stream; `arc` for the older form) and become `captures`. An
archive is copied without some of its exchanges by `copying`.

A body is stored after its transfer coding was undone and before its content coding was: what is stored is the
payload that the standard's digest speaks of. The header stays as it came, except that the name Transfer-Encoding
becomes X-Crawl-Transfer-Encoding, so that no reader looks for chunks that are not there. (With the chunks kept,
warcio and FastWARC disagree with the standard about the digest, and neither can read a body cut off in a chunk.)
"""
