#include "importers/chrome/events/event_builder.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

namespace kymo::chrome_import {
namespace {

using model::ActivityType;
using model::MemoryEvent;
using model::MemorySource;

constexpr std::string_view kMemory = "[memory]";
constexpr std::string_view kOutOfMemory = "[OutOfMemory]";

TimeNs AddSaturated(TimeNs a, DurationNs b) {
  TimeNs sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) {
    return std::numeric_limits<TimeNs>::max();
  }
  return sum;
}

const JsonValue* FindArg(const RawEvent& event, std::string_view key) {
  for (auto arg = event.args.rbegin(); arg != event.args.rend(); ++arg) {
    if (arg->key == key) return &arg->value;
  }
  return nullptr;
}

int64_t IntArg(const RawEvent& event, std::string_view key) {
  const JsonValue* const value = FindArg(event, key);
  return value == nullptr ? 0 : value->Int().value_or(0);
}

// "Total Frontend", at the time 0 of a thread of its own.
bool IsTotalOfClang(const RawEvent& event) {
  return event.name.text.starts_with("Total ") &&
         FindArg(event, "avg ms") != nullptr &&
         FindArg(event, "count") != nullptr;
}

MemorySource SourceOf(const RawEvent& event) {
  const JsonValue* const source = FindArg(event, "Source");
  if (source == nullptr) return MemorySource::kReported;
  if (source->text == "heap") return MemorySource::kHeap;
  if (source->text == "mapped") return MemorySource::kMapped;
  return MemorySource::kReported;
}

// Kineto's names for the two kinds of flows: of 2022 and later, before, and as
// they were first.
bool IsLaunchFlow(const RawEvent& event) {
  const std::string_view category = event.category.text;
  return category == "ac2g" || category == "async_cpu_to_gpu" ||
         category == "async_gpu" ||
         (category == "async" && event.name.text == "launch");
}

// Kymo's own, from a thread to one that it woke.
bool IsWakeFlow(const RawEvent& event) {
  return event.category.text == "thread_wait" && event.name.text == "wake";
}

// Kymo's own, from a call of MPI to one of another rank.
bool IsMessageFlow(const RawEvent& event) {
  return event.category.text == "mpi" && event.name.text == "mpi";
}

bool IsBackwardFlow(const RawEvent& event) {
  const std::string_view category = event.category.text;
  return category == "fwdbwd" || category == "fwd_bwd" ||
         category == "forward_backward";
}

// A number in the file's exact records, until these are read.
model::StackId StackNumber(const RawEvent& event) {
  const int64_t number = IntArg(event, "Stack");
  return model::StackId(
      number >= 0 && number <= UINT32_MAX ? static_cast<uint32_t>(number) : 0);
}

}  // namespace

void EventBuilder::Add(const RawEvent& event) {
  if (event.ignored_members != 0) {
    out_.findings.Add(Rule::kMemberIgnored, event.offset,
                      event.ignored_members);
  }
  if (event.unreadable_members != 0) {
    out_.findings.Add(Rule::kValueUnreadable, event.offset,
                      event.unreadable_members);
  }
  if (event.repeated_members != 0) {
    out_.findings.Add(Rule::kMemberRepeated, event.offset,
                      event.repeated_members);
  }
  switch (event.phase) {
    case 'X':
      return AddRange(event);
    case 'i':
    case 'I':
    case 'R':
      return AddInstant(event);
    case 'B':
    case 'E':
    case 'b':
    case 'e':
    case 'S':
    case 'F':
      return AddEnd(event);
    case 's':
    case 't':
    case 'f':
      return AddFlow(event);
    case 'C':
      return AddCounter(event);
    case 'M':
      return AddMetadata(event);
    case 0:
      return Drop(Rule::kPhaseMissing, event);
    default:
      return Drop(Rule::kPhaseUnknown, event);
  }
}

void EventBuilder::Drop(Rule rule, const RawEvent& event) {
  out_.findings.Add(rule, event.offset);
  out_.ledger.Add(rule == Rule::kPhaseUnknown ? model::Loss::kEventsNotImported
                                              : model::Loss::kRecordsCorrupt,
                  1);
}

std::optional<TimeNs> EventBuilder::TimeOf(const RawEvent& event) {
  const auto time = event.has_time ? event.time.TimeNs() : std::nullopt;
  if (!time) Drop(Rule::kTimeMissing, event);
  return time;
}

bool EventBuilder::BeginRange(const RawEvent& event, Range& range) {
  const std::optional<TimeNs> time = TimeOf(event);
  if (!time) return false;
  const Category category = CategoryOf(event);
  const ReadArgs read =
      args_.Read(category.type, event,
                 category.is_exact ? std::string_view() : last_category_text_);
  range.start = range.end = *time;
  range.name = Name(event.name);
  range.type = category.type;
  range.detail = read.detail;
  if (read.is_open) range.flags |= model::kEventOpen;
  if (read.is_module) range.flags |= model::kEventModule;
  if (read.is_folded) range.flags |= model::kEventFolded;
  if (read.stream) {
    range.row = FindRow({.pid = std::string(event.pid.text),
                         .tid = std::string(event.tid.text),
                         .has_stream = true,
                         .device = *read.device,
                         .stream = *read.stream});
  } else {
    range.row = RowOf(event);
  }
  return true;
}

void EventBuilder::AddRange(const RawEvent& event) {
  if (IsTotalOfClang(event)) {
    return out_.findings.Add(Rule::kTotalLeftOut, event.offset);
  }
  if (event.category.text == "Trace" && AddMark(event)) return;
  Range range;
  if (!BeginRange(event, range)) return;
  const auto duration =
      event.has_duration ? event.duration.TimeNs() : std::nullopt;
  if (!duration) {
    range.is_open =
        !event.has_duration && (range.flags & model::kEventOpen) != 0;
    if (event.has_duration) {
      out_.findings.Add(Rule::kDurationUnreadable, event.offset);
      out_.ledger.AddPart(
          {model::Loss::kRecordsCorrupt, "chrome",
           "durations that are no numbers or out of range (set to 0)"},
          1);
    } else if (!range.is_open) {
      out_.findings.Add(Rule::kDurationMissing, event.offset);
    }
  } else if (*duration < 0) {
    out_.findings.Add(Rule::kDurationNegative, event.offset);
    out_.ledger.Add(model::Loss::kImpossibleTimestamps, 1);
  } else {
    range.end = AddSaturated(range.start, *duration);
  }
  out_.ranges.push_back(range);
}

void EventBuilder::AddInstant(const RawEvent& event) {
  if (FindArg(event, "Bytes") != nullptr) {
    if (event.name.text == kMemory) return AddMemory(event, false);
    if (event.name.text == kOutOfMemory) return AddMemory(event, true);
  }
  if (AddMark(event)) return;
  Range range;
  if (!BeginRange(event, range)) return;
  if (event.category.text.empty()) range.type = ActivityType::kCpuInstantEvent;
  range.flags &= static_cast<uint8_t>(~model::kEventOpen);
  range.flags |= model::kEventInstant;
  out_.ranges.push_back(range);
}

// Reads the profiler's events about itself. Their pid and tid name no real row.
bool EventBuilder::AddMark(const RawEvent& event) {
  const std::string_view name = event.name.text;
  const bool is_mark =
      (event.phase == 'X' && event.pid.text == "Spans") ||
      (event.pid.text == "Traces" && name.starts_with("Iteration Start: ")) ||
      (event.pid.text.empty() && name == "Record Window End");
  if (!is_mark) return false;
  out_.has_pytorch_mark =
      out_.has_pytorch_mark || name.find("PyTorch Profiler") != name.npos;
  const std::optional<TimeNs> time = event.time.TimeNs();
  if (!time) return true;
  const DurationNs duration =
      event.has_duration ? event.duration.TimeNs().value_or(0) : 0;
  const TimeNs end = AddSaturated(*time, std::max<DurationNs>(duration, 0));
  if (!out_.has_window) {
    out_.window_start = *time;
    out_.window_end = end;
  }
  out_.window_start = std::min(out_.window_start, *time);
  out_.window_end = std::max(out_.window_end, end);
  out_.has_window = true;
  return true;
}

void EventBuilder::AddEnd(const RawEvent& event) {
  RangeEnd end;
  if (!BeginRange(event, end.range)) return;
  const char phase = event.phase;
  end.is_begin = phase == 'B' || phase == 'b' || phase == 'S';
  end.is_async = phase != 'B' && phase != 'E';
  end.offset = event.offset;
  if (end.is_async) {
    end.range.flags |= model::kEventAsync;
    std::string key(event.category.text);
    key += '\0';
    key += event.id.text;
    key += '\0';
    key += event.scope.text;
    end.key = out_.strings.Intern(key);
  }
  out_.ends.push_back(end);
}

void EventBuilder::AddFlow(const RawEvent& event) {
  // These are not needed: correlation ids link launches, exact records tell of
  // wakes, and messages are matched anew.
  if (IsLaunchFlow(event) || IsWakeFlow(event) || IsMessageFlow(event)) return;
  const auto time = event.has_time ? event.time.TimeNs() : std::nullopt;
  if (!IsBackwardFlow(event) || event.phase == 't' || !time) {
    out_.findings.Add(Rule::kFlowNotKept, event.offset);
    out_.ledger.Add(model::Loss::kEventsNotImported, 1);
    return;
  }
  out_.flows.push_back({.time = *time,
                        .row = RowOf(event),
                        .id = Name(event.id),
                        .is_start = event.phase == 's'});
}

void EventBuilder::AddCounter(const RawEvent& event) {
  const std::optional<TimeNs> time = TimeOf(event);
  if (!time) return;
  const RowIndex row = RowOf(event);
  const std::string_view id = event.id.text;
  const std::string own(Unescape(event.name.text, scratch_));
  // Counters of several objects share a name, and have ids.
  std::string with_id = own;
  if (!id.empty()) {
    with_id += '[';
    with_id += Unescape(id, scratch_);
    with_id += ']';
  }
  for (const RawArg& arg : event.args) {
    const auto value = arg.value.kind == JsonValue::Kind::kNested
                           ? std::nullopt
                           : ParseDouble(arg.value.text);
    if (!value) {
      out_.findings.Add(Rule::kCounterNoNumber, event.offset);
      out_.ledger.Add(model::Loss::kRecordsCorrupt, 1);
      continue;
    }
    std::string of_arg;
    if (event.args.size() > 1 || (arg.key != "value" && arg.key != "bytes")) {
      of_arg += ' ';
      of_arg += Unescape(arg.key, scratch_);
    }
    const auto name = out_.strings.Intern(with_id + of_arg);
    Counter counter = {.sample = {.track = row,
                                  .name = name,
                                  .time_ns = *time,
                                  .value = *value},
                       .is_bytes = arg.key == "bytes"};
    if (!id.empty() && id == event.tid.text) {
      counter.name_without_id = out_.strings.Intern(own + of_arg);
    }
    out_.counters.push_back(counter);
  }
}

void EventBuilder::AddMemory(const RawEvent& event, bool is_failure) {
  const std::optional<TimeNs> time = TimeOf(event);
  if (!time) return;
  const auto small = [&](std::string_view key) {
    return static_cast<int8_t>(
        std::clamp<int64_t>(IntArg(event, key), -128, 127));
  };
  const JsonValue* const address = FindArg(event, "Addr");
  const MemorySource source = SourceOf(event);
  const JsonValue* const free = FindArg(event, "Free");
  const bool is_free =
      source == MemorySource::kHeap && free != nullptr && free->text == "true";
  out_.memory.push_back({.track = RowOf(event),
                         .event = is_failure ? MemoryEvent::kOutOfMemory
                                  : is_free  ? MemoryEvent::kFreeOfUnknown
                                             : MemoryEvent::kAllocation,
                         .source = source,
                         .device_type = small("Device Type"),
                         .device_index = small("Device Id"),
                         .time_ns = *time,
                         .address = address == nullptr
                                        ? 0
                                        : ParseUint(address->text)
                                              .value_or(static_cast<uint64_t>(
                                                  address->Int().value_or(0))),
                         .bytes = IntArg(event, "Bytes"),
                         .total_allocated = IntArg(event, "Total Allocated"),
                         .total_reserved = IntArg(event, "Total Reserved"),
                         .stack = StackNumber(event)});
}

void EventBuilder::AddMetadata(const RawEvent& event) {
  const std::string_view name = event.name.text;
  RowText text;
  const JsonValue* value = nullptr;
  if (name == "process_name") {
    text.kind = RowText::Kind::kProcessName;
    value = FindArg(event, "name");
  } else if (name == "process_labels") {
    text.kind = RowText::Kind::kProcessLabels;
    value = FindArg(event, "labels");
  } else if (name == "thread_name") {
    text.kind = RowText::Kind::kThreadName;
    value = FindArg(event, "name");
  }
  if (value == nullptr || !value->is_string()) return;
  text.row = RowOf(event);
  text.text = Name(*value);
  out_.texts.push_back(text);
}

Category EventBuilder::CategoryOf(const RawEvent& event) {
  if (event.category.text != last_category_text_) {
    last_category_text_ = event.category.text;
    last_category_ = FindCategory(event.category.text);
  }
  return last_category_;
}

RowIndex EventBuilder::RowOf(const RawEvent& event) {
  if (has_last_row_ && event.pid.text == last_pid_ &&
      event.tid.text == last_tid_) {
    return last_row_;
  }
  last_pid_ = event.pid.text;
  last_tid_ = event.tid.text;
  last_row_ = FindRow({.pid = last_pid_, .tid = last_tid_});
  has_last_row_ = true;
  return last_row_;
}

RowIndex EventBuilder::FindRow(RowKey key) {
  row_key_ = key.pid;
  row_key_ += '\0';
  row_key_ += key.tid;
  if (key.has_stream) {
    row_key_ += '\0';
    row_key_ += std::to_string(key.device);
    row_key_ += '\0';
    row_key_ += std::to_string(key.stream);
  }
  const auto [it, is_new] =
      rows_.try_emplace(row_key_, static_cast<RowIndex>(out_.rows.size()));
  if (is_new) out_.rows.push_back(std::move(key));
  return it->second;
}

}  // namespace kymo::chrome_import
