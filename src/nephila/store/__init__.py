"""What stands still: the crawl folder, its archive and its databases.

The life of a row in this room: an agent hands a finished `Exchange` to the archive writer, which makes it three
records (response or revisit, request, metadata), each its own gzip member, and appends them to the slot's newest
WARC file. The group is synced; only then does the agent commit the rows of the group, and with them the writer's
`Position`, to its database. From that moment the exchange exists. What lies behind the committed position never
happened: readers stop there, and the next start cuts it off.

- `durable`: the one door for bytes that must survive; `space`: how much room is left, and a reserve for the last commit
- `folder`, `lock`: the names of the contract; one process at a time
- `database`: SQLite, opened with one set of rules; the rooms keep their own SQL
- `repair`: what is damaged, set aside and made readable again; nothing is deleted
- `forgotten`: what must not come back; `erasing`: how an exchange leaves an archive file; `run_log`: what a run did
- `wacz`, `wacz_writing`: an archive with index and pages in one file
- `archive`: WARC 1.1, written and read; `cdxj`: its index, derived and never the only copy of anything
- `change_log`: S4's record of a page's visits; `plan`, `plan_rows`: what is to be visited again, written by refresh and
  taken by crawl; `hour_figures`: how quickly sites answered at which hour
- `change_model`: how often pages change, by what is known at a first visit; written by the study, read by refresh
"""
