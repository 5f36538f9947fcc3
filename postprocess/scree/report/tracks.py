"""Paths of people for a page: whole centimetres, one byte or two for each step, as base64.

A person's rows are cut into tracks: frame after frame on one level without a jump. Of a track the page gets whose it is, the
level, the first frame, the number of frames, the first place, and the steps from frame to frame.
"""
import base64

import numpy as np

CENTIMETRES = 100
FEWEST_FPS = 0.5        # fewer frames a second show no walking: then people are left out instead


def thinned(paths, max_bytes):
    """(stride of frames, stride of people, dict for the page): as many frames of as many people as `max_bytes` of text hold; one
    person is the least."""
    stride, one_of = 1, 1
    max_stride = max(1, int(paths.fps / FEWEST_FPS))
    while True:
        found = encoded(paths, stride, one_of)
        size = len(found["steps"]) + len(found["heads"])
        if size <= max_bytes or one_of >= len(paths.ids):
            return stride, one_of, found
        factor = max(2, int(np.ceil(size / max_bytes)))
        if stride < max_stride:
            stride = min(stride * factor, max_stride)
        else:
            one_of *= factor


def encoded(paths, stride, one_of):
    """Tracks of every `stride`-th frame and every `one_of`-th person."""
    ids = paths.ids[::one_of]
    chosen = paths.frame_of_row % stride == 0
    if one_of > 1:
        chosen &= np.isin(paths.id_of_row, ids)
    frame, person = paths.frame_of_row[chosen] // stride, np.searchsorted(ids, paths.id_of_row[chosen])
    level = paths.level_of_row[chosen]
    place = np.rint(CENTIMETRES * paths.position_of_row[chosen]).astype(np.int32)
    order = np.lexsort((frame, person))
    frame, person, level, place = frame[order], person[order], level[order], place[order]
    kind = np.int8 if stride / paths.fps <= 0.4 else np.int16
    step = np.diff(place, axis=0, prepend=place[:1])
    begins = np.ones(len(frame), dtype=bool)
    begins[1:] = ((np.diff(person) != 0) | (np.diff(frame) != 1) | (np.diff(level) != 0)
                  | (np.abs(step[1:]) > np.iinfo(kind).max).any(axis=1))
    first = np.flatnonzero(begins)
    length = np.diff(np.append(first, len(frame)))
    heads = np.column_stack([person[first], level[first], frame[first], length, place[first]]) if len(first) else np.empty((0, 6))
    return {"fps": paths.fps / stride, "frames": int(frame.max()) + 1 if len(frame) else 0, "ids": ids,
            "bytes_per_step": np.dtype(kind).itemsize, "heads": _text(heads, "<i4"),
            "steps": _text(step[~begins], "<i1" if kind is np.int8 else "<i2")}


def _text(values, kind):
    return base64.b64encode(np.ascontiguousarray(values, dtype=kind).tobytes()).decode()
