"""A small text classifier: example pages of two kinds train it, then a text is of one kind or the other.

Multinomial naive Bayes over hashed words (and, of scripts without blanks, pairs of letters). With c_k(f) the sum of
log(1 + count) of feature f over the examples of kind k, scaled so that both kinds have the same mass M,

    weight(f) = log (c_w(f) + a) / (c_u(f) + a)
    score(text) = sum over f of log(1 + count) weight(f) / sqrt(sum of log(1 + count))

and the certainty is 1 / (1 + exp(-score)). The root in the score is there because words of one text are not
independent: without it every page of some length is certain; the scale is there because the kind with more examples
would win every doubt. The certainty orders pages; it is no probability.
The model is one vector of 2^18 numbers (decision 91).
"""

from __future__ import annotations

import io
import re
import zlib
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from math import exp, log1p
from pathlib import Path
from typing import Any, Final

import numpy as np

from nephila.errors import ConfigError, DamagedError
from nephila.markup.glance import GLANCE_BYTES, glance
from nephila.store.durable import replace_file

FEATURES: Final = 2**18
_MASS: Final = 10_000.0
_SMOOTHING: Final = 0.02
_WORD: Final = re.compile(r"\w{1,40}")
_MOST_WORDS: Final = 20_000
_MOST_EXAMPLES: Final = 5_000


@dataclass(frozen=True, slots=True)
class Classifier:
    weights: Any  # float32, one per feature

    def certainty(self, text: str) -> float:
        """How sure it is that a text is of the wanted kind, from 0 to 1."""
        counted = _features(text)
        if not counted:
            return 0.5
        logs = {feature: log1p(count) for feature, count in counted.items()}
        score = sum(float(self.weights[feature]) * weight for feature, weight in logs.items())
        return 1 / (1 + exp(-max(-60.0, min(60.0, score / sum(logs.values()) ** 0.5))))


def train(wanted: Iterable[str], unwanted: Iterable[str]) -> Classifier:
    """A classifier from texts of the two kinds."""
    likely = [np.log(_summed(texts) + _SMOOTHING) for texts in (wanted, unwanted)]
    return Classifier((likely[0] - likely[1]).astype(np.float32))


def _summed(texts: Iterable[str]) -> Any:
    """How often each feature stands in texts of one kind, of M in all."""
    sums = np.zeros(FEATURES)
    for text in texts:
        for feature, count in _features(text).items():
            sums[feature] += log1p(count)
    return sums * (_MASS / max(1.0, sums.sum()))


def _features(text: str) -> Counter[int]:
    counted: Counter[int] = Counter()
    for number, match in enumerate(_WORD.finditer(text.lower())):
        if number >= _MOST_WORDS:
            break
        word = match[0]
        if word.isascii():
            if not word.isdigit():
                counted[_hashed(word)] += 1
        elif len(word) < 3:
            counted[_hashed(word)] += 1
        else:
            for start in range(len(word) - 1):
                counted[_hashed(word[start : start + 2])] += 1
    return counted


def _hashed(word: str) -> int:
    return zlib.crc32(word.encode()) % FEATURES


def example_texts(key: str, places: Iterable[str]) -> list[str]:
    """The visible text of every file named, or below a folder that is named; HTML and plain text."""
    texts: list[str] = []
    for place in places:
        root = Path(place)
        files = sorted(path for path in root.rglob("*") if path.is_file()) if root.is_dir() else [root]
        for path in files[: _MOST_EXAMPLES - len(texts)]:
            try:
                with path.open("rb") as file:
                    body = file.read(GLANCE_BYTES)
            except OSError as problem:
                raise ConfigError(f"{key}: {path} cannot be read ({problem.strerror}); name example pages.") from None
            if b"\0" not in body[:1024]:
                texts.append(glance(body, None).text)
    if not any(texts):
        raise ConfigError(f"{key}: {', '.join(places)} holds no page with text; name files or folders of examples.")
    return texts


def save(classifier: Classifier, path: Path) -> None:
    written = io.BytesIO()
    np.savez_compressed(written, weights=classifier.weights)
    replace_file(path, written.getvalue())


def load(path: Path) -> Classifier:
    try:
        with np.load(path, allow_pickle=False) as kept:
            return Classifier(kept["weights"])
    except (OSError, ValueError, KeyError) as problem:
        raise DamagedError(f"{path} cannot be read ({problem}); delete it, and the next run trains it anew.") from None
