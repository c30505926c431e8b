"""The configuration: one frozen dataclass per room (`sections`), read from TOML files and `--set` (`layers`).

The life of a value: it is written in a file or on the command line, laid over the default (`layers`), checked
against the type of its key (`check`), and from then on is a field of a frozen dataclass. Its origin travels beside
it, so that `nephila config` can tell where each value came from, and a crawl folder keeps the whole of it
(`rendering`), so that resuming needs nothing but the folder (`resuming`).
"""
