#include "profiler/analysis/averages/key_averages_keys.h"

#include <atomic>
#include <map>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "profiler/analysis/steps.h"
#include "profiler/base/parallel.h"
#include "profiler/model/op_inputs.h"
#include "profiler/model/stack_table.h"
#include "profiler/model/string_table.h"

namespace kymo::analysis {
namespace {

using model::FrameId;
using model::NameId;
using model::StackId;
using model::StackTable;

constexpr uint32_t kUnseen = ~uint32_t{0};
constexpr uint32_t kUsed = kUnseen - 1;
constexpr size_t kDetailsGrain = size_t{32} << 10;

// Numbers the frames; frames that read the same share a number.
std::vector<uint32_t> NumberFrames(const StackTable& stacks) {
  std::map<std::tuple<NameId, NameId, uint32_t>, uint32_t> known;
  std::vector<uint32_t> numbers;
  numbers.reserve(stacks.frame_count());
  for (uint32_t f = 0; f < stacks.frame_count(); ++f) {
    const model::Frame& frame = stacks.frame(FrameId{f});
    const auto next = static_cast<uint32_t>(known.size());
    numbers.push_back(
        known.try_emplace({frame.file, frame.function, frame.line}, next)
            .first->second);
  }
  return numbers;
}

}  // namespace

GroupKeys::GroupKeys(const model::Trace& trace,
                     const KeyAveragesOptions& options)
    : trace_(trace),
      is_by_name_(!options.by_overload_name && !options.by_input_shapes &&
                  options.by_stack_n == 0),
      by_overload_(options.by_overload_name),
      merges_frames_(options.include_python_functions),
      counted_(options.counted) {
  const auto names = static_cast<uint32_t>(trace.strings().size());
  while (step_name_ < names && !IsStep(step_name_ * kKinds)) ++step_name_;
  if (options.by_input_shapes) NumberShapes();
  if (options.by_stack_n != 0) NumberStacks(options.by_stack_n);
}

void GroupKeys::NumberShapes() {
  shapes_.assign(trace_.strings().size(), kUnseen);
  shapes_[Index(model::kEmptyName)] = kUsed;
  const std::vector<model::Detail>& details = trace_.data().details;
  ParallelFor(details.size(), kDetailsGrain, [&](size_t first, size_t last) {
    for (size_t i = first; i < last; ++i) {
      // Several workers may store the same value; most find it stored.
      std::atomic_ref<uint32_t> mark(shapes_[Index(details[i].inputs)]);
      if (mark.load(std::memory_order_relaxed) == kUnseen) {
        mark.store(kUsed, std::memory_order_relaxed);
      }
    }
  });
  std::unordered_map<std::string, uint32_t> known;
  for (uint32_t inputs = 0; inputs < shapes_.size(); ++inputs) {
    if (shapes_[inputs] != kUsed) continue;
    std::string text = model::InputShapesText(trace_.Name(NameId{inputs}));
    const auto next = static_cast<uint32_t>(shape_texts_.size());
    shapes_[inputs] = known.try_emplace(text, next).first->second;
    if (shapes_[inputs] == next) shape_texts_.push_back(std::move(text));
  }
}

void GroupKeys::NumberStacks(uint32_t frames) {
  const StackTable& stacks = trace_.stacks();
  const std::vector<uint32_t> frame_numbers = NumberFrames(stacks);
  std::map<std::vector<uint32_t>, uint32_t> known;
  std::vector<uint32_t> innermost;
  for (uint32_t s = 0; s < stacks.stack_count(); ++s) {
    innermost.clear();
    for (StackId at{s}; at != model::kEmptyStack && innermost.size() < frames;
         at = stacks.parent(at)) {
      innermost.push_back(frame_numbers[Index(stacks.leaf(at))]);
    }
    const auto next = static_cast<uint32_t>(stack_of_number_.size());
    const uint32_t number = known.try_emplace(innermost, next).first->second;
    if (number == next) stack_of_number_.push_back(StackId{s});
    stacks_.push_back(number);
  }
}

bool GroupKeys::IsStep(uint32_t name_key) const {
  return trace_.Name(NameId{name_key / kKinds}).starts_with(kStepPrefix);
}

GroupKey GroupKeys::Canonical(GroupKey key) const {
  if (IsStep(key.name_key)) {
    key.name_key = step_name_ * kKinds + key.name_key % kKinds;
  }
  if (merges_frames_) key.name_key &= ~kFrameBit;
  return key;
}

KeyAverage GroupKeys::Describe(const GroupKey& key) const {
  KeyAverage average;
  average.name = IsStep(key.name_key)
                     ? kAllSteps
                     : trace_.Name(NameId{key.name_key / kKinds});
  average.is_user_annotation = (key.name_key & kAnnotationBit) != 0;
  average.is_device = (key.name_key & kDeviceBit) != 0;
  if (by_overload_) average.overload_name = trace_.Name(NameId{key.overload});
  if (!shapes_.empty()) average.input_shapes = shape_texts_[key.shapes];
  if (!stacks_.empty()) average.stack = stack_of_number_[key.stack];
  return average;
}

}  // namespace kymo::analysis
