// memory_category.h - what memory is for, in PyTorch's categories.
//
//   Print(kymo::MemoryCategoryName(kymo::MemoryCategory::kGradient));
//
// It also has the names of the instants by which a program says what its
// memory is for (kymo/memory.h). They are ordinary events of a trace, so every
// format keeps them.
#ifndef KYMO_PROFILER_BASE_MEMORY_CATEGORY_H_
#define KYMO_PROFILER_BASE_MEMORY_CATEGORY_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace kymo {

// In the order of PyTorch's memory timeline files, which hold the numbers.
enum class MemoryCategory : uint8_t {
  kParameter,
  kOptimizerState,
  kInput,
  kTemporary,
  kActivation,
  kGradient,
  kAutogradDetail,
  kUnknown,
  kCount,
};
inline constexpr size_t kMemoryCategories =
    static_cast<size_t>(MemoryCategory::kCount);

// "PARAMETER", ..., "Unknown". The text is static.
constexpr std::string_view MemoryCategoryName(
    MemoryCategory category) noexcept {
  constexpr std::string_view kNames[kMemoryCategories] = {
      "PARAMETER",  "OPTIMIZER_STATE", "INPUT",           "TEMPORARY",
      "ACTIVATION", "GRADIENT",        "AUTOGRAD_DETAIL", "Unknown"};
  return category < MemoryCategory::kCount
             ? kNames[static_cast<size_t>(category)]
             : "Unknown";
}

// A block has the category: all arguments below.
inline constexpr char kMemoryCategoryInstant[] = "[memory category]";
// The contents of a block were changed: all arguments but the category.
inline constexpr char kMemoryVersionInstant[] = "[memory version]";
// What the thread allocates from now on has the category. Without an argument:
// the innermost such instant of the thread holds no longer.
inline constexpr char kMemoryScopeInstant[] = "[memory scope]";

// Their arguments: the category's name, and numbers as in PyTorch's [memory].
inline constexpr char kMemoryCategoryArg[] = "Category";
inline constexpr char kMemoryAddressArg[] = "Addr";
inline constexpr char kMemoryBytesArg[] = "Bytes";
inline constexpr char kMemoryDeviceTypeArg[] = "Device Type";
inline constexpr char kMemoryDeviceIndexArg[] = "Device Id";

}  // namespace kymo

#endif  // KYMO_PROFILER_BASE_MEMORY_CATEGORY_H_
