"""A .pftrace file, read with Perfetto's own protocol buffers.

    trace = Pftrace("trace.pftrace")
    for slice in trace.slices: ...

Follows the rules by which Perfetto reads packets, and raises ValueError where
one is broken: state that is used before it is defined, ends without begins,
times that go back on a track, fields that the schema does not have.
"""

import collections
import dataclasses
import pathlib

from google.protobuf import unknown_fields
from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as pb

# Of TracePacket.sequence_flags.
STATE_CLEARED = 1
NEEDS_STATE = 2


@dataclasses.dataclass
class Slice:
    name: str
    category: str
    track: int
    start_ns: int
    end_ns: int = -1
    depth: int = 0
    arguments: dict = dataclasses.field(default_factory=dict)
    flows: tuple = ()
    ended_flows: tuple = ()


def check(condition, what):
    if not condition:
        raise ValueError(what)


def check_known(message):
    """Every field is one of the schema's."""
    check(len(unknown_fields.UnknownFieldSet(message)) == 0,
          f"{message.DESCRIPTOR.name} has fields of another schema")
    for field, value in message.ListFields():
        if field.type == field.TYPE_MESSAGE:
            for child in value if field.is_repeated else [value]:
                check_known(child)


class Pftrace:

    def __init__(self, path):
        trace = pb.Trace()
        trace.ParseFromString(pathlib.Path(path).read_bytes())
        self.tracks = {}
        self.slices = []
        self.instants = []
        self.counters = collections.defaultdict(list)  # (ns, value) by track
        self.samples = []
        self._interned = collections.defaultdict(dict)
        self._open = collections.defaultdict(list)
        self._last_ns = {}
        self._has_state = False
        for packet in trace.packet:
            check_known(packet)
            self._read(packet)
        check(not any(self._open.values()), "slices that never end")

    def track_names(self):
        return {uuid: self._track_name(track)
                for uuid, track in self.tracks.items()}

    @staticmethod
    def _track_name(track):
        if track.HasField("thread"):
            return track.thread.thread_name
        if track.HasField("process"):
            return track.process.process_name
        return track.name

    def _read(self, packet):
        check(packet.trusted_packet_sequence_id != 0, "a packet of no sequence")
        if packet.sequence_flags & STATE_CLEARED:
            self._interned.clear()
            self._has_state = True
        if packet.HasField("interned_data"):
            check(self._has_state, "interned data before the first state")
            self._intern(packet.interned_data)
        if packet.HasField("track_descriptor"):
            track = packet.track_descriptor
            if track.HasField("parent_uuid"):
                check(track.parent_uuid in self.tracks, "a track of no parent")
            check(track.uuid not in self.tracks, "two tracks of one uuid")
            self.tracks[track.uuid] = track
        elif packet.HasField("track_event"):
            self._read_event(packet)
        elif packet.HasField("perf_sample"):
            sample = packet.perf_sample
            stack = self._resolve(packet, "callstacks", sample.callstack_iid)
            self.samples.append((packet.timestamp, sample.tid,
                                 self._functions(stack)))

    def _intern(self, data):
        for field, entries in data.ListFields():
            for entry in entries:
                check(entry.iid != 0, "interned data without an id")
                self._interned[field.name][entry.iid] = entry

    def _resolve(self, packet, table, iid):
        check(packet.sequence_flags & NEEDS_STATE,
              "a packet uses state and does not say so")
        check(iid in self._interned[table], f"{table} has no {iid}")
        return self._interned[table][iid]

    def _text(self, table, iid):
        text = self._interned[table][iid]
        return text.str.decode() if hasattr(text, "str") else text.name

    def _functions(self, stack):
        frames = [self._interned["frames"][iid] for iid in stack.frame_ids]
        return [self._text("function_names", frame.function_name_id)
                for frame in frames]

    def _read_event(self, packet):
        event = packet.track_event
        uuid, now = event.track_uuid, packet.timestamp
        check(uuid in self.tracks, "an event of no track")
        check(now >= self._last_ns.get(uuid, 0), "time goes back on a track")
        self._last_ns[uuid] = now
        if event.type == event.TYPE_COUNTER:
            kind = event.WhichOneof("counter_value_field")
            self.counters[uuid].append((now, getattr(event, kind)))
        elif event.type == event.TYPE_SLICE_END:
            check(self._open[uuid], "an end without a begin")
            self._open[uuid].pop().end_ns = now
        else:
            self._begin(packet, self._slice(packet))

    def _slice(self, packet):
        event = packet.track_event
        name = event.name
        if event.HasField("name_iid"):
            name = self._resolve(packet, "event_names", event.name_iid).name
        category = "".join(
            self._resolve(packet, "event_categories", iid).name
            for iid in event.category_iids)
        return Slice(name, category, event.track_uuid, packet.timestamp,
                     arguments=dict(self._arguments(packet)),
                     flows=tuple(event.flow_ids),
                     ended_flows=tuple(event.terminating_flow_ids))

    def _begin(self, packet, event):
        if packet.track_event.type == pb.TrackEvent.TYPE_INSTANT:
            self.instants.append(event)
            return
        check(packet.track_event.type == pb.TrackEvent.TYPE_SLICE_BEGIN,
              "an event of no type")
        event.depth = len(self._open[event.track])
        self._open[event.track].append(event)
        self.slices.append(event)

    def _arguments(self, packet):
        for argument in packet.track_event.debug_annotations:
            name = argument.name
            if argument.HasField("name_iid"):
                name = self._resolve(packet, "debug_annotation_names",
                                     argument.name_iid).name
            kind = argument.WhichOneof("value")
            value = getattr(argument, kind)
            if kind == "string_value_iid":
                value = self._resolve(packet, "debug_annotation_string_values",
                                      value).str.decode()
            yield name, value
