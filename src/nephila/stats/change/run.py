"""The front door: the observations of a study go in, its tables come out, and the change model for refresh."""

from __future__ import annotations

from nephila.stats.change.measures import measure_sections
from nephila.stats.change.prediction import model_groups, prediction_sections
from nephila.stats.change.rates import rate_sections
from nephila.stats.change.seeds import seed_sections
from nephila.stats.change.survival import survival_sections
from nephila.stats.change.tables import document_sections
from nephila.stats.change.visits import Measure, open_study
from nephila.stats.section import Section, change_sections_file, write_sections
from nephila.store.change_model import write_change_model
from nephila.store.folder import CrawlFolder


def run(memory_bytes: int, folder: CrawlFolder, threads: int, measure: Measure) -> tuple[Section, ...]:
    """Count all complete batches of a study; what is published is replaced whole."""
    with open_study(folder.study, measure, memory_bytes, threads) as duck:
        batches, first, last = duck.execute(
            "SELECT count(DISTINCT batch), min(began_at), max(began_at) FROM observations"
        ).fetchone()
        days = (last - first) / 86_400
        sections = seed_sections(duck, int(batches)) + document_sections(duck)
        (pairs,) = duck.execute("SELECT count(gap_days) FROM downloads").fetchone()
        if pairs:
            sections += rate_sections(duck, measure)
            sections += measure_sections(duck, measure, int(batches))
            sections += survival_sections(duck, int(batches), days / (batches - 1))
            sections += prediction_sections(duck, measure)
            write_change_model(folder, model_groups(duck, measure), measure, days)
    write_sections(change_sections_file(folder), sections)
    return sections
