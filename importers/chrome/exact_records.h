// exact_records.h - reads samples and stacks from members of Kymo's files.
//
//   ExactRecords exact;
//   exact.Add(json, shard);             // each kymo_records_N, in their order
//   if (exact.has_samples()) ...        // else the flame chart tells of them
//
// exporters/chrome/exact_records.h has the format. Names, frames and stacks go
// into the shard. If a member is not as it should be, it is counted as a
// corrupt record. Nothing behind that place is read, also of later members,
// because numbers count through: they would mean other names and stacks. Then
// there are no samples: the flame chart has all of them. There are no times and
// waits of threads either: those of some would look like those of all.
#ifndef KYMO_IMPORTERS_CHROME_EXACT_RECORDS_H_
#define KYMO_IMPORTERS_CHROME_EXACT_RECORDS_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/base/time.h"
#include "profiler/model/records.h"
#include "profiler/model/stack_table.h"
#include "profiler/model/string_table.h"
#include "profiler/model/thread_states.h"
#include "profiler/model/trace_shard.h"
#include "profiler/model/waits.h"

namespace kymo::chrome_import {

inline constexpr std::string_view kExactRecords = "kymo_records_";

class ExactRecords {
 public:
  // A line of the timeline, as the file's events name it.
  struct Row {
    std::string pid;
    std::string tid;
  };
  struct Sample {
    uint32_t row = 0;
    TimeNs time_ns = 0;  // after the file's base
    DurationNs weight_ns = 0;
    model::StackId stack = model::kEmptyStack;
  };
  struct Allocations {
    Row row;
    model::AllocationCounts counts;  // without the track
  };

  struct Thread {
    Row row;
    model::ThreadTimes times;  // without the track and the creator
    std::optional<Row> creator;
  };

  struct Parent {
    int64_t pid = 0;
    int64_t parent_pid = 0;
  };

  struct Program {
    int64_t pid = 0;
    TimeNs start_ns = 0;  // after the file's base
  };

  // Threads are rows of wait_rows().
  struct Waits {
    DurationNs min_wait_ns = 0;
    std::vector<model::Wait> waits;  // times are after the file's base
    std::vector<model::WaitSum> short_waits;

    bool is_empty() const { return waits.empty() && short_waits.empty(); }
  };

  void Add(std::string_view json, model::TraceShard& shard);

  bool has_samples() const { return !samples_.empty(); }
  const std::vector<Row>& rows() const { return rows_; }
  const std::vector<Sample>& samples() const { return samples_; }
  // Their tracks are rows of wait_rows().
  const std::vector<model::SampleSum>& sample_sums() const {
    return sample_sums_;
  }
  const std::vector<Allocations>& allocations() const { return allocations_; }
  const std::vector<Thread>& threads() const { return threads_; }
  const std::vector<Parent>& parents() const { return parents_; }
  const std::vector<Program>& programs() const { return programs_; }
  uint32_t cpu_count() const { return cpu_count_; }
  const model::CpuLimit& cpu_limit() const { return cpu_limit_; }
  DurationNs kymo_cpu_ns() const { return kymo_cpu_ns_; }
  const std::vector<Row>& wait_rows() const { return wait_rows_; }
  const Waits& waits() const { return waits_; }
  // The stack that the file calls `number`; the empty one if there is none.
  model::StackId Stack(uint64_t number) const {
    return number < stacks_.size() ? stacks_[number] : model::kEmptyStack;
  }

 private:
  bool Read(std::string_view json, model::TraceShard& shard);
  bool AddSampleSum(const std::array<uint64_t, 4>& sum);
  bool AddThreadCounts(const std::array<uint64_t, 11>& counts);
  bool AddCpuLimit(const std::array<uint64_t, 5>& limit);
  bool AddWait(const std::array<uint64_t, 13>& wait);
  bool AddShortWaits(const std::array<uint64_t, 8>& sum);

  bool is_broken_ = false;
  std::vector<model::NameId> names_ = {model::kEmptyName};
  std::vector<model::FrameId> frames_;
  std::vector<model::StackId> stacks_ = {model::kEmptyStack};
  std::vector<Row> rows_;
  std::vector<Sample> samples_;
  std::vector<model::SampleSum> sample_sums_;
  uint64_t sampled_ns_ = 0;  // of samples_
  uint64_t summed_ns_ = 0;   // of sample_sums_
  uint64_t summed_count_ = 0;
  std::vector<Allocations> allocations_;
  std::vector<Parent> parents_;
  std::vector<Program> programs_;
  std::vector<Thread> threads_;
  uint64_t threads_wall_ns_ = 0;
  uint32_t cpu_count_ = 0;
  model::CpuLimit cpu_limit_;
  DurationNs kymo_cpu_ns_ = 0;
  std::vector<Row> wait_rows_;
  Waits waits_;
  uint64_t waits_ns_ = 0;  // of all of them
};

}  // namespace kymo::chrome_import

#endif  // KYMO_IMPORTERS_CHROME_EXACT_RECORDS_H_
