"""The gauges of the live run: courses that grow while somebody looks."""

from __future__ import annotations

from optrack.app.host_load import HostLoad, HostMeter, Reading, recorded_gauges
from optrack.model.snapshot import Snapshot
from tests.capture.fake_nvml import FakeNvml


class Meter:
    """Loads that grow by one with each measurement."""

    def __init__(self) -> None:
        self.asked = 0

    def __call__(self) -> list[Reading]:
        self.asked += 1
        return [Reading(name="CPU", unit="%", value=float(self.asked), full=100.0)]


class Clock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_course_grows_by_one_value_each_time_somebody_looks() -> None:
    clock = Clock()
    load = HostLoad(Meter(), clock)
    for clock.now in (0.0, 1.0, 2.0):
        gauges = load.gauges("run-1")
    assert [(one.name, one.values, one.full) for one in gauges] == [("CPU", (1.0, 2.0, 3.0), 100.0)]


def test_looking_twice_in_one_moment_measures_once() -> None:
    meter = Meter()
    load = HostLoad(meter, Clock())
    load.gauges("run-1")
    assert load.gauges("run-1")[0].values == (1.0,)
    assert meter.asked == 1


def test_another_run_has_courses_of_its_own() -> None:
    clock = Clock()
    load = HostLoad(Meter(), clock)
    load.gauges("run-1")
    clock.now = 5.0
    assert load.gauges("run-2")[0].values == (2.0,)
    assert load.seen("run-1") == ()


def test_processors_and_memory_are_measured_on_this_host_without_gpus() -> None:
    found = {one.name: one for one in HostMeter(FakeNvml([]))()}
    assert set(found) == {"CPU", "memory"}
    assert 0 <= found["CPU"].value <= 100
    assert 0 < found["memory"].value <= (found["memory"].full or 0)


def test_an_ended_run_shows_the_means_that_were_recorded() -> None:
    load = {"gpus": {"0": {"utilization_percent": {"mean": 93.5, "min": 0, "max": 100}}}}
    (gauge,) = recorded_gauges(Snapshot(load=load))
    assert (gauge.name, gauge.values, gauge.full) == ("GPU 0 mean", (93.5,), 100.0)
    assert recorded_gauges(None) == []
