"""Reads a stream of Arrow without any other package, row by row.

The structures are those of
https://arrow.apache.org/docs/format/CDataInterface.html
"""

import ctypes
from ctypes import (CFUNCTYPE, POINTER, Structure, c_char_p, c_double, c_int,
                    c_int32, c_int64, c_void_p)

from kymo import _library
from kymo._errors import Error


class Schema(Structure):
    pass


class Array(Structure):
    pass


class Stream(Structure):
    pass


Schema._fields_ = [
    ("format", c_char_p), ("name", c_char_p), ("metadata", c_void_p),
    ("flags", c_int64), ("n_children", c_int64),
    ("children", POINTER(POINTER(Schema))), ("dictionary", c_void_p),
    ("release", CFUNCTYPE(None, POINTER(Schema))), ("private_data", c_void_p)]
Array._fields_ = [
    ("length", c_int64), ("null_count", c_int64), ("offset", c_int64),
    ("n_buffers", c_int64), ("n_children", c_int64),
    ("buffers", POINTER(c_void_p)), ("children", POINTER(POINTER(Array))),
    ("dictionary", c_void_p), ("release", CFUNCTYPE(None, POINTER(Array))),
    ("private_data", c_void_p)]
Stream._fields_ = [
    ("get_schema", CFUNCTYPE(c_int, POINTER(Stream), POINTER(Schema))),
    ("get_next", CFUNCTYPE(c_int, POINTER(Stream), POINTER(Array))),
    ("get_last_error", CFUNCTYPE(c_char_p, POINTER(Stream))),
    ("release", CFUNCTYPE(None, POINTER(Stream))), ("private_data", c_void_p)]

# By Arrow's format: the type as docs/query.md says it.
TYPES = {b"n": "null", b"b": "bool", b"l": "int64", b"g": "double",
         b"u": "text"}


def _check(stream, code):
    if code != 0:
        message = stream.get_last_error(stream)
        raise Error((message or b"not enough memory").decode("utf-8"))


def fields(address):
    """[(name, type)] of a stream."""
    stream, schema = Stream.from_address(address), Schema()
    _check(stream, stream.get_schema(stream, schema))
    try:
        children = (schema.children[i].contents
                    for i in range(schema.n_children))
        return [(child.name.decode("utf-8"), TYPES[child.format])
                for child in children]
    finally:
        schema.release(schema)


def _bits(address, length):
    bits = ctypes.string_at(address, (length + 7) // 8)
    return [bits[i >> 3] >> (i & 7) & 1 for i in range(length)]


def _numbers(kind, address, length):
    return list((kind * length).from_address(address))


def _column(array, kind):
    """The values of a column, as a list."""
    length = array.length
    if kind == "null":
        return [None] * length
    if length == 0:
        return []
    if kind == "bool":
        values = [bit == 1 for bit in _bits(array.buffers[1], length)]
    elif kind == "int64":
        values = _numbers(c_int64, array.buffers[1], length)
    elif kind == "double":
        values = _numbers(c_double, array.buffers[1], length)
    else:
        ends = _numbers(c_int32, array.buffers[1], length + 1)
        text = ctypes.string_at(array.buffers[2], ends[-1])
        values = [text[ends[i]:ends[i + 1]].decode("utf-8")
                  for i in range(length)]
    if array.buffers[0]:
        there = _bits(array.buffers[0], length)
        values = [value if is_there else None
                  for value, is_there in zip(values, there)]
    return values


def rows(address, columns):
    """The rows of a stream, as dicts; closes it in the end.

    `columns` are those of fields().
    """
    stream = Stream.from_address(address)
    names = [name for name, _ in columns]
    try:
        while True:
            batch = Array()
            _check(stream, stream.get_next(stream, batch))
            if not batch.release:
                return
            try:
                values = [_column(batch.children[i].contents, kind)
                          for i, (_, kind) in enumerate(columns)]
            finally:
                batch.release(batch)
            for row in zip(*values):
                yield dict(zip(names, row))
    finally:
        _library.close_stream(address)
