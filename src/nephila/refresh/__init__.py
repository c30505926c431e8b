"""Refresh: which pages are visited again, and when: the fewest requests for the freshest crawl (S4, CHECKLIST 2.1).

The life of a row in this room. A page was visited; crawl wrote down whether it had changed (`store/change_log.py`, S4's
record). With all other pages it becomes one entry of a few arrays (`columns`), its change rate a Gamma distribution
that begins as that of pages like it (`priors`) and follows its own visits (`rates`); where another main text counts as
a change, and not any byte, `texts` says what the visits saw. It weighs by its rank and by what users search for
(`weighing`). A policy (`policies/`) gives it a score; the best scores that the budget can pay for become the plan
(`planning`), which crawl takes from there. When it will be due next, and why, a sentence says (`due`).

Which policy is best is no matter of belief: `webs` draws pages that change as S1 saw them change, or reads real
histories, `simulation` lets a policy loose on them, `experiment` compares all at equal budgets, `picture` draws it.
"""
