"""Exceptions, and the warning for files that are wrong in places."""


class Error(Exception):
    """What could not be done, with the sentence that `kymo report` says."""


class NotFoundError(Error, FileNotFoundError):
    """There is no such file, or no trace in the folder."""


class TraceWarning(UserWarning):
    """A file is cut off or wrong in places; the rest of it was read."""


# The numbers of absl::StatusCode that are not Error.
_NOT_FOUND = 5


def error_of(code, message):
    return (NotFoundError if code == _NOT_FOUND else Error)(message)
