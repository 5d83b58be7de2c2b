"""Tidegate: packet-level simulator and toolbox for lossless Ethernet.

    import tidegate
    result = tidegate.Scenario("incast.toml").run(seed=1)
    result.summary["flows"]
    result["flows"]                 # for any Arrow reader: polars.DataFrame(result["flows"])
"""

from ._errors import ScenarioError, SweepError, TidegateError
from ._native import Table, __version__, read_table
from ._result import FailedCheck, Result, Unfinished
from ._scenario import Scenario
from ._sweep import RayExecutor, sweep

__all__ = [
    "FailedCheck",
    "RayExecutor",
    "Result",
    "Scenario",
    "ScenarioError",
    "SweepError",
    "Table",
    "TidegateError",
    "Unfinished",
    "__version__",
    "read_table",
    "sweep",
]
