#include "importers/chrome/events/event_store.h"

#include <algorithm>
#include <utility>

#include "importers/chrome/events/event_args.h"

namespace kymo::chrome_import {
namespace {

using model::NameId;
using model::StackId;

// Appends the blocks one after the other, and frees each when it is copied.
template <typename T>
void Join(std::vector<std::vector<T>>& blocks, size_t count,
          std::vector<T>& out) {
  out.reserve(out.size() + count);
  for (std::vector<T>& block : blocks) {
    out.insert(out.end(), block.begin(), block.end());
    block = {};
  }
  blocks.clear();
}

}  // namespace

void EventStore::Add(ParsedEvents events) {
  const Ids ids = MakeIds(events);
  // Ranges first: they refer to details by the number of details so far.
  AddRanges(events, ids);
  AddOthers(events, ids);
  AddDetails(events, ids);
  findings.Merge(events.findings);
  shard.ledger.Merge(events.ledger);
  has_pytorch_mark = has_pytorch_mark || events.has_pytorch_mark;
  if (events.has_window) {
    window_start = has_window ? std::min(window_start, events.window_start)
                              : events.window_start;
    window_end = has_window ? std::max(window_end, events.window_end)
                            : events.window_end;
    has_window = true;
  }
}

void EventStore::JoinDetails() {
  Join(details_, detail_count_, shard.details);
  Join(args_, arg_count_, shard.args);
}

EventStore::Ids EventStore::MakeIds(const ParsedEvents& events) {
  Ids ids;
  ids.names.reserve(events.strings.size());
  for (uint32_t id = 0; id < events.strings.size(); ++id) {
    ids.names.push_back(shard.strings.Intern(events.strings.Get(NameId{id})));
  }
  std::vector<model::FrameId> frames;
  for (uint32_t f = 0; f < events.stacks.frame_count(); ++f) {
    model::Frame frame = events.stacks.frame(model::FrameId{f});
    frame.function = ids.names[Index(frame.function)];
    frame.file = ids.names[Index(frame.file)];
    frames.push_back(shard.stacks.AddFrame(frame));
  }
  ids.stacks.push_back(model::kEmptyStack);
  for (uint32_t s = 1; s < events.stacks.stack_count(); ++s) {
    const StackId parent = events.stacks.parent(StackId{s});
    ids.stacks.push_back(
        shard.stacks.Push(ids.stacks[Index(parent)],
                          frames[Index(events.stacks.leaf(StackId{s}))]));
  }
  for (const RowKey& key : events.rows) ids.rows.push_back(FindRow(key));
  return ids;
}

RowIndex EventStore::AddRow(const std::string& pid, const std::string& tid) {
  const RowIndex row = FindRow({.pid = pid, .tid = tid});
  rows[row].has_events = true;
  return row;
}

RowIndex EventStore::FindRow(const RowKey& key) {
  std::string text = key.pid;
  text += '\0';
  text += key.tid;
  if (key.has_stream) {
    text += '\0';
    text += std::to_string(key.device);
    text += '\0';
    text += std::to_string(key.stream);
  }
  const auto [it, is_new] =
      row_ids_.try_emplace(std::move(text), static_cast<RowIndex>(rows.size()));
  if (is_new) {
    const auto [pid, is_new_pid] =
        pid_ids_.try_emplace(key.pid, static_cast<uint32_t>(processes.size()));
    if (is_new_pid) processes.push_back({.pid = key.pid});
    rows.push_back({.key = key, .pid = pid->second});
  }
  return it->second;
}

void EventStore::Move(Range& range, const Ids& ids) {
  range.name = ids.names[Index(range.name)];
  range.row = ids.rows[range.row];
  if (range.detail != model::kNoDetail) range.detail += detail_count_;
  FileRow& row = rows[range.row];
  row.has_events = true;
  row.has_device_work = row.has_device_work || IsDeviceWork(range.type);
}

void EventStore::AddRanges(ParsedEvents& events, const Ids& ids) {
  for (Range& range : events.ranges) Move(range, ids);
  for (RangeEnd& end : events.ends) {
    Move(end.range, ids);
    end.key = ids.names[Index(end.key)];
  }
  events.ranges.shrink_to_fit();
  if (!events.ranges.empty()) ranges.push_back(std::move(events.ranges));
  ends.insert(ends.end(), events.ends.begin(), events.ends.end());
}

void EventStore::AddOthers(ParsedEvents& events, const Ids& ids) {
  for (FlowEnd flow : events.flows) {
    flow.row = ids.rows[flow.row];
    flow.id = ids.names[Index(flow.id)];
    flows.push_back(flow);
  }
  for (Counter counter : events.counters) {
    counter.sample.track = ids.rows[counter.sample.track];
    counter.sample.name = ids.names[Index(counter.sample.name)];
    rows[counter.sample.track].has_events = true;
    counters.push_back(counter);
  }
  for (model::MemoryRecord& record : events.memory) {
    record.track = ids.rows[record.track];
    rows[record.track].has_events = true;
  }
  memory.insert(memory.end(), events.memory.begin(), events.memory.end());
  for (const RowText& text : events.texts) {
    FileRow& row = rows[ids.rows[text.row]];
    const NameId name = ids.names[Index(text.text)];
    switch (text.kind) {
      case RowText::Kind::kProcessName:
        processes[row.pid].name = name;
        break;
      case RowText::Kind::kProcessLabels:
        processes[row.pid].labels = name;
        break;
      case RowText::Kind::kThreadName:
        row.thread_name = name;
        break;
    }
  }
}

void EventStore::AddDetails(ParsedEvents& events, const Ids& ids) {
  for (model::Detail& detail : events.details) {
    detail.args_begin += arg_count_;
    detail.args_end += arg_count_;
    detail.inputs = ids.names[Index(detail.inputs)];
    detail.stack = ids.stacks[Index(detail.stack)];
  }
  for (model::Arg& arg : events.args) {
    arg.key = ids.names[Index(arg.key)];
    if (arg.has_text()) arg.bits = Index(ids.names[Index(arg.string_value())]);
  }
  detail_count_ += static_cast<uint32_t>(events.details.size());
  arg_count_ += static_cast<uint32_t>(events.args.size());
  if (!events.details.empty()) {
    events.details.shrink_to_fit();
    details_.push_back(std::move(events.details));
  }
  if (!events.args.empty()) {
    events.args.shrink_to_fit();
    args_.push_back(std::move(events.args));
  }
}

}  // namespace kymo::chrome_import
