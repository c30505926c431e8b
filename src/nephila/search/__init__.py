"""Search: from tables to an index, and from words to pages (S0: site-, domain- and community-limited search).

The life of a page in this room. The tables say what it holds, the links what others call it, the ranks how much it
counts; `gathering` compares that with what the index holds already. If anything differs, the page travels with others
to a worker (`portions`), which makes its words findable (`wording`, `morphemes`, `fields`) and writes them as a piece
of an index. `assembling` puts the new pieces beside the old ones, strikes out what they replace, and lets tantivy
merge; what changes without the page changing (rank, cluster, community) lies beside in arrays (`columns`). The whole
appears by a rename (`manifest`), so that a reader sees one index or the next.

The life of a query: text becomes rows (`query`), rows become a question to tantivy (`matching`), its best answers get
their exact score (`scoring`), near-duplicates and crowds of one site give way, and what is left is shown with the words
marked (`snippets`). `searching` is the front door, opened once and used by many threads; `copies` brings the archived
body of a hit; `noting` keeps what was asked and shown, where the user wants that.

Deciding: query, wording, scoring, snippets. Acting: gathering, portions, assembling, searching, copies, noting.
"""
