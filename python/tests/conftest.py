import os
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def incast() -> dict:
    """A scenario that takes milliseconds."""
    return {
        "name": "incast",
        "duration": "2ms",
        "fabric": {"kind": "fat-tree", "k": 4, "link": {"rate": "100Gbps", "delay": "500ns"}},
        "traffic": [{"kind": "incast", "fan_in": 8, "size": "100KB"}],
    }


@pytest.fixture
def interruptible():
    """Makes SIGINT raise KeyboardInterrupt: background jobs of a shell ignore it, which disables `interrupt_main`."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(scope="session")
def command():
    """Runs the command built from these sources; TIDEGATE overrides its path."""
    found = os.environ.get("TIDEGATE") or shutil.which("tidegate", path=ROOT / "target" / "debug")
    if not found:
        pytest.skip("no tidegate command: cargo build makes it, or TIDEGATE names it")

    def run(*arguments):
        return subprocess.run([found, *map(str, arguments)], capture_output=True, text=True, check=True)

    run.path = found
    return run
