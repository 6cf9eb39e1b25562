// plane_ids.h - the ids of the names and texts of one XPlane, and the tables
// that say what the ids stand for.
//
//   PlaneIds ids(trace, steps, [&](model::NameId name) {
//     return operations.Get(name);
//   });
//   ids.Event(trace.name()[event], NameForm::kSpecial);   // an operation
//   ids.Stat(StatName::kCorrelationId);
//   ids.WriteTables(write);                // writes the entries that were used
//
// An XPlane has two tables. Events refer to event_metadata. Statistics refer to
// stat_metadata for their names, and for texts that are values (`ref_value`).
// The numbers are our own choice: the id of a name of the trace follows from
// its place in the trace's string table, so that no event needs a look-up.
// Other texts are interned behind these names. A text has one id, whoever adds
// it.
//
// The special form of a name gives an event its meaning in XProf. The name
// itself then becomes the `display_name`. On the host, the special form of an
// operation is scope/name:Type (op_names.h); on a device, that of a copy is
// MemcpyHToD and the like. A step is called "ProfilerStep" in every form.
//
// If the program gave an argument a name that has a meaning in XProf, "argument
// " is put before the name, so that XProf ignores it.
//
// Threads: Intern, NewEvent and WriteTables must not run at the same time as
//   any other call. All other functions may run concurrently. They only mark
//   what was used, so their order does not matter.
#ifndef KYMO_EXPORTERS_TENSORBOARD_XSPACE_PLANE_IDS_H_
#define KYMO_EXPORTERS_TENSORBOARD_XSPACE_PLANE_IDS_H_

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

// Events that this exporter adds to those of the trace.
enum class OwnEvent : uint8_t {
  kMemoryAllocation,
  kMemoryDeallocation,
  kOutOfMemory,
  kCount,
};

// Statistics that have a meaning in XProf.
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
  kFolded,
  kCount,
};

class PlaneIds {
 public:
  using SpecialName = std::function<std::string(model::NameId)>;

  // `trace` and `steps` must outlive this object. `special_name` is called for
  // each name whose special form was used.
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
  // Adds an event name that the trace does not have, and marks it as used.
  uint64_t NewEvent(std::string_view name);
  // Cheap if there are no steps.
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
  // The id of the name of an argument that the program gave.
  uint64_t Key(model::NameId name);
  // Adds a text and returns its id, which never changes.
  uint64_t Intern(std::string_view text);
  // The id of a text that Intern added; marks it as used.
  uint64_t Text(uint64_t interned) {
    return Mark(stat_marks_, static_cast<size_t>(interned) - 1);
  }
  // The id of a text, if it is in the table.
  std::optional<uint64_t> Find(const std::string& text) const;
  // The size of all texts that Intern added.
  size_t interned_bytes() const { return interned_bytes_; }

  // Passes the plane's fields event_metadata and stat_metadata to `write`,
  // piece by piece.
  void WriteTables(const std::function<void(std::string_view)>& write) const;

 private:
  using Marks = std::vector<uint8_t>;

  // Marks the entry at index `at` and returns its id. Ids start at 1.
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
  const size_t names_;         // the number of names in the trace
  std::vector<bool> is_step_;  // by name
  Marks event_marks_;
  std::vector<std::string> own_events_;  // behind both forms of the names
  Marks stat_marks_;
  std::array<uint64_t, static_cast<size_t>(StatName::kCount)> stats_ = {};
  // Arguments that get another name, with the ids of the new names.
  std::vector<std::pair<model::NameId, uint64_t>> renamed_keys_;
  std::vector<std::string> texts_;  // behind the names
  absl::flat_hash_map<std::string, uint64_t> text_ids_;
  size_t interned_bytes_ = 0;
};

}  // namespace kymo::tensorboard

#endif  // KYMO_EXPORTERS_TENSORBOARD_XSPACE_PLANE_IDS_H_
