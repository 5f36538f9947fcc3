"""What a program does with input that it cannot use."""
import os

from scree_program import END_AT_ONCE, check, check_in, scree
from small_deck import content_of

os.environ.update(END_AT_ONCE)

BAD_INPUT = 2


def failed(folder, *arguments, code, words=(), ranks=(1, 3), name="scree", after_each=lambda n: None):
    """The program has to end with `code` and one message that holds all `words`, the same on any number of ranks."""
    messages = set()
    for n in ranks:
        result = scree(*arguments, ranks=n, folder=folder, timeout=60, name=name)
        check(result.code == code, f"exit code {code} on {n} ranks", result)
        lines = [line for line in result.stderr.splitlines() if line.startswith("scree: ")]
        check(len(lines) == 1, f"one message on {n} ranks", result)
        for word in words:
            check_in(word, result.stderr, f"the message on {n} ranks")
        after_each(n)
        messages.add(lines[0])
    check(len(messages) == 1, "the same message on any number of ranks", messages)


def refused(folder, *arguments, code=BAD_INPUT, words=(), ranks=(1, 3), name="scree"):
    """The program has to fail like that, and files stay as they were."""
    before = content_of(folder)
    failed(folder, *arguments, code=code, words=words, ranks=ranks, name=name,
           after_each=lambda n: check(content_of(folder) == before, f"no file is touched on {n} ranks",
                                      content_of(folder).keys() ^ before.keys()))
