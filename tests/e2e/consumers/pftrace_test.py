"""The reader of Perfetto's traces refuses what Perfetto would."""

import pathlib
import tempfile
import unittest

from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as pb

from tests.e2e.consumers import pftrace

BEGIN = pb.TrackEvent.TYPE_SLICE_BEGIN
END = pb.TrackEvent.TYPE_SLICE_END


def packet(timestamp=0, flags=pftrace.NEEDS_STATE, **fields):
    return pb.TracePacket(timestamp=timestamp, sequence_flags=flags,
                          trusted_packet_sequence_id=1, **fields)


def event(timestamp, kind, **fields):
    return packet(timestamp, track_event=pb.TrackEvent(
        type=kind, track_uuid=1, **fields))


HEAD = [
    packet(flags=pftrace.STATE_CLEARED,
           track_descriptor=pb.TrackDescriptor(uuid=1, name="track")),
    packet(interned_data=pb.InternedData(
        event_names=[pb.EventName(iid=1, name="a name")])),
]


def read(*packets):
    data = pb.Trace(packet=[*HEAD, *packets]).SerializeToString()
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "trace.pftrace")
        path.write_bytes(data)
        return pftrace.Pftrace(path)


class PftraceTest(unittest.TestCase):

    def refuses(self, what, *packets):
        with self.assertRaisesRegex(ValueError, what):
            read(*packets)

    def test_reads_slices(self):
        trace = read(event(10, BEGIN, name_iid=1), event(20, BEGIN, name="b"),
                     event(30, END), event(40, END))
        self.assertEqual(
            [(s.name, s.start_ns, s.end_ns, s.depth) for s in trace.slices],
            [("a name", 10, 40, 0), ("b", 20, 30, 1)])

    def test_refuses_what_is_not_balanced(self):
        self.refuses("never end", event(10, BEGIN, name="a"))
        self.refuses("without a begin", event(10, END))

    def test_refuses_time_that_goes_back(self):
        self.refuses("goes back", event(10, BEGIN, name="a"), event(9, END))

    def test_refuses_state_that_is_not_there(self):
        self.refuses("has no 2", event(10, BEGIN, name_iid=2), event(11, END))
        begin = event(10, BEGIN, name_iid=1)
        begin.sequence_flags = 0
        self.refuses("does not say so", begin, event(11, END))

    def test_refuses_fields_of_another_schema(self):
        other = event(10, BEGIN, name="a")
        # Field 50000, a number.
        other.track_event.MergeFromString(b"\x80\xb5\x18\x01")
        self.refuses("another schema", other, event(11, END))

    def test_refuses_events_of_no_track(self):
        lost = event(10, BEGIN, name="a")
        lost.track_event.track_uuid = 7
        self.refuses("of no track", lost, event(11, END))


if __name__ == "__main__":
    unittest.main()
