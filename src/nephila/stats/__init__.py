"""Stats: what a web looks like and how it changes, as tables with their questions (S1's Tables 1-13, and more).

The life of a row in this room: convert has written it into a table. A question (`web`: one SQL, kept as text and
shown) is put to DuckDB over all of them (`tables`), and the answer becomes a section (`section`): columns,
rows, what they mean, how they are drawn. A law is fitted where one belongs (`power_law`). What the batches of a study
say of change is counted likewise (`change`). Sections are all that leaves this room: as text, CSV and JSON (`writing`),
and as one HTML file with plots (`report`).

Deciding: web, power_law, writing's cells, report.drawing, change's estimators. Acting: tables, run, report.make.
"""
