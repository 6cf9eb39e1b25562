// key_averages_keys.h - what events of one group have in common, as numbers.
//
//   const GroupKeys keys(trace, options);
//   const GroupKey key = keys.KeyOf(event, kDeviceBit);
//
// Shapes and stacks are compared as texts, once per distinct text. So inputs
// that differ only in their types have equal shapes, and frames at several
// addresses of one line are equal. The tables cost one pass over the details
// and the stacks; if neither is asked for, they cost nothing.
//
// Threads: immutable.
#ifndef KYMO_PROFILER_ANALYSIS_AVERAGES_KEY_AVERAGES_KEYS_H_
#define KYMO_PROFILER_ANALYSIS_AVERAGES_KEY_AVERAGES_KEYS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "profiler/analysis/averages/key_averages.h"
#include "profiler/model/activity_type.h"
#include "profiler/model/records.h"
#include "profiler/model/trace.h"

namespace kymo::analysis {

// Bits that tell groups of one name apart, at the low end of a name key.
inline constexpr uint32_t kAnnotationBit = 1;
inline constexpr uint32_t kDeviceBit = 2;
inline constexpr uint32_t kFrameBit = 4;
inline constexpr uint32_t kLeftOutBit = 8;
inline constexpr uint32_t kKinds = 16;

struct GroupKey {
  uint32_t name_key = 0;
  // 0 where the options do not group by it, and for events that have none.
  uint32_t overload = 0;
  uint32_t shapes = 0;
  uint32_t stack = 0;

  friend bool operator==(const GroupKey&, const GroupKey&) = default;
};

struct GroupKeyHash {
  size_t operator()(const GroupKey& key) const noexcept {
    const uint64_t low = key.name_key | uint64_t{key.overload} << 32;
    const uint64_t high = key.shapes | uint64_t{key.stack} << 32;
    const uint64_t mixed =
        (low ^ high * 0x9e3779b97f4a7c15u) * 0xd6e8feb86659fd93u;
    return mixed ^ mixed >> 32;
  }
};

class GroupKeys {
 public:
  GroupKeys(const model::Trace& trace, const KeyAveragesOptions& options);

  // Whether keys consist of a name key and nothing else.
  bool is_by_name() const noexcept { return is_by_name_; }
  // Every name key is smaller than this.
  size_t name_key_count() const { return trace_.strings().size() * kKinds; }

  // `device_bit`: kDeviceBit for events of streams, else 0.
  uint32_t NameKeyOf(size_t event, uint32_t device_bit) const {
    const model::ActivityType type = trace_.type()[event];
    return Index(trace_.name()[event]) * kKinds + device_bit +
           (IsAnnotation(type) ? kAnnotationBit : 0) +
           (type == model::ActivityType::kPythonFunction ? kFrameBit : 0) +
           (IsLeftOut(event) ? kLeftOutBit : 0);
  }
  GroupKey KeyOf(size_t event, uint32_t device_bit) const {
    GroupKey key = {.name_key = NameKeyOf(event, device_bit)};
    const model::Detail* const detail =
        trace_.detail(static_cast<model::EventIndex>(event));
    if (detail == nullptr) return key;
    if (by_overload_) key.overload = Index(detail->overload_name);
    if (!shapes_.empty()) key.shapes = shapes_[Index(detail->inputs)];
    if (!stacks_.empty()) key.stack = stacks_[Index(detail->stack)];
    return key;
  }

  // The key that stands for all keys of the same group. Several keys mean one
  // group for steps, and for frames if the options include these.
  GroupKey Canonical(GroupKey key) const;
  // Whether the group consists of events that do not count.
  static bool IsLeftOut(const GroupKey& key) {
    return (key.name_key & kLeftOutBit) != 0;
  }
  // The group's name and kind, and the fields that the options group by.
  KeyAverage Describe(const GroupKey& key) const;

 private:
  static constexpr bool IsAnnotation(model::ActivityType type) {
    return type == model::ActivityType::kUserAnnotation ||
           type == model::ActivityType::kGpuUserAnnotation;
  }
  bool IsLeftOut(size_t event) const {
    return !counted_.empty() && counted_[event] == 0;
  }
  void NumberShapes();
  void NumberStacks(uint32_t frames);
  bool IsStep(uint32_t name_key) const;

  const model::Trace& trace_;
  const bool is_by_name_;
  const bool by_overload_;
  const bool merges_frames_;
  const std::span<const uint8_t> counted_;
  uint32_t step_name_ = 0;  // the first name of a step

  // By id of the inputs: a number that equal shapes share. By number: their
  // text. Events without inputs have number 0, since the empty name comes
  // first.
  std::vector<uint32_t> shapes_;
  std::vector<std::string> shape_texts_;
  // By stack: a number that stacks with equal innermost frames share. By
  // number: one of these stacks.
  std::vector<uint32_t> stacks_;
  std::vector<model::StackId> stack_of_number_;
};

}  // namespace kymo::analysis

#endif  // KYMO_PROFILER_ANALYSIS_AVERAGES_KEY_AVERAGES_KEYS_H_
