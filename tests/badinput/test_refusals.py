"""The checks of refusals themselves (tests/support/refusal.py): what differs by rank, or by number of ranks, is found."""
import re

import command_server
import pytest

from refusal import BAD_INPUT, failed, refused
from scree_program import Failure, check, scree
from small_deck import write_deck


@pytest.fixture(autouse=True)
def server_is_built():
    if not command_server.is_built():
        pytest.skip("scree_commands is not built")


def start_servers(folder):
    """Both numbers of ranks have refused a deck in a job of their own, and then by the server."""
    deck = write_deck(folder, ("sweeps = 3", "sweps = 3"))
    for _ in range(2):
        refused(folder, "run", deck, words=["sweps", "did you mean 'sweeps'"])


def test_a_message_that_differs_by_rank_is_found(folder):
    start_servers(folder)
    with pytest.raises(Failure, match="all ranks end alike"):
        failed(folder, "planted", "rank", code=BAD_INPUT, ranks=(3,))


def test_a_message_that_differs_by_number_of_ranks_is_found(folder):
    start_servers(folder)
    failed(folder, "planted", "ranks", code=BAD_INPUT, words=["planted 3"], ranks=(3,))
    with pytest.raises(Failure, match="the same message on any number of ranks"):
        failed(folder, "planted", "ranks", code=BAD_INPUT)


def test_a_server_that_ends_is_replaced(folder):
    start_servers(folder)
    for ranks in (1, 3):
        check(command_server.answers("planted", "end", ranks=ranks, folder=folder) is None, "a job of its own has to show it")
    start_servers(folder)


def without_memory(text):
    """A program that has answered before needs more memory than one that starts."""
    return re.sub(r"about [\d.]+ (MiB|GiB) of memory", "memory", text)


def test_server_and_program_say_the_same(folder):
    """Output and exit code, of commands that end well and that do not."""
    deck = write_deck(folder)
    for arguments in (("check", deck), ("run", deck, "--set", "time.step=-1"), ("run",)):
        for ranks in (1, 3):
            program = scree(*arguments, ranks=ranks, folder=folder)
            first, *others = command_server.answers(*arguments, ranks=ranks, folder=folder)
            check((first.code, without_memory(first.stdout)) == (program.code, without_memory(program.stdout)),
                  f"{arguments[0]} on {ranks} ranks", (first, program))
            check([line for line in program.stderr.splitlines() if line.startswith("scree: ")]
                  == [line for line in first.stderr.splitlines() if line.startswith("scree: ")], "the same message", program)
            check(all((other.code, other.stdout) == (first.code, "") for other in others), "other ranks are silent", others)
