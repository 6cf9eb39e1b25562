#include "importers/chrome/events/event_store.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "importers/chrome/events/event_args.h"

namespace kymo::chrome_import {
namespace {

using model::NameId;
using model::StackId;

// The first block is small, for small files.
constexpr size_t kFirstBlockRanges = size_t{4} << 10;
constexpr size_t kBlockRanges = size_t{64} << 10;

// Asks for huge pages, whose first touch costs a fraction.
void AskForHugePages(void* memory, size_t bytes) {
  constexpr uintptr_t kHugePage = uintptr_t{2} << 20;
  const auto begin = reinterpret_cast<uintptr_t>(memory);
  const uintptr_t first = (begin + kHugePage - 1) / kHugePage * kHugePage;
  const uintptr_t last = (begin + bytes) / kHugePage * kHugePage;
  // Advice: without huge pages it is merely slower.
  if (first < last) {
    madvise(reinterpret_cast<void*>(first), last - first, MADV_HUGEPAGE);
  }
}

// Appends the elements. `part` is how much of the file was read.
template <typename T>
void Append(const std::vector<T>& from, double part, std::vector<T>& to) {
  const size_t needed = to.size() + from.size();
  if (needed > to.capacity()) {
    // A guess from the beginning of a file may be wrong, so it is bounded.
    const double growth = std::clamp(1.03 / part, 2.0, 16.0);
    to.reserve(static_cast<size_t>(growth * static_cast<double>(needed)));
    AskForHugePages(to.data(), to.capacity() * sizeof(T));
  }
  to.insert(to.end(), from.begin(), from.end());
}

}  // namespace

void EventStore::Add(ParsedEvents& events) {
  const Ids ids = MakeIds(events);
  // Ranges first: they refer to details by the number of details so far.
  MoveRanges(events, ids);
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
  if (range.detail != model::kNoDetail) {
    range.detail += static_cast<uint32_t>(shard.details.size());
  }
  FileRow& row = rows[range.row];
  row.has_events = true;
  row.has_device_work = row.has_device_work || IsDeviceWork(range.type);
}

void EventStore::AddRanges(const std::vector<Range>& added) {
  for (size_t done = 0; done < added.size();) {
    if (ranges.empty() || ranges.back().size() == ranges.back().capacity()) {
      const size_t room = ranges.empty() ? kFirstBlockRanges : kBlockRanges;
      ranges.emplace_back().reserve(room);
    }
    RangeBlock& block = ranges.back();
    const size_t count =
        std::min(added.size() - done, block.capacity() - block.size());
    const auto first = added.begin() + static_cast<ptrdiff_t>(done);
    block.insert(block.end(), first, first + static_cast<ptrdiff_t>(count));
    done += count;
  }
}

void EventStore::MoveRanges(ParsedEvents& events, const Ids& ids) {
  for (Range& range : events.ranges) Move(range, ids);
  for (RangeEnd& end : events.ends) {
    Move(end.range, ids);
    end.key = ids.names[Index(end.key)];
  }
  AddRanges(events.ranges);
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
    counter.name_without_id = ids.names[Index(counter.name_without_id)];
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
  const auto arg_count = static_cast<uint32_t>(shard.args.size());
  const model::RareIndex first_rare =
      shard.rare_details.Append(events.rare_details);
  for (model::Detail& detail : events.details) {
    detail.args_begin += arg_count;
    detail.args_end += arg_count;
    detail.inputs = ids.names[Index(detail.inputs)];
    detail.stack = ids.stacks[Index(detail.stack)];
    detail.rare = model::RareDetails::Moved(detail.rare, first_rare);
  }
  for (model::Arg& arg : events.args) {
    arg.key = ids.names[Index(arg.key)];
    if (arg.has_text()) arg.bits = Index(ids.names[Index(arg.string_value())]);
  }
  const double part = text_bytes == 0 ? 1
                                      : static_cast<double>(events.end_offset) /
                                            static_cast<double>(text_bytes);
  Append(events.details, part, shard.details);
  Append(events.args, part, shard.args);
}

}  // namespace kymo::chrome_import
