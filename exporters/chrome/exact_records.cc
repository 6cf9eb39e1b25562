// Long, because each kind of record is a list with a format of its own.
#include "exporters/chrome/exact_records.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <initializer_list>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "profiler/analysis/memory/program_starts.h"
#include "profiler/base/status_macros.h"
#include "profiler/base/strings.h"
#include "profiler/model/sample_weights.h"
#include "profiler/model/thread_states.h"
#include "profiler/text/json_text.h"

namespace kymo::chrome {
namespace {

using model::Frame;
using model::FrameId;
using model::NameId;
using model::StackId;
using model::StackTable;

constexpr size_t kMemberBytes = size_t{1} << 20;
constexpr size_t kMostNumbers = 16;
constexpr uint32_t kNone = ~uint32_t{0};

// Cuts the lists into members.
class Members {
 public:
  explicit Members(ByteSink& sink) : sink_(sink) {}

  // Adds a member beside the lists. `value` is JSON text.
  void AddValue(std::string_view key, std::string_view value) {
    CloseList();
    absl::StrAppend(&text_, text_.empty() ? "{" : ",", "\"", ToAbsl(key),
                    "\":", ToAbsl(value));
  }

  // Adds an element, JSON text, to a list.
  absl::Status Add(std::string_view list, std::string_view element) {
    if (list == list_) {
      text_ += ',';
    } else {
      CloseList();
      absl::StrAppend(&text_, text_.empty() ? "{" : ",", "\"", ToAbsl(list),
                      "\":[");
      list_ = list;
    }
    text_ += element;
    return text_.size() < kMemberBytes ? absl::OkStatus() : Finish();
  }
  // REQUIRES: at most kMostNumbers.
  absl::Status Add(std::string_view list,
                   std::initializer_list<uint64_t> numbers) {
    char element[2 + kMostNumbers * (json::kMaxNumberLength + 1)];
    char* end = element;
    for (const uint64_t number : numbers) {
      *end = end == element ? '[' : ',';
      ++end;
      end = std::to_chars(end, end + json::kMaxNumberLength, number).ptr;
    }
    *end++ = ']';
    return Add(list,
               std::string_view(element, static_cast<size_t>(end - element)));
  }

  absl::Status Finish() {
    if (text_.empty()) return absl::OkStatus();
    CloseList();
    const std::string key =
        absl::StrCat("\"", ToAbsl(kExactRecords), count_++, "\": ");
    text_ += "},\n";
    KYMO_RETURN_IF_ERROR(sink_.Append(key));
    KYMO_RETURN_IF_ERROR(sink_.Append(text_));
    text_.clear();
    return absl::OkStatus();
  }

 private:
  void CloseList() {
    if (!list_.empty()) text_ += ']';
    list_ = {};
  }

  ByteSink& sink_;
  std::string text_;  // of the member that is being made
  std::string_view list_;
  int count_ = 0;
};

// Writes each name and each frame before the first element that refers to it.
class Tables {
 public:
  Tables(const model::Trace& trace, Members& members)
      : trace_(trace),
        members_(members),
        names_(trace.strings().size(), kNone),
        frames_(trace.stacks().frame_count(), kNone) {
    names_[Index(model::kEmptyName)] = 0;
  }

  absl::Status AddName(NameId name) {
    if (names_[Index(name)] != kNone) return absl::OkStatus();
    names_[Index(name)] = ++name_count_;
    std::string text;
    json::AppendJsonString(text, trace_.Name(name));
    return members_.Add("names", text);
  }
  absl::Status AddNames(const Frame& frame) {
    for (const NameId name : {frame.function, frame.file, frame.module}) {
      KYMO_RETURN_IF_ERROR(AddName(name));
    }
    return absl::OkStatus();
  }
  uint32_t NameNumber(NameId name) const { return names_[Index(name)]; }

  absl::Status AddFrame(FrameId id) {
    if (frames_[Index(id)] != kNone) return absl::OkStatus();
    frames_[Index(id)] = frame_count_++;
    const Frame& frame = trace_.stacks().frame(id);
    return members_.Add(
        "frames", {names_[Index(frame.function)], names_[Index(frame.file)],
                   names_[Index(frame.module)], frame.line, frame.address,
                   (frame.is_inlined ? uint32_t{kFrameInlined} : 0) |
                       (frame.is_kernel ? uint32_t{kFrameKernel} : 0) |
                       (frame.is_resolved ? 0 : uint32_t{kFrameUnresolved})});
  }

  uint32_t FrameNumber(FrameId id) const { return frames_[Index(id)]; }

 private:
  const model::Trace& trace_;
  Members& members_;
  std::vector<uint32_t> names_;   // by name
  std::vector<uint32_t> frames_;  // by frame
  uint32_t name_count_ = 0;
  uint32_t frame_count_ = 0;
};

uint64_t Positive(int64_t number) {
  return static_cast<uint64_t>(std::max<int64_t>(number, 0));
}

absl::Status AddParents(const model::Trace& trace, const Rows& rows,
                        Members& members) {
  for (const model::Process& process : trace.processes()) {
    if (process.parent_pid == 0 || trace.processes().size() < 2) continue;
    KYMO_RETURN_IF_ERROR(
        members.Add("parents", {Positive(rows.PidOf(process.pid)),
                                Positive(rows.PidOf(process.parent_pid))}));
  }
  return absl::OkStatus();
}

absl::Status AddPrograms(const model::Trace& trace, const Rows& rows,
                         TimeNs base_ns, Members& members) {
  for (const analysis::ProgramStart& start : analysis::ProgramStarts(trace)) {
    KYMO_RETURN_IF_ERROR(members.Add(
        "programs",
        {Positive(rows.PidOf(start.pid)), Positive(start.time_ns - base_ns)}));
  }
  return absl::OkStatus();
}

// By the number of the thread in "threads".
absl::Status AddThreadCounts(const model::ThreadStates& states,
                             Members& members) {
  for (size_t i = 0; i < states.threads.size(); ++i) {
    const model::ThreadCounts& counts = states.threads[i].counts;
    if (!counts.has_faults && !counts.has_io) continue;
    KYMO_RETURN_IF_ERROR(members.Add(
        "thread_counts",
        {i, uint64_t{counts.has_faults}, counts.minor_faults,
         counts.major_faults, uint64_t{counts.has_io}, counts.read_calls,
         counts.read_bytes, counts.write_calls, counts.written_bytes,
         counts.disk_read_bytes, counts.disk_written_bytes}));
  }
  return absl::OkStatus();
}

absl::Status AddThreads(const model::Trace& trace, const Rows& rows,
                        Members& members) {
  const model::ThreadStates* const states = trace.thread_states();
  if (states == nullptr) return absl::OkStatus();
  members.AddValue("cpu_count", std::to_string(states->cpu_count));
  const model::CpuLimit& limit = states->cpu_limit;
  if (limit.quota_ns > 0) {
    KYMO_RETURN_IF_ERROR(members.Add(
        "cpu_limits",
        {Positive(limit.quota_ns), Positive(limit.period_ns), limit.periods,
         limit.throttled_periods, Positive(limit.throttled_ns)}));
  }
  if (states->kymo_cpu_ns > 0) {
    members.AddValue("kymo_cpu_ns", std::to_string(states->kymo_cpu_ns));
  }
  for (const model::ThreadTimes& times : states->threads) {
    const Row& row = rows.tracks[times.track];
    const Row* const creator = times.creator == model::kNoTrack
                                   ? nullptr
                                   : &rows.tracks[times.creator];
    KYMO_RETURN_IF_ERROR(members.Add(
        "threads",
        {Positive(row.pid), Positive(row.tid), Positive(times.wall_ns),
         Positive(times.on_cpu_ns), Positive(times.runnable_ns),
         Positive(times.unknown_ns), Positive(times.open_wait_ns),
         times.voluntary_switches, times.involuntary_switches,
         static_cast<uint64_t>(times.run_queue), Positive(times.begin_ns),
         Positive(times.end_ns),
         creator == nullptr ? 0 : Positive(creator->pid),
         creator == nullptr ? 0 : Positive(creator->tid)}));
  }
  return AddThreadCounts(*states, members);
}

// The rows of threads that waited, that another one waited for, or that have
// sums of samples, in their order.
class WaitRows {
 public:
  explicit WaitRows(const model::Trace& trace)
      : numbers_(trace.tracks().size(), kNone) {
    for (const model::SampleSum& sum : trace.sample_sums()) {
      numbers_[sum.track] = 0;
    }
    if (const model::ThreadStates* const states = trace.thread_states()) {
      for (const model::Wait& wait : states->waits) {
        numbers_[wait.track] = 0;
        for (const model::TrackIndex other : {wait.waker, wait.holder}) {
          if (other != model::kNoTrack) numbers_[other] = 0;
        }
      }
      for (const model::WaitSum& sum : states->short_waits) {
        numbers_[sum.track] = 0;
      }
    }
    uint32_t count = 0;
    for (uint32_t& number : numbers_) {
      if (number != kNone) number = count++;
    }
  }

  absl::Status Write(const Rows& rows, Members& members) const {
    for (size_t t = 0; t < numbers_.size(); ++t) {
      if (numbers_[t] == kNone) continue;
      const Row& row = rows.tracks[t];
      KYMO_RETURN_IF_ERROR(
          members.Add("wait_rows", {Positive(row.pid), Positive(row.tid)}));
    }
    return absl::OkStatus();
  }

  uint32_t Of(model::TrackIndex track) const { return numbers_[track]; }
  // 1 + the row of a thread that may not be known.
  uint64_t OfOther(model::TrackIndex track) const {
    return track == model::kNoTrack ? 0 : uint64_t{Of(track)} + 1;
  }

 private:
  std::vector<uint32_t> numbers_;  // by track
};

absl::Status AddSampleSums(const model::Trace& trace, const WaitRows& rows,
                           const ExactRecords& numbers, Members& members) {
  for (const model::SampleSum& sum : trace.sample_sums()) {
    KYMO_RETURN_IF_ERROR(members.Add(
        "sample_sums", {rows.Of(sum.track), numbers.StackNumber(sum.stack),
                        sum.count, Positive(sum.weight_ns)}));
  }
  return absl::OkStatus();
}

absl::Status AddWaits(const model::Trace& trace, const WaitRows& wait_rows,
                      TimeNs base_ns, const ExactRecords& numbers,
                      const Tables& tables, Members& members) {
  const model::ThreadStates* const states = trace.thread_states();
  if (states == nullptr) return absl::OkStatus();
  if (states->min_wait_ns > 0) {
    members.AddValue("min_wait_ns", std::to_string(states->min_wait_ns));
  }
  for (const model::Wait& wait : states->waits) {
    KYMO_RETURN_IF_ERROR(members.Add(
        "waits",
        {wait_rows.Of(wait.track), static_cast<uint64_t>(wait.kind),
         wait.is_open, Positive(wait.begin_ns - base_ns),
         Positive(wait.duration_ns), Positive(wait.runnable_ns + 1),
         numbers.StackNumber(wait.stack), wait.object,
         tables.NameNumber(wait.object_name), wait_rows.OfOther(wait.waker),
         numbers.StackNumber(wait.waker_stack), wait_rows.OfOther(wait.holder),
         numbers.StackNumber(wait.holder_stack)}));
  }
  for (const model::WaitSum& sum : states->short_waits) {
    KYMO_RETURN_IF_ERROR(
        members.Add("short_waits",
                    {wait_rows.Of(sum.track), static_cast<uint64_t>(sum.kind),
                     numbers.StackNumber(sum.stack), sum.object,
                     tables.NameNumber(sum.object_name), sum.count,
                     Positive(sum.duration_ns), Positive(sum.longest_ns)}));
  }
  return absl::OkStatus();
}

// each(wait or sum)
template <typename Each>
void ForEachWait(const model::Trace& trace, const Each& each) {
  if (trace.thread_states() == nullptr) return;
  for (const model::Wait& wait : trace.thread_states()->waits) each(wait);
  for (const model::WaitSum& sum : trace.thread_states()->short_waits) {
    each(sum);
  }
}

}  // namespace

ExactRecords::ExactRecords(const model::Trace& trace, const Rows& rows,
                           TimeNs base_ns, bool with_heap)
    : trace_(trace),
      rows_(rows),
      base_ns_(base_ns),
      numbers_(trace.stacks().stack_count()) {
  ForEachSampleWeight(trace, [this](const model::SampleSum& sum) {
    numbers_[Index(sum.stack)] = 1;
  });
  for (const model::MemoryRecord& record : trace.memory()) {
    if (with_heap || record.source != model::MemorySource::kHeap ||
        record.event != model::MemoryEvent::kAllocation) {
      numbers_[Index(record.stack)] = 1;
    }
  }
  if (const model::ThreadStates* const states = trace.thread_states()) {
    for (const model::Wait& wait : states->waits) {
      for (const StackId stack :
           {wait.stack, wait.waker_stack, wait.holder_stack}) {
        numbers_[Index(stack)] = 1;
      }
    }
    for (const model::WaitSum& sum : states->short_waits) {
      numbers_[Index(sum.stack)] = 1;
    }
  }
  // Parents have smaller ids than their children.
  for (size_t i = numbers_.size(); i-- > 1;) {
    if (numbers_[i] != 0) {
      numbers_[Index(trace.stacks().parent(StackId(i)))] = 1;
    }
  }
  numbers_[Index(model::kEmptyStack)] = 0;
  uint32_t count = 0;
  for (uint32_t& number : numbers_) {
    if (number != 0) number = ++count;
  }
}

absl::Status ExactRecords::Write(ByteSink& sink) const {
  Members members(sink);
  if (trace_.sampling_period_ns() > 0) {
    members.AddValue("sampling_period_ns",
                     std::to_string(trace_.sampling_period_ns()));
  }
  if (trace_.memory_sample_interval() > 0) {
    std::string interval;
    json::AppendDouble(interval, trace_.memory_sample_interval());
    members.AddValue("memory_sample_interval", interval);
  }
  const StackTable& stacks = trace_.stacks();
  const auto for_each_stack = [&](auto f) -> absl::Status {
    for (uint32_t i = 1; i < numbers_.size(); ++i) {
      if (numbers_[i] != 0) KYMO_RETURN_IF_ERROR(f(StackId{i}));
    }
    return absl::OkStatus();
  };
  Tables tables(trace_, members);
  KYMO_RETURN_IF_ERROR(for_each_stack([&](StackId stack) {
    return tables.AddNames(stacks.frame(stacks.leaf(stack)));
  }));
  absl::Status status;
  ForEachWait(trace_, [&](const auto& wait) {
    if (status.ok()) status = tables.AddName(wait.object_name);
  });
  KYMO_RETURN_IF_ERROR(status);
  KYMO_RETURN_IF_ERROR(for_each_stack(
      [&](StackId stack) { return tables.AddFrame(stacks.leaf(stack)); }));
  KYMO_RETURN_IF_ERROR(for_each_stack([&](StackId stack) {
    return members.Add("stacks", {numbers_[Index(stacks.parent(stack))],
                                  tables.FrameNumber(stacks.leaf(stack))});
  }));
  std::vector<uint32_t> row_of_track(rows_.flames.size());
  uint32_t row_count = 0;
  for (size_t t = 0; t < rows_.flames.size(); ++t) {
    const Row& row = rows_.flames[t];
    if (!row.is_used) continue;
    row_of_track[t] = row_count++;
    KYMO_RETURN_IF_ERROR(
        members.Add("rows", {Positive(row.pid), Positive(row.tid)}));
  }
  for (const model::StackSample& sample : trace_.samples()) {
    KYMO_RETURN_IF_ERROR(members.Add(
        "samples",
        {row_of_track[sample.track], Positive(sample.time_ns - base_ns_),
         Positive(sample.weight_ns), StackNumber(sample.stack)}));
  }
  for (const model::AllocationCounts& counts : trace_.allocation_counts()) {
    const Row& row = rows_.tracks[counts.track];
    KYMO_RETURN_IF_ERROR(
        members.Add("allocations",
                    {Positive(row.pid), Positive(row.tid), counts.allocations,
                     counts.frees, counts.allocated_bytes}));
  }
  KYMO_RETURN_IF_ERROR(AddParents(trace_, rows_, members));
  KYMO_RETURN_IF_ERROR(AddPrograms(trace_, rows_, base_ns_, members));
  KYMO_RETURN_IF_ERROR(AddThreads(trace_, rows_, members));
  const WaitRows wait_rows(trace_);
  KYMO_RETURN_IF_ERROR(wait_rows.Write(rows_, members));
  KYMO_RETURN_IF_ERROR(AddSampleSums(trace_, wait_rows, *this, members));
  KYMO_RETURN_IF_ERROR(
      AddWaits(trace_, wait_rows, base_ns_, *this, tables, members));
  return members.Finish();
}

}  // namespace kymo::chrome
