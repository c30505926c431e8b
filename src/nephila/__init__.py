"""Nephila: gather a web, turn it into tables, rank it, keep it fresh, measure it and search it."""

VERSION = "0.1.0"
