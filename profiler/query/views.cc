#include "profiler/query/views.h"

namespace kymo::query {
namespace {

constexpr View kViews[] = {
    {"slice",
     "id, ts, dur, track_id, category, name, depth, parent_id, stack_id, "
     "arg_set_id",
     "CREATE VIEW slice AS SELECT id, start_ns AS ts, "
     "CASE WHEN is_open THEN -1 ELSE dur_ns END AS dur, track_id, category, "
     "name, depth, parent_id, stack_id, id AS arg_set_id FROM events"},
    {"thread", "utid, tid, name, start_ts, end_ts, upid, is_main_thread",
     "CREATE VIEW thread AS SELECT id AS utid, tid, name, start_ns AS start_ts,"
     " end_ns AS end_ts, process_id AS upid, tid = pid AS is_main_thread "
     "FROM threads"},
    {"process", "upid, pid, name, start_ts, end_ts, parent_pid, cmdline",
     "CREATE VIEW process AS SELECT id AS upid, pid, name, "
     "start_ns AS start_ts, end_ns AS end_ts, parent_pid, "
     "command_line AS cmdline FROM processes"},
    {"thread_track", "id, name, utid",
     "CREATE VIEW thread_track AS SELECT id, name, thread_id AS utid "
     "FROM tracks WHERE kind = 'thread'"},
    {"counter_track", "id, name, thread_track_id",
     "CREATE VIEW counter_track AS SELECT min(id) AS id, name, "
     "track_id AS thread_track_id FROM counters GROUP BY track_id, name"},
    {"counter", "id, ts, track_id, value",
     "CREATE VIEW counter AS SELECT c.id, c.time_ns AS ts, t.id AS track_id, "
     "c.value FROM counter_track t JOIN counters c "
     "ON c.track_id = t.thread_track_id AND c.name = t.name"},
};

}  // namespace

std::span<const View> Views() { return kViews; }

}  // namespace kymo::query
