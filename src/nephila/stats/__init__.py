"""Stats: what a web looks like and how it changes, as tables with their questions (S1's Tables 1-13, and more).

The life of a row in this room: convert has written it into a table. A question (one SQL, kept as text and shown)
counts it with others, and the answer becomes a section (`section`): columns, rows, what they mean, how they are drawn.
Sections are all that leaves this room: as text, JSON, CSV, and as the report.
"""
