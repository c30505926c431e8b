"""Convert: from archive and state to tables with ids, and into a database (S0-16..22, S3-12..23).

The life of a row in this room. A page was requested; crawl's state says so (`crawled`). If it has no id it gets one,
and so do its site and its domain (`ids`); ids never change. With others that are new since the last conversion
(`changes`) it travels to a worker as part of a portion (`extract`), which reads its record from the archive and says
what the page says (`attributes`: text, language, simhash), in a process that may die of it (`guarding`). Its row and
its links, whose targets are keys yet, come back as files (`staging`, `workshop`) and are laid over the parts of the
last conversion (`composing`). Then every key is looked up (`resolving`): the target as written, and the page meant,
through redirects, canonicals, aliases and case. What only the whole can tell is counted at the end (`counting`,
`clusters`, `communities`), visits and unfetched URLs are listed (`listing`), and all of it is published at once.

From the tables on: `loading_duckdb`, `loading_postgres`, `exporting`, `las_files` (S3's own files).
Deciding: attributes, simhash, clusters, communities, changes. Acting: run, extract, composing, resolving, loading_*.
"""
