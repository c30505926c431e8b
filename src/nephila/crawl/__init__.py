"""Crawl: the coordinator hands sites out, agents collect them, politely and exactly once (S0-1..15, S1-1..25).

The life of a URL in this room. It is given by the user (`seeds`) or found on a page of another site; then the
coordinator (`coordinator`, its memory `site_list`) looks its site's name up (`resolver`, `name_servers`), leases the
site to the slot that owns the address, and sends the URL along as a seed, with the credit that limits leave (`quota`).
In the slot (`slot`, its memory `slot_state`) the order (`ordered`) becomes a page that waits. An agent (`agent`) brings
the site into memory (`places`) as a context (`site`); the lane of its address (`lane`) lets the sites there take turns,
no sooner than `politeness` allows; whoever must ask an address of another agent borrows it (`lending`). When its turn
has come, it is no part of a space without end (`traps`, `trapping`), and `robots_state`
has nothing against it, the page is requested (`collecting`, `asking`, `fetcher`), and what came is turned into an
outcome, links and a checksum (`harvest`, `joined`, `recording`): links of its own site wait in turn, links to others go
to the coordinator.
All of it lies in one group (`group`) that is archived, synced and committed together. What failed is tried again, its
site sleeps and is given up for this run (`outcome`); nothing known is ever dropped.

How quickly pages come is noted per site and hour of the day (`hour_notes`), and without a crawl by `probing`. With a
policy, plans (`hourly`) say in which order sites take places (`turns`), and which of them give theirs back before they
are complete (`suspending`, S2-12, S2-13); without one, it is first come, first served.

URLs also come from sitemaps (`sourcing`) and feeds. What a page is about and in which language may be judged when it
has come (`focusing`, by words: `topics`, by examples: `classifier`), and decides whether its links are followed. What
is no HTML is fetched, archived only or skipped (`contents`). Sites of the user's own get their logins (`credentials`),
perhaps through a proxy (`proxy`), never faster than a cap (`throttle`).

Whether a site is only another name of one on the same address is found out before it is collected (`comparing`,
`aliases`); whether a URL is in at all is decided by one function (`scope`).

In a round of refresh (`rounds`) a plan names pages to visit again; they are asked for on condition (`revisiting`), and
whether they had changed is noted (`change_writing`); what was visited, others read from `visited`.

Answers may also come out of an archive (`import_run`, `captured`, `importing`, `import_bodies`), or out of other
folders (`merge_run`): they are recorded as if they had just come. What must go (`forgotten`) is part of scope; it
leaves state and archive with `forgetting`, `moving` and `forgetting_list`. Old versions leave with `compacting`, by
what `retention` decides. What a crawl will come to is reckoned before it begins (`estimating`).

When the disk is nearly full all of it rests (`disk_room`). When a database is lost, the archive's answers are recorded
once more (`replaying`, `mending`).

Deciding: site.next_step, scope, forgotten, robots, robots_state, politeness, outcome, aliases, harvest, traps,
captured, retention, estimating. Acting: lane, places, collecting, asking, slot_state, agent, coordinator, fetcher,
resolver. What they say to each other: `messages`.
"""
