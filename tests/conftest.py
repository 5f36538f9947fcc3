"""Options, scratch folders and the exit code of the Python tests."""
import shutil
from pathlib import Path

import pytest

import scree_program

ROOT = Path(__file__).resolve().parents[1]
ALL_SKIPPED = 77                # ctest's SKIP_RETURN_CODE
_criteria = []                  # those of the modules that ran a test


def pytest_addoption(parser):
    parser.addoption("--bin", default=ROOT / "build/release/bin", help="folder of the built programs")
    parser.addoption("--source", default=ROOT, help="root of the repository")
    parser.addoption("--full", action="store_true", help="cases that take minutes as well")
    parser.addoption("--report", action="store_true", help="tables of criteria in Markdown")


def pytest_configure(config):
    scree_program.use(config.getoption("--bin"), config.getoption("--source"))


@pytest.fixture
def folder(request):
    """An empty folder below scratch/; it stays when the test fails."""
    yield from _empty_folder(request, f"{request.path.stem}.{request.node.name}")


@pytest.fixture(scope="module")
def shared_folder(request):
    """The same for runs that several tests of a file look at."""
    yield from _empty_folder(request, f"{request.path.stem}.shared")


def _empty_folder(request, name):
    path = Path.cwd() / "scratch" / name
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir(parents=True)
    failed_before = request.session.testsfailed
    yield path
    if request.session.testsfailed == failed_before:
        shutil.rmtree(path)


@pytest.fixture
def full(request) -> bool:
    """Whether cases that take minutes are asked for."""
    return request.config.getoption("--full")


@pytest.hookimpl(hookwrapper=True)
def pytest_pyfunc_call(pyfuncitem):
    """A test of a module with CRITERIA fails after its last row, so that all of its rows are seen."""
    outcome = yield
    outcome.get_result()
    criteria = getattr(pyfuncitem.module, "CRITERIA", None)
    if criteria is not None:
        if criteria not in _criteria:
            _criteria.append(criteria)
        criteria.conclude()


def pytest_terminal_summary(terminalreporter, config):
    for criteria in _criteria:
        terminalreporter.write_line(f"\n{criteria.title}\n\n{criteria.table(config.getoption('--report'))}")


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session, exitstatus):
    passed = session.config.pluginmanager.get_plugin("terminalreporter").stats.get("passed")
    if exitstatus == pytest.ExitCode.OK and not passed:
        session.exitstatus = ALL_SKIPPED
