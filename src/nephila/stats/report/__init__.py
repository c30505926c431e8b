"""The report: sections as one HTML file that needs nothing else.

A section comes in; its plot becomes places of rectangles, dots and lines (`drawing`), which a template draws as SVG
beside the table, the definition and the SQL (`page`); `make` counts, gathers and writes DIR/report/index.html.
"""
