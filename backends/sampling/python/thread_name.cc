#include "backends/sampling/python/thread_name.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <vector>

#include "backends/sampling/python/python_text.h"

namespace kymo::sampling {
namespace {

using Attributes = PythonLayout::Attributes;

constexpr std::string_view kName = "_name";
constexpr std::string_view kNumber = "_native_id";
// Threads have 13, and what their classes add.
constexpr uint64_t kMostAttributes = 256;

// Before an object, in words: what belongs to its attributes.
constexpr uint64_t kDictBefore = 3 * 8;
constexpr uint64_t kValuesBefore = 4 * 8;  // 3.11

// Of a type's flags (Py_TPFLAGS_*).
constexpr uint64_t kHasInlineValues = uint64_t{1} << 2;
constexpr uint64_t kHasManagedDict = uint64_t{1} << 4;

// Of a PyDictObject.
constexpr uint64_t kDictKeys = 32;
constexpr uint64_t kDictValues = 40;

// Of a PyDictKeysObject.
constexpr uint64_t kIndexBytesLog2 = 9;  // a byte
constexpr uint64_t kKind = 10;           // a byte
constexpr uint64_t kEntryCount = 24;
constexpr uint64_t kKeysBytes = 32;
constexpr uint8_t kMostIndexBytesLog2 = 12;
// With keys that are any object; those that are str; values that lie elsewhere.
enum Kind : uint8_t { kGeneral = 0, kText = 1, kSplit = 2 };

// Of an int: its sign and how many digits it has, then the digits. The kernel's
// numbers of threads have 22 bits at most.
constexpr uint64_t kIntSize = 16;
constexpr uint64_t kIntDigits = 24;
constexpr uint32_t kIntDigitBits = 30;

// Of the values of one object: 3.13 has a word of flags before them.
constexpr uint64_t kInlineFlagsBytes = 8;
constexpr uint64_t kAreValid = 3;  // a byte of these

// Where an object has its attributes: the keys that its type has for all
// objects, and the values; or a dictionary.
struct Place {
  uint64_t keys = 0;
  uint64_t values = 0;  // 0: with the keys
};

std::optional<Place> DictOf(uint64_t dict, const PythonLayout& layout,
                            TargetMemory& memory) {
  const auto keys = memory.ReadValue<uint64_t>(dict + kDictKeys);
  const auto values = memory.ReadValue<uint64_t>(dict + kDictValues);
  if (dict == 0 || !keys || !values) return std::nullopt;
  const bool has_flags = layout.attributes == Attributes::kInline;
  return Place{
      *keys, *values != 0 && has_flags ? *values + kInlineFlagsBytes : *values};
}

std::optional<Place> FindAttributes(uint64_t object, const PythonLayout& layout,
                                    TargetMemory& memory) {
  const auto type = memory.ReadValue<uint64_t>(object + layout.object.type);
  if (!type) return std::nullopt;
  const auto flags = memory.ReadValue<uint64_t>(*type + layout.type.flags);
  const auto keys = memory.ReadValue<uint64_t>(*type + layout.type.cached_keys);
  const auto dict = memory.ReadValue<uint64_t>(object - kDictBefore);
  if (!flags || !keys || !dict || (*flags & kHasManagedDict) == 0) {
    return std::nullopt;
  }
  uint64_t values = 0;
  switch (layout.attributes) {
    case Attributes::kPointer:
      values = memory.ReadValue<uint64_t>(object - kValuesBefore).value_or(0);
      break;
    case Attributes::kTaggedPointer:
      if (*dict % 2 != 0) values = *dict + 1;
      break;
    case Attributes::kInline: {
      const auto size =
          memory.ReadValue<uint64_t>(*type + layout.type.basic_size);
      if ((*flags & kHasInlineValues) == 0 || !size) break;
      const uint64_t at = object + *size;
      if (memory.ReadValue<uint8_t>(at + kAreValid).value_or(0) == 1) {
        values = at + kInlineFlagsBytes;
      }
      break;
    }
  }
  if (values != 0) return Place{*keys, values};
  return DictOf(*dict, layout, memory);
}

// The attribute's object.
std::optional<uint64_t> ReadAttribute(uint64_t object, std::string_view name,
                                      const PythonLayout& layout,
                                      TargetMemory& memory) {
  const auto place = FindAttributes(object, layout, memory);
  if (!place) return std::nullopt;
  std::array<std::byte, kKeysBytes> header;
  if (!memory.Read(place->keys, header)) return std::nullopt;
  const auto index_bytes_log2 =
      std::to_integer<uint8_t>(header[kIndexBytesLog2]);
  const auto kind = std::to_integer<uint8_t>(header[kKind]);
  uint64_t count;
  std::memcpy(&count, header.data() + kEntryCount, sizeof(count));
  if (index_bytes_log2 > kMostIndexBytesLog2 || kind > kSplit ||
      (kind == kSplit) != (place->values != 0)) {
    return std::nullopt;
  }
  count = std::min(count, kMostAttributes);
  // A hash, if the keys are any object; the key; its value.
  const size_t words = kind == kGeneral ? 3 : 2;
  std::vector<uint64_t> entries(count * words);
  if (!memory.Read(place->keys + kKeysBytes + (uint64_t{1} << index_bytes_log2),
                   std::as_writable_bytes(std::span(entries)))) {
    return std::nullopt;
  }
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t* const value = &entries[i * words + words - 1];
    const uint64_t key = value[-1];
    // One character more, so that longer ones differ.
    if (key == 0 ||
        ReadPythonText(key, layout, name.size() + 1, false, memory) != name) {
      continue;
    }
    if (place->values == 0) return *value;
    return memory.ReadValue<uint64_t>(place->values + 8 * i);
  }
  return std::nullopt;
}

// Of an object that is an int between 1 and 2^30.
std::optional<int64_t> ReadNumber(uint64_t object, const PythonLayout& layout,
                                  TargetMemory& memory) {
  const auto size = memory.ReadValue<uint64_t>(object + kIntSize);
  const auto digit = memory.ReadValue<uint32_t>(object + kIntDigits);
  if (!size || !digit) return std::nullopt;
  if ((*size & ~layout.number.ignored_bits) != layout.number.one_digit ||
      *digit == 0 || *digit >> kIntDigitBits != 0) {
    return std::nullopt;
  }
  return *digit;
}

}  // namespace

bool BeginsThread(std::string_view function, std::string_view file) noexcept {
  return function == "Thread._bootstrap" && file.ends_with("/threading.py");
}

std::optional<ProgramThread> ReadThreadName(uint64_t frame,
                                            const PythonLayout& layout,
                                            TargetMemory& memory) {
  const auto reference =
      memory.ReadValue<uint64_t>(frame + layout.frame.locals);
  if (!reference || *reference == 0) return std::nullopt;
  const uint64_t object = *reference & ~layout.frame.tag_bits;
  const auto number_object = ReadAttribute(object, kNumber, layout, memory);
  if (!number_object || *number_object == 0) return std::nullopt;
  const auto number = ReadNumber(*number_object, layout, memory);
  const auto name = ReadAttribute(object, kName, layout, memory);
  if (!number || !name || *name == 0) return std::nullopt;
  auto text =
      ReadPythonText(*name, layout, kMostThreadNameCharacters, false, memory);
  if (!text || text->empty()) return std::nullopt;
  return ProgramThread{.name = *std::move(text), .number = *number};
}

}  // namespace kymo::sampling
