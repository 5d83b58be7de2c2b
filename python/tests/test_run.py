import _thread
import gc
import pickle
import threading
from pathlib import Path

import pytest
import tidegate


def bytes_of(folder):
    """Returns all files except machine-dependent ones and the list of hashes, which includes them."""
    skipped = {"timing.json", "tidegate.sha256"}
    return {path.name: path.read_bytes() for path in Path(folder).iterdir() if path.name not in skipped}


def test_the_same_bytes_and_hash_as_the_command(incast, command, tmp_path):
    scenario = tidegate.Scenario(incast)
    file = tmp_path / "scenario.toml"
    file.write_text(scenario.text)
    command("run", file, "--seed", "7", "--quiet", "--out", tmp_path / "command")
    of_command = bytes_of(tmp_path / "command")
    for at, source in enumerate([incast, str(file), file, scenario.text]):
        for threads in (1, 2):
            out = tmp_path / f"python-{at}-{threads}"
            result = tidegate.Scenario(source).run(seed=7, threads=threads, out=out)
            assert bytes_of(out) == of_command
            assert result.results_hash.encode() in of_command["summary.json"]


def test_summary_and_tables(incast):
    result = tidegate.Scenario(incast).run(seed=1)
    assert result.summary["scenario"]["seed"] == 1
    assert len(result["flows"]) == 8 and "flows" in result.tables
    shown = result._repr_html_()
    assert shown.startswith("<pre>") and "flows         8 of 8 completed" in shown and "checks        ok" in shown
    assert str(result) == result.text and result.coverage == (8, 8)
    assert [check["name"] for check in result.checks] and all(check["pass"] for check in result.checks)
    assert tidegate.__version__ == result.summary["scenario"]["version"]
    with pytest.raises(KeyError, match="there are .*flows"):
        result["flow"]


def test_failed_checks_and_unfinished_flows_warn(incast):
    with pytest.warns(tidegate.Unfinished, match="of 8 flows completed"):
        result = tidegate.Scenario(incast).run(seed=1, set={"duration": "20us"})
    assert result.coverage[0] < 8 and "of 8 completed" in result.text
    with pytest.warns(tidegate.FailedCheck, match="lossless"):
        lost = {"name": "lossless", "pass": False, "applicable": True, "detail": "3 frames dropped"}
        tidegate.Result({**result.summary, "checks": [lost]}, result.folder)._warn()


def test_readers_agree_without_copies_of_their_own(incast):
    table = table_of_flows = tidegate.Scenario(incast).run(seed=1)["flows"]
    lengths = set()
    pyarrow = pytest.importorskip("pyarrow")
    arrow = pyarrow.table(table)
    assert arrow.column_names == table.column_names
    # Both exports share the table's memory: nothing is copied.
    memory = [
        [buffer and buffer.address for column in read.columns for buffer in column.chunk(0).buffers()]
        for read in (arrow, pyarrow.table(table))
    ]
    assert memory[0] == memory[1]
    lengths.add(len(arrow))
    polars = pytest.importorskip("polars")
    assert polars.DataFrame(table).to_dict(as_series=False) == arrow.to_pydict()
    pandas = pytest.importorskip("pandas")
    lengths.add(len(pandas.DataFrame.from_arrow(table)))
    duckdb = pytest.importorskip("duckdb")
    lengths.add(duckdb.sql("select count(*) from table_of_flows").fetchall()[0][0])
    assert lengths == {8}


def test_a_table_outlives_its_result(incast):
    polars = pytest.importorskip("polars")
    result = tidegate.Scenario(incast).run()
    folder, table = result.folder, result["flows"]
    del result
    gc.collect()
    assert not folder.exists() and len(polars.DataFrame(table)) == 8


@pytest.mark.parametrize(
    ("change", "path"),
    [
        (lambda s: s["fabric"].update(kk=4), 'scenario["fabric"]["kk"]'),
        (lambda s: s["traffic"][0].update(size="1 parsec"), 'scenario["traffic"][0]["size"]'),
        (lambda s: s["fabric"]["link"].update(rate="5 apples"), 'scenario["fabric"]["link"]["rate"]'),
        (lambda s: s["fabric"].update(k=None), 'scenario["fabric"]["k"]'),
        (lambda s: s["traffic"][0].update(fan_in=float("nan")), 'scenario["traffic"][0]["fan_in"]'),
        (lambda s: s["traffic"][0].update(fan_in=2**64), 'scenario["traffic"][0]["fan_in"]'),
    ],
)
def test_a_mistake_in_a_dict_is_told_by_its_path(incast, change, path):
    change(incast)
    with pytest.raises(tidegate.ScenarioError) as raised:
        tidegate.Scenario(incast)
    assert str(raised.value).startswith(f"{path}: ")
    assert raised.value.errors[0]["path"] == path
    assert str(pickle.loads(pickle.dumps(raised.value))) == str(raised.value)


def test_a_mistake_in_a_file_is_told_by_its_line(incast, tmp_path):
    file = tmp_path / "wrong.toml"
    file.write_text('duration = "1ms"\n[fabric]\nkind = "fat-tree"\nkk = 4\n')
    with pytest.raises(tidegate.ScenarioError, match=r"wrong\.toml:4:1: "):
        tidegate.Scenario(file)
    with pytest.raises(tidegate.ScenarioError, match="cannot read"):
        tidegate.Scenario(tmp_path / "none.toml")


LONG = {"duration": "10s", "traffic": [{"kind": "incast", "fan_in": 8, "size": "1GB"}]}


def test_progress_is_told_and_what_it_raises_ends_the_run(incast, tmp_path):
    shares = []
    tidegate.Scenario(incast).run(progress=shares.append)
    assert shares[-1] == 1.0 and shares == sorted(shares)

    def enough(share):
        raise LookupError("enough")

    with pytest.raises(LookupError, match="enough"):
        tidegate.Scenario({**incast, **LONG}).run(progress=enough, out=tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def test_interrupt_ends_the_run_and_leaves_nothing(incast, tmp_path, interruptible):
    threading.Timer(0.5, _thread.interrupt_main).start()
    with pytest.raises(KeyboardInterrupt):
        tidegate.Scenario({**incast, **LONG}).run(out=tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def test_other_threads_go_on_while_a_run_is_under_way(incast):
    turns = []
    scenario = tidegate.Scenario({**incast, **LONG})

    def stop_after_turns(share):
        if len(turns) > 1000:
            raise StopIteration

    done = threading.Event()
    other = threading.Thread(target=lambda: [turns.append(0) for _ in iter(lambda: done.wait(0), True)])
    other.start()
    try:
        with pytest.raises(StopIteration):
            scenario.run(progress=stop_after_turns)
    finally:
        done.set()
        other.join()
