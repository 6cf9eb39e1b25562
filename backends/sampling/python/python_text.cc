#include "backends/sampling/python/python_text.h"

#include <algorithm>
#include <cstring>
#include <span>

#include "profiler/text/utf8.h"

namespace kymo::sampling {
namespace {

// What a str of Python can have at most; more is no str.
constexpr uint64_t kMostLength = uint64_t{1} << 32;

// How a str is kept.
struct TextForm {
  size_t bytes_each = 0;
  uint64_t offset = 0;
};

std::optional<TextForm> FormOf(uint32_t state, const PythonLayout& layout) {
  const uint32_t bits = state >> kTextKindShift;
  const uint32_t kind = bits & 7;
  const bool is_compact = (bits & 8) != 0;
  const bool is_ascii = (bits & 16) != 0;
  if (!is_compact || (kind != 1 && kind != 2 && kind != 4)) return std::nullopt;
  if (is_ascii && kind != 1) return std::nullopt;
  return TextForm{kind,
                  is_ascii ? layout.text.ascii_data : layout.text.other_data};
}

}  // namespace

std::optional<std::string> ReadPythonText(uint64_t address,
                                          const PythonLayout& layout,
                                          size_t most_characters, bool keep_end,
                                          TargetMemory& memory) {
  const auto state = memory.ReadValue<uint32_t>(address + layout.text.state);
  const auto length = memory.ReadValue<uint64_t>(address + layout.text.length);
  if (!state || !length || *length > kMostLength) return std::nullopt;
  const auto form = FormOf(*state, layout);
  if (!form) return std::nullopt;
  const uint64_t count = std::min<uint64_t>(*length, most_characters);
  const uint64_t first = keep_end ? *length - count : 0;
  std::vector<std::byte> data(count * form->bytes_each);
  if (!memory.Read(address + form->offset + first * form->bytes_each, data)) {
    return std::nullopt;
  }
  std::string text;
  for (size_t i = 0; i < count; ++i) {
    uint32_t character = 0;  // the lowest byte comes first
    std::memcpy(&character, data.data() + i * form->bytes_each,
                form->bytes_each);
    json::AppendUtf8(text, character);
  }
  return text;
}

std::optional<std::vector<std::byte>> ReadPythonBytes(
    uint64_t address, const PythonLayout& layout, size_t most_bytes,
    TargetMemory& memory) {
  const auto size = memory.ReadValue<uint64_t>(address + layout.bytes.size);
  if (!size || *size > most_bytes) return std::nullopt;
  std::vector<std::byte> data(*size);
  if (!memory.Read(address + layout.bytes.data, data)) return std::nullopt;
  return data;
}

}  // namespace kymo::sampling
