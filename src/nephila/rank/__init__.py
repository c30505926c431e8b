"""The life of a link in this room: it arrives as two ids, from the links table of a crawl (`crawl_sheet`) or from any
edge list (`edge_list`), waits until all ids are known (`gathering`) and becomes four bytes of the link file
(`link_building`, `link_file`). From there on nothing but the link file is read.

The life of a rank: every page begins with the same, or with its last rank, and gives it away along its links round
after round (`pagerank`, the formula; `gauss_seidel` and `extrapolation`, the quick way; `stopping`, when to stop), page
by page or block by block (`blockrank`, `aggregation`), until it changes no more. Then it is written to
`rank/ranks.parquet`, beside the rank of its site and its place within it (`ranks_table`), and drawn (`picture`). `why`
tells where a page's rank comes from, `comparing` how far the ways of ranking differ, `footing` how far the input can be
trusted.

The loops over links are in C (`_kernel.c`) with a twin in numpy (`plain`); `kernel` chooses.
"""
