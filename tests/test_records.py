from nephila.records import NetworkState, Outcome, network_state


def test_every_outcome_maps_onto_S1_10_or_is_not_requested() -> None:
    assert {network_state(outcome) for outcome in Outcome} <= set(NetworkState)
    assert network_state(Outcome.OK) is NetworkState.OK
    assert network_state(Outcome.WAITING) is NetworkState.NOT_REQUESTED
    assert network_state(Outcome.BAD_HTTP, "short header") is NetworkState.HEADER_SHORT
    assert network_state(Outcome.DEFERRED_ROBOTS, "robots.txt: refused") is NetworkState.CONNECT_ERROR
    reached = {network_state(outcome) for outcome in Outcome} | {network_state(Outcome.BAD_HTTP, "short header")}
    assert reached == set(NetworkState)
