"""Serve: one small server for a running or finished crawl, for people who look instead of read.

The life of a request. It comes to the guard (`guard`), which knows by whom and from where the server may be asked: a
foreign Host or Origin, a missing token, a change without the form's token are refused there. Then it comes to a page
(`pages`) or to the JSON beside it (`api`, whose routes are one table, from which `openapi` makes the document). Both
ask the sources (`sources`): plain functions that bring frozen rows (`nephila.shown`) from the folder. This room reads
no database and knows no other room; the job wires it up. What is costly to count is remembered for a while
(`remembering`). A page is rows poured into a template (`rendering`), which escapes everything and takes the power out
of characters that would act; charts are drawn here as SVG (`charts`), so that the pages are whole without scripts and
need nothing from outside. A copy from the archive is shown inert (`copies`). What a person changes goes to
`DIR/control/`, which the crawl reads by itself: a crawl is never locked out, and never called.

Deciding: guard, charts, copies, rendering, openapi. Acting: server, app, pages, api, metrics.
"""
