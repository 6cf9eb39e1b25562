#include "profiler/query/ready_queries.h"

namespace kymo::query {
namespace {

constexpr ReadyQuery kQueries[] = {
    {"allocations_by_stack", "Which stacks allocated most of the heap",
     R"(SELECT pid, allocated_bytes, allocations, alive_bytes,
       stack_text(stack_id) AS stack
FROM allocations_by_stack
WHERE source = 'heap'
ORDER BY allocated_bytes DESC, stack_id
LIMIT 20)"},
    {"busiest_threads", "How the time of each thread was spent",
     R"(SELECT pid, tid, name, on_cpu_ns, runnable_ns, blocked_ns,
       round(100.0 * on_cpu_ns / wall_ns, 1) AS on_cpu_percent
FROM threads
WHERE wall_ns > 0
ORDER BY on_cpu_ns DESC, id
LIMIT 20)"},
    {"counter_ranges", "The least, average and largest value of each counter",
     R"(SELECT name, count(*) AS count, min(value) AS min, avg(value) AS avg,
       max(value) AS max
FROM counters
GROUP BY name)"},
    {"device_busy", "What each stream of each device did, and for how long",
     R"(SELECT pid, device, stream, kind, sum(calls) AS count,
       sum(dur_ns) AS dur_ns, avg(queue_ns) AS mean_queue_ns
FROM device_work
GROUP BY pid, device, stream, kind)"},
    {"hot_functions", "In which functions the samples ended",
     R"(SELECT function, sum(count) AS samples, sum(weight_ns) AS cpu_ns,
       round(100.0 * sum(weight_ns) /
             (SELECT sum(weight_ns) FROM samples), 1) AS percent
FROM samples
GROUP BY function
ORDER BY cpu_ns DESC, function
LIMIT 20)"},
    {"key_averages", "PyTorch's key_averages(): events by name",
     R"(SELECT CASE WHEN name GLOB 'ProfilerStep#[0-9]*' THEN 'ProfilerStep*'
            ELSE name END AS name,
       sum(calls) FILTER (WHERE NOT is_duplicate) AS count,
       sum(dur_ns) FILTER (WHERE NOT is_duplicate) AS total_ns,
       sum(self_ns) AS self_ns,
       min(dur_ns / calls) FILTER (WHERE NOT is_duplicate) AS min_ns,
       max(dur_ns / calls) FILTER (WHERE NOT is_duplicate) AS max_ns,
       device IS NOT NULL AS is_device
FROM events
WHERE NOT is_instant AND NOT is_repeated AND category != 'python_function'
GROUP BY 1, is_device,
         category IN ('user_annotation', 'gpu_user_annotation')
ORDER BY self_ns DESC, 1)"},
    {"launch_delays", "How long launched work waited for its device, by name",
     R"(SELECT name, count(*) AS count, min(queue_ns) AS min_ns,
       CAST(percentile(queue_ns, 50) AS INTEGER) AS median_ns,
       max(queue_ns) AS max_ns
FROM device_work
WHERE queue_ns IS NOT NULL
GROUP BY name
ORDER BY sum(queue_ns) DESC, name
LIMIT 20)"},
    {"longest_events",
     "The longest single ranges, and what they were inside of",
     R"(SELECT e.id, e.name, e.dur_ns, e.self_ns, e.step, p.name AS parent
FROM (SELECT * FROM events WHERE calls < 2
      ORDER BY dur_ns DESC, id LIMIT 20) e
LEFT JOIN events p ON p.id = e.parent_id
ORDER BY e.dur_ns DESC, e.id)"},
    {"losses", "What the trace lacks",
     R"(SELECT name, count, CASE WHEN is_loss THEN 'lost' ELSE 'note' END
       AS severity, meaning
FROM ledger)"},
    {"outliers", "Ranges that took more than 10 times the median of their name",
     R"(WITH medians AS (
  SELECT name, percentile(dur_ns / calls, 50, calls) AS median_ns
  FROM events
  WHERE NOT (is_instant OR is_repeated OR is_duplicate)
  GROUP BY name
  HAVING sum(calls) >= 10)
SELECT e.id, e.name, e.step, e.dur_ns / e.calls AS dur_ns,
       CAST(m.median_ns AS INTEGER) AS median_ns
FROM medians m JOIN events e ON e.name = m.name
WHERE e.dur_ns / e.calls > 10 * m.median_ns AND e.dur_ns / e.calls > 100000
      AND NOT (e.is_repeated OR e.is_duplicate)
ORDER BY e.dur_ns / e.calls - m.median_ns DESC, e.id
LIMIT 20)"},
    {"percentiles", "The spread of the durations of each name",
     R"(SELECT name, sum(calls) AS count,
       CAST(percentile(dur_ns / calls, 50, calls) AS INTEGER) AS p50_ns,
       CAST(percentile(dur_ns / calls, 90, calls) AS INTEGER) AS p90_ns,
       CAST(percentile(dur_ns / calls, 99, calls) AS INTEGER) AS p99_ns,
       max(dur_ns / calls) AS max_ns
FROM events
WHERE NOT (is_instant OR is_repeated OR is_duplicate)
GROUP BY name
ORDER BY sum(dur_ns) DESC, name
LIMIT 20)"},
    {"slowest_steps", "The steps that took longest",
     R"(SELECT pid, step, dur_ns,
       round(1.0 * dur_ns / (SELECT percentile(dur_ns, 50) FROM steps), 2)
       AS times_median
FROM steps
ORDER BY dur_ns DESC, id
LIMIT 20)"},
    {"step_operations",
     "What the slowest step did more than the average step, by name",
     R"(WITH slowest AS (
  SELECT step, pid FROM steps ORDER BY dur_ns DESC, id LIMIT 1),
counted AS (SELECT count(*) AS steps FROM steps
            WHERE pid = (SELECT pid FROM slowest))
SELECT e.name,
       sum(CASE WHEN e.step = (SELECT step FROM slowest) THEN e.self_ns
           ELSE 0 END) AS slowest_ns,
       sum(e.self_ns) / (SELECT steps FROM counted) AS mean_ns
FROM events e
WHERE e.pid = (SELECT pid FROM slowest) AND e.step IS NOT NULL
GROUP BY e.name
ORDER BY slowest_ns - mean_ns DESC, e.name
LIMIT 20)"},
    {"top_kernels", "The kernels and copies that took most of the devices",
     R"(SELECT name, kind, sum(calls) AS count, sum(dur_ns) AS dur_ns,
       1.0 * sum(dur_ns) / sum(calls) AS mean_ns, sum(bytes) AS bytes
FROM device_work
GROUP BY name, kind
ORDER BY dur_ns DESC, name
LIMIT 20)"},
    {"waits_by_kind", "What threads waited for, without waits for work",
     R"(SELECT kind, sum(count) AS count, sum(dur_ns) AS dur_ns,
       max(longest_ns) AS longest_ns
FROM waits
WHERE NOT coalesce(is_idle, 0)
GROUP BY kind
ORDER BY dur_ns DESC)"},
    {"waits_in_ranges", "Which ranges waited, and for what",
     R"(SELECT e.name, w.kind, count(*) AS count, sum(w.dur_ns) AS dur_ns
FROM waits w JOIN events e ON e.id = w.event_id
GROUP BY e.name, w.kind
ORDER BY dur_ns DESC, e.name
LIMIT 20)"},
};

}  // namespace

std::span<const ReadyQuery> ReadyQueries() { return kQueries; }

const ReadyQuery* FindReadyQuery(std::string_view name) {
  for (const ReadyQuery& query : kQueries) {
    if (query.name == name) return &query;
  }
  return nullptr;
}

}  // namespace kymo::query
