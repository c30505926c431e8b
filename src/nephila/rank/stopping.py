"""When to stop: rules as values that combine. `L1(1e-8) | Rounds(100)` stops at whichever comes first.

S3's Fig. 4 defines the norm of the difference as the sum of its elements, which is always 0; the L1 norm is meant
(CHECKLIST finding 4). A 2-cycle without damping never comes to rest (I3-7), so a rule without Rounds may never end.
"""

from __future__ import annotations

from dataclasses import dataclass


class _Combining:
    __slots__ = ()

    def __or__(self, other: Rule) -> Rule:
        return Either(self, other)  # type: ignore[arg-type]  # only the rules below inherit

    def __and__(self, other: Rule) -> Rule:
        return Both(self, other)  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class L1(_Combining):
    """The sum of the absolute differences of two rounds is at most this; ranks sum to 1."""

    at_most: float


@dataclass(frozen=True, slots=True)
class Rounds(_Combining):
    """So many rounds were made."""

    most: int


@dataclass(frozen=True, slots=True)
class Either(_Combining):
    one: Rule
    other: Rule


@dataclass(frozen=True, slots=True)
class Both(_Combining):
    one: Rule
    other: Rule


Rule = L1 | Rounds | Either | Both


def is_met(rule: Rule, rounds: int, residual: float) -> bool:
    """Whether `rule` says stop after so many rounds, the last of which changed the ranks by `residual`."""
    match rule:
        case L1(at_most):
            return residual <= at_most
        case Rounds(most):
            return rounds >= most
        case Either(one, other):
            return is_met(one, rounds, residual) or is_met(other, rounds, residual)
        case Both(one, other):
            return is_met(one, rounds, residual) and is_met(other, rounds, residual)
