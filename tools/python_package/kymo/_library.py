"""The C library, libkymo_python.so, through ctypes.

It is not linked with Python: it gets the addresses of the four functions that
it calls. So one file serves every CPython from 3.8 on.
"""

import ctypes
import os
from ctypes import POINTER, byref, c_char_p, c_int, c_int64, c_size_t, c_void_p

from kymo._errors import error_of

_NAME = "libkymo_python.so"


def _folder():
    """Where the library is, seen from here."""
    here = os.path.dirname(os.path.abspath(__file__))
    places = ("../..",                     # the archive: lib/kymo/python/kymo
              "../../../../libexec/kymo",  # lib/pythonX.Y/site-packages/kymo
              "../libexec/kymo",           # pip install --target
              "..")                        # a build by Bazel
    for place in places:
        folder = os.path.normpath(os.path.join(here, place))
        if os.path.exists(os.path.join(folder, _NAME)):
            return folder
    raise ImportError(
        f"there is no {_NAME} in the folders that pip puts it into, such as "
        f"{os.path.normpath(os.path.join(here, places[1]))}; install Kymo's "
        "wheel again")


FOLDER = _folder()


def _open(folder):
    path = os.path.join(folder, _NAME)
    try:
        # PyDLL: calls hold Python's lock; the library itself gives it back.
        return ctypes.PyDLL(path)
    except OSError as error:
        raise ImportError(
            f"could not load {path}: {error}; Kymo's wheel is for Linux with "
            "glibc 2.36 or later") from error


_library = _open(FOLDER)


class _PythonFunctions(ctypes.Structure):
    _fields_ = [("save_thread", c_void_p), ("restore_thread", c_void_p),
                ("check_signals", c_void_p), ("capsule_pointer", c_void_p)]


_functions = _PythonFunctions(*(
    ctypes.cast(getattr(ctypes.pythonapi, name), c_void_p).value
    for name in ("PyEval_SaveThread", "PyEval_RestoreThread",
                 "PyErr_CheckSignals", "PyCapsule_GetPointer")))


def _function(name, result, *arguments):
    function = getattr(_library, "kymo_python_" + name)
    function.restype = result
    function.argtypes = arguments
    return function


_TEXTS = POINTER(c_char_p)
_OUT = POINTER(c_void_p)
_free = _function("free", None, c_void_p)
_about = _function("about", c_void_p)
_open_trace = _function("open", c_int, _TEXTS, c_size_t, _TEXTS, c_size_t,
                        _OUT, _OUT)
_table = _function("table", c_int, c_void_p, c_char_p, _TEXTS, c_size_t, _OUT,
                   _OUT)
_sql = _function("sql", c_int, c_void_p, c_char_p, c_size_t, _OUT, _OUT)
_averages = _function("averages", c_int, c_void_p, _TEXTS, c_size_t, _OUT, _OUT)
_report = _function("report", c_int, c_void_p, _TEXTS, c_size_t, _OUT)
_rows_stream = _function("rows_stream", c_void_p, c_void_p)
_schema = _function("schema", c_int, c_void_p, _OUT, _OUT)
close_trace = _function("close", None, c_void_p)
close_rows = _function("rows_close", None, c_void_p)
close_stream = _function("stream_close", None, c_void_p)
row_count = _function("row_count", c_int64, c_void_p, c_char_p)
rows_count = _function("rows_count", c_int64, c_void_p)

_function("start", None, POINTER(_PythonFunctions))(byref(_functions))

_new_capsule = ctypes.pythonapi.PyCapsule_New
_new_capsule.restype = ctypes.py_object
_new_capsule.argtypes = (c_void_p, c_char_p, c_void_p)
# Capsules point to these names as long as they live.
_STREAM = b"arrow_array_stream"
_SCHEMA = b"arrow_schema"
_ENDS = {name: ctypes.cast(getattr(_library, "kymo_python_" + end), c_void_p)
         for name, end in ((_STREAM, "stream_capsule_end"),
                           (_SCHEMA, "schema_capsule_end"))}


def _take_text(text):
    """A text of the library, which is freed."""
    if not text:
        return ""
    try:
        return ctypes.string_at(text).decode("utf-8", "replace")
    finally:
        _free(text)


def _texts(texts):
    encoded = [os.fsencode(text) for text in texts]
    for text in encoded:
        if b"\0" in text:
            raise ValueError(f"{text!r} has a zero byte")
    return (c_char_p * len(encoded))(*encoded), len(encoded)


def _call(function, *arguments):
    """(the result, the text) of a function that may be wrong."""
    result, text = c_void_p(), c_void_p()
    code = function(*arguments, byref(result), byref(text))
    message = _take_text(text.value)
    if code != 0:
        raise error_of(code, message)
    return result.value, message


def about():
    return _take_text(_about())


def open_trace(flags, paths):
    """(the trace, its findings)"""
    return _call(_open_trace, *_texts(flags), *_texts(paths))


def table(trace, name, columns):
    """A stream of a table."""
    return _call(_table, trace, name.encode(), *_texts(columns))[0]


def sql(trace, query):
    """Rows of a query."""
    encoded = query.encode("utf-8", "surrogateescape")
    return _call(_sql, trace, encoded, len(encoded))[0]


def averages(trace, flags):
    """Rows of a table of averages."""
    return _call(_averages, trace, *_texts(flags))[0]


def report(trace, flags):
    """What `kymo report` prints."""
    text = c_void_p()
    code = _report(trace, *_texts(flags), byref(text))
    message = _take_text(text.value)
    if code != 0:
        raise error_of(code, message)
    return message


def rows_stream(rows):
    stream = _rows_stream(rows)
    if not stream:
        raise MemoryError("not enough memory for the rows")
    return stream


def stream_capsule(stream):
    """The capsule is from now on the stream's owner."""
    return _new_capsule(stream, _STREAM, _ENDS[_STREAM])


def schema_capsule(stream):
    """The schema of a stream, which is closed."""
    try:
        schema, _ = _call(_schema, stream)
    finally:
        close_stream(stream)
    return _new_capsule(schema, _SCHEMA, _ENDS[_SCHEMA])
