"""How a web changes: the same sites looked at again and again (S1-34 .. S1-47, I1-9).

The life of a row in this room: a batch of the study has a whole crawl folder of its own. `observing` takes from its
tables what matters for change, one observation per page asked for, and puts it into `DIR/study/observations`; the batch
may go then. `visits` lays the batches side by side: one row per download of a URL, with what changed since the download
before it, by three measures; and one row per URL with how often it was seen and changed. All tables are questions to
these (`seeds`, `tables`, `measures`, `survival`), each with errors that come from drawing sites again (`bootstrap`).
`estimators` say how often pages really change, which the printed intervals do not, `rates` by group; `prediction` says
it for pages never seen before, and leaves the change model that refresh begins with.
"""
