// texts.h - the texts of a trace's tables: its own, and those of enumerations.
//
//   Texts texts(trace);
//   texts.Get(texts.category(ActivityType::kCpuOp))       // "cpu_op"
//   texts.Get(texts.Input(InputText::kDims, detail.inputs))  // "[[64, 32]]"
//
// The ids of the trace's names come first, so that a NameId is a TextId.
// Threads: Add needs exclusive access; everything else may run concurrently.
#ifndef KYMO_PROFILER_TABLES_TEXTS_H_
#define KYMO_PROFILER_TABLES_TEXTS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <iterator>
#include <string>
#include <string_view>
#include <unordered_map>

#include "profiler/analysis/device/device_work.h"
#include "profiler/base/device_type.h"
#include "profiler/model/activity_type.h"
#include "profiler/model/loss_ledger.h"
#include "profiler/model/records.h"
#include "profiler/model/thread_states.h"
#include "profiler/model/trace.h"
#include "profiler/model/waits.h"
#include "profiler/tables/lazy.h"
#include "profiler/tables/table.h"

namespace kymo::tables {

// What a text says of an operation's inputs; each is a list in JSON.
enum class InputText : uint8_t { kDims, kStrides, kTypes, kConcrete };
inline constexpr size_t kInputTexts = 4;

class Texts {
 public:
  // `trace` must outlive this.
  explicit Texts(const model::Trace& trace);

  // The id of a text; a new one if the trace does not have it.
  TextId Add(std::string_view text);

  static TextId Of(model::NameId name) { return TextId{Index(name)}; }
  TextId category(model::ActivityType type) const {
    return categories_[static_cast<size_t>(type)];
  }
  TextId wait_kind(model::WaitKind kind) const {
    return wait_kinds_[static_cast<size_t>(kind)];
  }
  TextId run_queue(model::RunQueueTime run_queue) const {
    return run_queues_[static_cast<size_t>(run_queue)];
  }
  TextId track_kind(model::TrackKind kind) const {
    return track_kinds_[static_cast<size_t>(kind)];
  }
  TextId work_kind(analysis::WorkKind kind) const {
    return work_kinds_[static_cast<size_t>(kind)];
  }
  TextId arg_type(model::ArgType type) const {
    return arg_types_[static_cast<size_t>(type)];
  }
  TextId memory_source(model::MemorySource source) const {
    return memory_sources_[static_cast<size_t>(source)];
  }
  // kNoText: a number without a name.
  TextId device_type(int8_t type) const {
    const auto index = static_cast<uint8_t>(type);
    return index < device_types_.size() ? device_types_[index] : kNoText;
  }
  TextId loss_name(model::Loss loss) const {
    return loss_names_[static_cast<size_t>(loss)];
  }
  TextId loss_text(model::Loss loss) const {
    return loss_texts_[static_cast<size_t>(loss)];
  }
  TextId allocation() const { return allocation_; }
  TextId free() const { return free_; }
  TextId out_of_memory() const { return out_of_memory_; }

  // REQUIRES: the encoded inputs of one of the trace's events, not empty.
  TextId Input(InputText which, model::NameId encoded) const {
    return TextId{static_cast<uint32_t>(names_ + kMaxAdded +
                                        static_cast<size_t>(which) * names_) +
                  Index(encoded)};
  }

  std::string_view Get(TextId id) const;
  size_t count() const { return names_ + kMaxAdded + kInputTexts * names_; }

 private:
  // Ids of added texts; there are fewer.
  static constexpr size_t kMaxAdded = 4096;
  using OfInputs = std::array<std::string, kInputTexts>;
  std::unordered_map<uint32_t, OfInputs> InputsOfAll() const;

  const model::Trace& trace_;
  const size_t names_;
  std::deque<std::string> added_;
  Lazy<std::unordered_map<uint32_t, OfInputs>> inputs_;

  std::array<TextId, static_cast<size_t>(model::ActivityType::kCount)>
      categories_;
  std::array<TextId, static_cast<size_t>(model::kLastWaitKind) + 1> wait_kinds_;
  std::array<TextId, std::size(model::kRunQueueNames)> run_queues_;
  std::array<TextId, 2> track_kinds_;
  std::array<TextId, 4> work_kinds_;
  std::array<TextId, 4> arg_types_;
  std::array<TextId, 3> memory_sources_;
  std::array<TextId, static_cast<size_t>(DeviceType::kCount)> device_types_;
  std::array<TextId, static_cast<size_t>(model::Loss::kCount)> loss_names_;
  std::array<TextId, static_cast<size_t>(model::Loss::kCount)> loss_texts_;
  TextId allocation_;
  TextId free_;
  TextId out_of_memory_;
};

}  // namespace kymo::tables

#endif  // KYMO_PROFILER_TABLES_TEXTS_H_
