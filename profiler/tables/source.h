// source.h - what the columns of tables are made of: the trace, the texts that
// it does not have, and what is derived from it.
//
//   Define("self_ns", "...", [](const Source& s, size_t row) {
//     return s.self_ns()[row];
//   })
//
// Others include trace_tables.h. Every derived value is made when it is first
// asked for; see lazy.h for threads.
#ifndef KYMO_PROFILER_TABLES_SOURCE_H_
#define KYMO_PROFILER_TABLES_SOURCE_H_

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "profiler/analysis/device/device_work.h"
#include "profiler/analysis/device/launches.h"
#include "profiler/analysis/memory/memory_usage.h"
#include "profiler/base/column.h"
#include "profiler/base/time.h"
#include "profiler/model/trace.h"
#include "profiler/tables/lazy.h"
#include "profiler/tables/memory_by_stack.h"
#include "profiler/tables/rank_facts.h"
#include "profiler/tables/step_of_event.h"
#include "profiler/tables/table.h"
#include "profiler/tables/texts.h"
#include "profiler/tables/thread_rows.h"

namespace kymo::tables {

// An argument and the event that has it.
struct ArgRow {
  model::EventIndex event = 0;
  uint32_t arg = 0;  // into the trace's arguments
};

struct WorkRow {
  model::EventIndex event = 0;
  analysis::WorkKind kind = analysis::WorkKind::kNone;
};

// Which members of the events' details have a value in some event.
struct DetailsHave {
  bool correlation_id = false;
  bool sequence_nr = false;
  bool forward_thread = false;
  bool debug_handle = false;
  bool node_id = false;
  bool overload_name = false;
  bool inputs = false;
  bool stack = false;
};

class Source {
 public:
  explicit Source(const model::Trace& trace);

  const model::Trace& trace() const { return trace_; }
  const Texts& texts() const { return texts_; }
  const std::vector<RankRow>& ranks() const;
  std::optional<TextId> LauncherOf(const RankRow& rank) const;
  std::optional<TextId> HostOf(const RankRow& rank) const;

  // Null when the event has none.
  const model::Detail* detail(size_t event) const {
    return trace_.detail(static_cast<model::EventIndex>(event));
  }
  const model::Track& track_of(size_t event) const {
    return trace_.tracks()[trace_.track()[event]];
  }

  const DetailsHave& details_have() const;

  // By event.
  const Column64& self_ns() const;
  const kymo::Column<uint32_t>& depth() const;
  const Column64& step() const;                    // kNoStep: in no step
  const std::vector<DurationNs>& wait_ns() const;  // empty: nobody recorded it
  const analysis::MemoryUsage& memory_usage() const;
  const std::vector<int64_t>& flops() const;
  const std::vector<uint8_t>& is_duplicate() const;  // empty: there are none

  const ThreadRows& threads() const;
  const std::vector<ArgRow>& args() const;            // by event, then as added
  const std::vector<uint32_t>& event_counts() const;  // by name
  const analysis::Launches& launches() const;
  const std::vector<WorkRow>& device_work() const;  // by event
  const std::vector<StepRow>& steps() const;        // by pid, time
  const std::vector<bool>& idle_waits() const;
  const std::vector<model::EventIndex>& events_of_waits() const;
  const std::vector<MemoryByStack>& memory_by_stack() const;
  const std::vector<model::Loss>& losses() const;  // that are not 0

 private:
  const model::Trace& trace_;
  Texts texts_;
  const RankFacts facts_;
  const TextId mpi_;
  Lazy<std::vector<RankRow>> ranks_;
  std::optional<TextId> launcher_;
  std::optional<TextId> host_;
  Lazy<DetailsHave> details_have_;
  Lazy<Column64> self_ns_;
  Lazy<kymo::Column<uint32_t>> depth_;
  Lazy<Column64> step_;
  Lazy<std::vector<DurationNs>> wait_ns_;
  Lazy<analysis::MemoryUsage> memory_usage_;
  Lazy<std::vector<int64_t>> flops_;
  Lazy<std::vector<uint8_t>> is_duplicate_;
  Lazy<ThreadRows> threads_;
  Lazy<std::vector<ArgRow>> args_;
  Lazy<std::vector<uint32_t>> event_counts_;
  Lazy<std::unique_ptr<analysis::Launches>> launches_;
  Lazy<std::vector<WorkRow>> device_work_;
  Lazy<std::vector<StepRow>> steps_;
  Lazy<std::vector<bool>> idle_waits_;
  Lazy<std::vector<model::EventIndex>> events_of_waits_;
  Lazy<std::vector<MemoryByStack>> memory_by_stack_;
  Lazy<std::vector<model::Loss>> losses_;
};

}  // namespace kymo::tables

#endif  // KYMO_PROFILER_TABLES_SOURCE_H_
