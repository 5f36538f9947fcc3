"""Why a picture cannot be drawn."""


class RenderError(Exception):
    """The reason why nothing can be drawn, in one sentence for the user."""
