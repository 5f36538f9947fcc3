"""What a program does with input that it cannot use."""
import os

import command_server
from scree_program import END_AT_ONCE, Result, check, check_in, scree
from small_deck import content_of

os.environ.update(END_AT_ONCE)

BAD_INPUT = 2
_seen = set()    # numbers of ranks for which a job of its own has shown what mpirun makes of a failure


def failed(folder, *arguments, code, words=(), ranks=(1, 3), name="scree", after_each=lambda n: None):
    """The program has to end with `code` and one message that holds all `words`, the same on any number of ranks.

    The first of a file starts the program itself; for others scree is called as a function (command_server.py), and
    the message has to be the same on all ranks."""
    messages = set()
    for n in ranks:
        result = _end_of(arguments, n, folder, name)
        check(result.code == code, f"exit code {code} on {n} ranks", result)
        lines = [line for line in result.stderr.splitlines() if line.startswith("scree: ")]
        check(len(lines) == 1, f"one message on {n} ranks", result)
        message = result.stderr[result.stderr.index(lines[0]):]    # may have more lines
        for word in words:
            check_in(word, message, f"the message on {n} ranks")
        after_each(n)
        messages.add(lines[0])
    check(len(messages) == 1, "the same message on any number of ranks", messages)


def refused(folder, *arguments, code=BAD_INPUT, words=(), ranks=(1, 3), name="scree"):
    """The program has to fail like that, and files stay as they were."""
    before = content_of(folder)
    failed(folder, *arguments, code=code, words=words, ranks=ranks, name=name,
           after_each=lambda n: check(content_of(folder) == before, f"no file is touched on {n} ranks",
                                      content_of(folder).keys() ^ before.keys()))


def _end_of(arguments, ranks, folder, name) -> Result:
    answers = None
    if name == "scree" and ranks in _seen:
        answers = command_server.answers(*arguments, ranks=ranks, folder=folder)
    if answers is None:
        _seen.add(ranks)
        return scree(*arguments, ranks=ranks, folder=folder, timeout=60, name=name)
    check(len({(answer.code, answer.message) for answer in answers}) == 1, "all ranks end alike", answers)
    check(all(not answer.stdout + answer.stderr for answer in answers[1:]), "only rank 0 speaks", answers)
    return Result(["scree", *map(str, arguments)], answers[0].code, answers[0].stdout, answers[0].stderr, 0)
