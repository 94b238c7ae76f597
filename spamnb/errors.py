"""The kinds of failure a user can meet, each with its exit code (those of sysexits.h)."""


class SpamnbError(Exception):
    """Something the user can mend; the text is one line that names the object and the way out."""

    exit_code = 70


class Usage(SpamnbError):
    """The command line asks for what cannot be."""

    exit_code = 64


class BadData(SpamnbError):
    """The input is there but cannot be used."""

    exit_code = 65


class NotAMailbox(BadData):
    """A path that holds no mail."""


class DamagedModel(BadData):
    """A model file that is truncated, altered or not ours."""


class NoInput(SpamnbError):
    """The input is not there, or may not be read."""

    exit_code = 66


class CannotWrite(SpamnbError):
    """The output cannot be written, or must not be overwritten."""

    exit_code = 73


class TryLater(SpamnbError):
    """It would work another time: somebody else holds the lock."""

    exit_code = 75


class BadConfig(SpamnbError):
    """Settings, or a model, that this program cannot work with."""

    exit_code = 78


class NoModel(BadConfig):
    """No model has been trained there yet."""
