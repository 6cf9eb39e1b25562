#include "profiler/events/averages/event_groups.h"

#include <algorithm>
#include <memory>
#include <tuple>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/hash/hash.h"
#include "profiler/base/status_macros.h"

namespace kymo {
namespace {

// The part of the stack that belongs to the key.
std::span<const std::string> KeyStack(const FunctionEvent& event, size_t n) {
  if (event.stack == nullptr) return {};
  return std::span(*event.stack).first(std::min(n, event.stack->size()));
}

auto Fixed(const FunctionEvent& e) {
  return std::tie(e.name, e.node_id, e.device_type, e.is_legacy,
                  e.is_user_annotation);
}

struct KeyHash {
  const KeyAveragesOptions* options;

  size_t operator()(const FunctionEvent* event) const {
    size_t hash = absl::HashOf(Fixed(*event));
    const auto mix = [&hash](const auto& part) {
      hash = absl::HashOf(hash, part);
    };
    if (options->group_by_overload_name) mix(event->overload_name.value_or(""));
    if (options->group_by_input_shape && event->input_shapes != nullptr) {
      mix(*event->input_shapes);
    }
    for (const std::string& entry :
         KeyStack(*event, options->group_by_stack_n)) {
      mix(entry);
    }
    return hash;
  }
};

struct KeyEqual {
  const KeyAveragesOptions* options;

  bool operator()(const FunctionEvent* a, const FunctionEvent* b) const {
    if (Fixed(*a) != Fixed(*b)) return false;
    if (options->group_by_overload_name &&
        a->overload_name.value_or("") != b->overload_name.value_or("")) {
      return false;
    }
    return (!options->group_by_input_shape || HaveEqualShapes(*a, *b)) &&
           std::ranges::equal(KeyStack(*a, options->group_by_stack_n),
                              KeyStack(*b, options->group_by_stack_n));
  }

  static bool HaveEqualShapes(const FunctionEvent& a, const FunctionEvent& b) {
    if (a.input_shapes == nullptr || b.input_shapes == nullptr) {
      return a.input_shapes == b.input_shapes;
    }
    return *a.input_shapes == *b.input_shapes;
  }
};

// Drops what the group's members need not share.
void Trim(FunctionEventAvg& average, const KeyAveragesOptions& options) {
  average.stack.resize(
      std::min(average.stack.size(), options.group_by_stack_n));
  if (!options.group_by_input_shape) average.input_shapes.clear();
  if (!options.group_by_overload_name) average.overload_name.clear();
}

}  // namespace

absl::StatusOr<std::vector<FunctionEventAvg>> AverageGroups(
    std::span<const FunctionEvent> events, const KeyAveragesOptions& options) {
  std::vector<FunctionEventAvg> averages;
  // A group's key is its first event.
  absl::flat_hash_map<const FunctionEvent*, size_t, KeyHash, KeyEqual> groups(
      0, KeyHash{&options}, KeyEqual{&options});
  for (const FunctionEvent& event : events) {
    if (event.is_python_function && !options.include_python_functions) continue;
    KYMO_RETURN_IF_ERROR(event.CheckDeviceTime());
    const auto [group, is_new] = groups.try_emplace(&event, averages.size());
    if (is_new) averages.emplace_back().Describe(event);
    averages[group->second].AddTotals(event);
  }
  for (FunctionEventAvg& average : averages) Trim(average, options);
  return averages;
}

}  // namespace kymo
