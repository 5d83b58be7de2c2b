import pytest
from conftest import ROOT

tomllib = pytest.importorskip("tomllib")


def test_both_ways_to_install_it_make_the_same_package():
    of_clone, of_folder = (tomllib.loads((folder / "pyproject.toml").read_text()) for folder in (ROOT, ROOT / "python"))
    readme = of_folder["project"].pop("readme")
    assert of_clone["project"].pop("readme") == f"python/{readme}"
    assert of_clone["project"] == of_folder["project"]
    assert of_clone["build-system"] == of_folder["build-system"]
    assert of_clone["tool"]["maturin"]["module-name"] == of_folder["tool"]["maturin"]["module-name"]
