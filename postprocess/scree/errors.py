"""The errors of the package. Their texts are for the user: what is wrong, and where."""


class ScreeError(Exception):
    """Any of the errors below."""


class DeckError(ScreeError):
    """A deck that cannot be read or written, or a key that no deck has."""


class ProgramMissing(ScreeError):
    """There is no program scree."""


class RunError(ScreeError):
    """The program refused a deck, or a run failed; the text is what it said. `code`: its exit code."""

    def __init__(self, message, code):
        super().__init__(message)
        self.code = code


class ResultsError(ScreeError):
    """A results folder or file that is missing or has another format; the message says which and why."""


class RenderError(ScreeError):
    """The reason why nothing can be drawn, in one sentence for the user."""


class ExchangeError(ScreeError):
    """A file that cannot be exchanged; the message says where and why."""
