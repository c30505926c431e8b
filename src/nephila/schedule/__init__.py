"""Schedule: in which order sites are collected, and at which hour of the day (S2).

The simulation's life of a server: it is drawn with the load of each hour (`instances`), collected by robots under a
policy that knows the day, or what three others say (`simulating`, `steady_day`), measured (`measuring`) and compared
with the best that could have been done (`optimum`, laid out by `wrap_around`); `experiment` does so for every policy on
one instance, `summing` for all instances, `run` is the front door, `picture` the picture.

The policies are plain functions (`policy` says of what): `listed_order` (random, S2-4), `sorting` (S2-5), `hybrid` with
its `priority_table` (S2-7..14), `relative_rate`, `lp_quota`; `hour_prices` is the program for very many sites.

The life of a measurement: an agent, or a probe, notes how long a page took to begin (store's `hour_figures`); faded and
put together it becomes a belief about every hour of its site (`hours`, in the site's own time zone: `zones`). At each
hour change a crawl asks for a plan (`planning`): the sites that are open (`open_sites`) in the order of its policy,
kept in `plan/schedule.json` for people (`plan_file`). `showing` plays the policy through the hours to come.
"""
