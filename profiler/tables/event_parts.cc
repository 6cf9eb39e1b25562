#include <algorithm>
#include <optional>

#include "profiler/model/event_calls.h"
#include "profiler/tables/declarations.h"
#include "profiler/tables/define_column.h"
#include "profiler/tables/source.h"

namespace kymo::tables {
namespace {

using model::Arg;
using model::ArgType;
using model::EventIndex;
using model::kNoEvent;

constexpr Column kNames[] = {
    Define("id", "Number of the text",
           [](const Source&, size_t row) { return row; }),
    Define("name", "The text",
           [](const Source&, size_t row) {
             return TextId{static_cast<uint32_t>(row)};
           }),
    Define("event_count", "How many events have this name",
           [](const Source& s, size_t row) { return s.event_counts()[row]; }),
};

const Arg& ArgOf(const Source& s, size_t row) {
  return s.trace().data().args[s.args()[row].arg];
}

constexpr Column kArgs[] = {
    Define("id", "Number of the argument",
           [](const Source&, size_t row) { return row; }),
    Define("event_id", "The event that has it",
           [](const Source& s, size_t row) { return s.args()[row].event; })
        .Of("events.id"),
    Define("key", "Its name; the last of several with one name counts",
           [](const Source& s, size_t row) { return ArgOf(s, row).key; }),
    Define("type", "int, double, string or json",
           [](const Source& s, size_t row) {
             return s.texts().arg_type(ArgOf(s, row).type);
           }),
    Define("int_value", "The value, of type int",
           [](const Source& s, size_t row) {
             const Arg& arg = ArgOf(s, row);
             return arg.type == ArgType::kInt ? std::optional(arg.int_value())
                                              : std::nullopt;
           }),
    Define("double_value", "The value, of type double",
           [](const Source& s, size_t row) {
             const Arg& arg = ArgOf(s, row);
             return arg.type == ArgType::kDouble
                        ? std::optional(arg.double_value())
                        : std::nullopt;
           }),
    Define("text_value", "The value, of type string or json",
           [](const Source& s, size_t row) {
             const Arg& arg = ArgOf(s, row);
             return arg.has_text() ? std::optional(arg.string_value())
                                   : std::nullopt;
           }),
};

constexpr Column kCounters[] = {
    Define("id", "Number of the value",
           [](const Source&, size_t row) { return row; }),
    Define("track_id", "The thread or stream that set it",
           [](const Source& s, size_t row) {
             return s.trace().counters()[row].track;
           })
        .Of("tracks.id"),
    Define("name", "The counter's name",
           [](const Source& s, size_t row) {
             return s.trace().counters()[row].name;
           }),
    Define("time_ns", "From when on it had the value, since the epoch",
           [](const Source& s, size_t row) {
             return s.trace().counters()[row].time_ns;
           })
        .In("ns"),
    Define("value", "The value",
           [](const Source& s, size_t row) {
             return s.trace().counters()[row].value;
           }),
};

// Behind the last step, and before steps that nobody recorded, a program may do
// anything, such as write a checkpoint for minutes.
DurationNs StepDuration(const Source& s, size_t row) {
  const std::vector<StepRow>& steps = s.steps();
  const analysis::Step& step = steps[row].step;
  const bool has_next = row + 1 < steps.size() &&
                        steps[row + 1].pid == steps[row].pid &&
                        steps[row + 1].step.number == step.number + 1;
  return (has_next ? step.end_ns : s.trace().end()[step.event]) - step.begin_ns;
}

constexpr Column kSteps[] = {
    Define("id", "Number of the row",
           [](const Source&, size_t row) { return row; }),
    Define("pid", "The process's id",
           [](const Source& s, size_t row) { return s.steps()[row].pid; }),
    Define(
        "step", "The step's number: 7 of ProfilerStep#7",
        [](const Source& s, size_t row) { return s.steps()[row].step.number; }),
    Define(
        "event_id", "The range of the step",
        [](const Source& s, size_t row) { return s.steps()[row].step.event; })
        .Of("events.id"),
    Define("start_ns", "When it began, since the epoch",
           [](const Source& s, size_t row) {
             return s.steps()[row].step.begin_ns;
           })
        .In("ns"),
    Define("dur_ns",
           "How long it lasted: until the next step began, or, if that was "
           "not recorded, until its range ended",
           [](const Source& s, size_t row) { return StepDuration(s, row); })
        .In("ns"),
};

EventIndex WorkOf(const Source& s, size_t row) {
  return s.device_work()[row].event;
}

std::optional<int64_t> IntArg(const Source& s, EventIndex event,
                              std::string_view key) {
  std::optional<int64_t> value;
  for (const Arg& arg : s.trace().args(event)) {
    if (arg.type == ArgType::kInt && s.trace().Name(arg.key) == key) {
      value = arg.int_value();
    }
  }
  return value;
}

constexpr Column kDeviceWork[] = {
    Define("id", "Number of the row",
           [](const Source&, size_t row) { return row; }),
    Define("event_id", "Its event",
           [](const Source& s, size_t row) { return WorkOf(s, row); })
        .Of("events.id"),
    Define("kind", "compute, communication or memory (copies and sets)",
           [](const Source& s, size_t row) {
             return s.texts().work_kind(s.device_work()[row].kind);
           }),
    Define("name", "The kernel's or copy's name",
           [](const Source& s, size_t row) {
             return s.trace().name()[WorkOf(s, row)];
           }),
    Define("pid", "The process that used the device",
           [](const Source& s, size_t row) {
             return s.track_of(WorkOf(s, row)).pid;
           }),
    Define("device", "The device's number",
           [](const Source& s, size_t row) {
             return s.track_of(WorkOf(s, row)).device_index;
           }),
    Define("stream", "The device's stream",
           [](const Source& s, size_t row) {
             return s.track_of(WorkOf(s, row)).id;
           }),
    Define("start_ns", "When it began, since the epoch",
           [](const Source& s, size_t row) {
             return s.trace().start()[WorkOf(s, row)];
           })
        .In("ns"),
    Define("dur_ns", "How long it lasted",
           [](const Source& s, size_t row) {
             const EventIndex event = WorkOf(s, row);
             return s.trace().end()[event] - s.trace().start()[event];
           })
        .In("ns"),
    Define("step", "The step in which it was launched",
           [](const Source& s, size_t row) {
             return Unless(s.step()[WorkOf(s, row)], kNoStep);
           }),
    Define("launch_id", "The call that launched it",
           [](const Source& s, size_t row) {
             return Unless(s.launches().LauncherOf(WorkOf(s, row)), kNoEvent);
           })
        .Of("events.id"),
    Define("operation_id", "The operation around that call",
           [](const Source& s, size_t row) {
             return Unless(s.launches().OperationOf(WorkOf(s, row)), kNoEvent);
           })
        .Of("events.id"),
    Define("queue_ns",
           "From the end of that call to its own start, at least 0; NULL: not "
           "known, or folded",
           [](const Source& s, size_t row) -> std::optional<int64_t> {
             const EventIndex work = WorkOf(s, row);
             const EventIndex call = s.launches().LauncherOf(work);
             if (call == kNoEvent || model::Calls(s.trace(), work) > 1) {
               return std::nullopt;
             }
             return std::max<int64_t>(
                 0, s.trace().start()[work] - s.trace().end()[call]);
           })
        .In("ns"),
    Define("bytes", "The bytes that a copy or set moved",
           [](const Source& s, size_t row) {
             return IntArg(s, WorkOf(s, row), "bytes");
           })
        .In("bytes"),
    Define("calls", "As in events",
           [](const Source& s, size_t row) {
             return model::Calls(s.trace(), WorkOf(s, row));
           }),
};

}  // namespace

Table NamesTable() {
  return {
      .name = "names",
      .meaning = "A text of the trace: names of events, keys, files",
      .order = "first use",
      .example =
          "select name, event_count from names "
          "where name like '%conv%' and event_count > 0",
      .columns = kNames,
      .row_count = [](const Source& s) { return s.trace().strings().size(); }};
}

Table ArgsTable() {
  return {.name = "args",
          .meaning = "A named argument of an event",
          .order = "event, then as they were added",
          .example =
              "select e.name, a.int_value from args a join events e "
              "on e.id = a.event_id where a.key = 'bytes'",
          .columns = kArgs,
          .row_count = [](const Source& s) { return s.args().size(); }};
}

Table CountersTable() {
  return {
      .name = "counters",
      .meaning = "A value that the program gave a counter",
      .order = "track, name, time",
      .example =
          "select name, min(value), avg(value), max(value) "
          "from counters group by name",
      .columns = kCounters,
      .row_count = [](const Source& s) { return s.trace().counters().size(); }};
}

Table StepsTable() {
  return {.name = "steps",
          .meaning = "A step of a process: a range ProfilerStep#N",
          .order = "process, time",
          .example =
              "select step, dur_ns / 1e6 as ms from steps "
              "order by dur_ns desc limit 5",
          .columns = kSteps,
          .row_count = [](const Source& s) { return s.steps().size(); }};
}

Table DeviceWorkTable() {
  return {.name = "device_work",
          .meaning = "A kernel, copy or set of a device, and what launched it",
          .order = "event",
          .example =
              "select name, sum(calls), sum(dur_ns), avg(queue_ns) "
              "from device_work group by name order by 3 desc",
          .columns = kDeviceWork,
          .row_count = [](const Source& s) { return s.device_work().size(); }};
}

}  // namespace kymo::tables
