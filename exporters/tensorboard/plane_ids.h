// plane_ids.h - the ids of the names and texts of one XPlane, and the tables
// that say what they stand for.
//
//   PlaneIds ids(trace, steps, [&](model::NameId name) {
//     return operations.Get(name);
//   });
//   ids.Event(trace.name()[event], NameForm::kSpecial);   // an operation
//   ids.Stat(StatName::kCorrelationId);
//   ids.WriteTables(write);                // those that were asked for
//
// An XPlane interns twice: events have ids of event_metadata, statistics have
// ids of stat_metadata, and the latter are both what a statistic is called and
// what it may say (`ref_value`). Names of the trace have ids that follow from
// their place in its string table, so that nothing is looked up per event; what
// the plane needs besides is interned behind them. A text has one id, whoever
// brings it.
//
// The special form of a name is what gives an event its meaning in XProf, with
// the name itself as `display_name`: the host's operations are scope/name:Type
// (op_names.h), a device's copies MemcpyHToD and so on. Steps are
// "ProfilerStep" in any form.
//
// Arguments that the program called like something that XProf understands get
// "argument " in front, so that it does not.
//
// Threads: Intern, NewEvent and WriteTables run alone; everything else may run
//   concurrently. An id that was asked for is marked, not counted, so the order
//   of the calls does not matter.
#ifndef KYMO_EXPORTERS_TENSORBOARD_PLANE_IDS_H_
#define KYMO_EXPORTERS_TENSORBOARD_PLANE_IDS_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "exporters/tensorboard/step_names.h"
#include "profiler/model/trace.h"

namespace kymo::tensorboard {

enum class NameForm : uint8_t { kPlain, kSpecial };

// Events that are not the trace's.
enum class OwnEvent : uint8_t {
  kMemoryAllocation,
  kMemoryDeallocation,
  kOutOfMemory,
  kCount,
};

// Statistics with a meaning.
enum class StatName : uint8_t {
  kRoot,  // "_r"
  kStepNum,
  kCorrelationId,
  kDeviceId,
  kFlow,
  kAsync,  // "_a"
  kTfOp,
  kShape,
  kSource,
  kSourceStack,
  kExternalId,
  kSequenceNumber,
  kForwardThread,
  kFinished,
  kKernelDetails,
  kMemcpyDetails,
  kMemsetDetails,
  kAllocatorName,
  kRegionType,
  kBytesAllocated,
  kBytesReserved,
  kPeakBytesInUse,
  kRequestedBytes,
  kAllocationBytes,
  kAddress,
  kCount,
};

class PlaneIds {
 public:
  using SpecialName = std::function<std::string(model::NameId)>;

  // Both must outlive the object. `special_name` is called for names of which
  // the special form was asked for.
  PlaneIds(const model::Trace& trace, const StepNames& steps,
           SpecialName special_name);
  PlaneIds(const PlaneIds&) = delete;
  PlaneIds& operator=(const PlaneIds&) = delete;

  // --- events ---
  uint64_t Event(model::NameId name, NameForm form) {
    const size_t at = 2 * size_t{Index(name)} + static_cast<size_t>(form);
    return Mark(event_marks_, at);
  }
  uint64_t Event(OwnEvent event) {
    return Mark(event_marks_, 2 * names_ + static_cast<size_t>(event));
  }
  // Of a name that the trace does not have; used from now on.
  uint64_t NewEvent(std::string_view name);
  // Cheap where there are no steps.
  bool IsStep(model::NameId name) const {
    return !is_step_.empty() && is_step_[Index(name)];
  }

  // --- statistics and texts ---
  uint64_t Stat(StatName name) {
    return Mark(stat_marks_, stats_[static_cast<size_t>(name)] - 1);
  }
  uint64_t Text(model::NameId name) {
    return Mark(stat_marks_, size_t{Index(name)});
  }
  // Of an argument of the program's own.
  uint64_t Key(model::NameId name);
  // Takes a text in; its id never changes.
  uint64_t Intern(std::string_view text);
  // Of a text that Intern gave.
  uint64_t Text(uint64_t interned) {
    return Mark(stat_marks_, static_cast<size_t>(interned) - 1);
  }
  // The id of a text that was taken in, if it was.
  std::optional<uint64_t> Find(const std::string& text) const;
  // Of the texts that Intern has taken in.
  size_t interned_bytes() const { return interned_bytes_; }

  // Gives the plane's fields event_metadata and stat_metadata to `write`, piece
  // by piece.
  void WriteTables(const std::function<void(std::string_view)>& write) const;

 private:
  using Marks = std::vector<uint8_t>;

  // The id of what stands at `at`: ids start at 1.
  static uint64_t Mark(Marks& marks, size_t at) {
    const std::atomic_ref<uint8_t> mark(marks[at]);
    if (mark.load(std::memory_order_relaxed) == 0) {
      mark.store(1, std::memory_order_relaxed);
    }
    return at + 1;
  }

  void AppendEvent(std::string& out, size_t at) const;
  void AppendStat(std::string& out, size_t at) const;

  const model::Trace& trace_;
  const SpecialName special_name_;
  const size_t names_;         // of the trace
  std::vector<bool> is_step_;  // by name
  Marks event_marks_;
  std::vector<std::string> own_events_;  // behind both forms of the names
  Marks stat_marks_;
  std::array<uint64_t, static_cast<size_t>(StatName::kCount)> stats_ = {};
  // Arguments that must not be called as they are.
  std::vector<std::pair<model::NameId, uint64_t>> renamed_keys_;
  std::vector<std::string> texts_;  // behind the names
  absl::flat_hash_map<std::string, uint64_t> text_ids_;
  size_t interned_bytes_ = 0;
};

}  // namespace kymo::tensorboard

#endif  // KYMO_EXPORTERS_TENSORBOARD_PLANE_IDS_H_
