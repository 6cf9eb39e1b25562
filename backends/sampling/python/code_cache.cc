#include "backends/sampling/python/code_cache.h"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "backends/sampling/python/python_text.h"
#include "backends/sampling/python/thread_name.h"
#include "profiler/base/strings.h"
#include "profiler/base/time.h"

namespace kymo::sampling {
namespace {

// How long a function is believed to be the same.
constexpr int64_t kLeastBeliefNs = 10 * kNsPerMs;
constexpr int64_t kMostBeliefNs = 100 * kNsPerMs;
constexpr int64_t kBeliefOfAge = 20;  // a twentieth
constexpr uint64_t kMostUnits = 10'000'000;
constexpr size_t kMostNameCharacters = 512;
constexpr size_t kMostPathCharacters = 4096;
// Of one function: some 20,000 instructions with their columns. A larger one
// has no lines.
constexpr size_t kMostLineBytes = size_t{1} << 16;
// Of all. What is kept takes several times as much.
constexpr size_t kMostLineBytesInAll = size_t{16} << 20;

template <typename T>
T Field(std::span<const std::byte> bytes, uint64_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof(value));
  return value;
}

bool IsBelieved(const PythonCode& code, int64_t now_ns) {
  const int64_t belief_ns =
      std::clamp((code.checked_ns - code.read_ns) / kBeliefOfAge,
                 kLeastBeliefNs, kMostBeliefNs);
  return now_ns - code.checked_ns < belief_ns;
}

}  // namespace

// REQUIRES of the layout: all fields lie before the instructions.
std::optional<CodeFields> CodeCache::ReadFields(uint64_t address,
                                                TargetMemory& memory) {
  if (address == 0 || address % 8 != 0) return std::nullopt;
  header_.resize(layout_.code.instructions);
  if (!memory.Read(address, header_)) return std::nullopt;
  if (Field<uint64_t>(header_, layout_.object.type) != type_) {
    return std::nullopt;
  }
  const CodeFields fields = {
      .filename = Field<uint64_t>(header_, layout_.code.filename),
      .qualified_name = Field<uint64_t>(header_, layout_.code.qualified_name),
      .line_table = Field<uint64_t>(header_, layout_.code.line_table),
      .unit_count = Field<uint64_t>(header_, layout_.object.size),
      .first_line = Field<int32_t>(header_, layout_.code.first_line)};
  if (fields.unit_count == 0 || fields.unit_count > kMostUnits) {
    return std::nullopt;
  }
  return fields;
}

PythonCode CodeCache::ReadCode(uint64_t address, const CodeFields& fields,
                               TargetMemory& memory) {
  PythonCode code{.fields = fields};
  code.begin = address + layout_.code.instructions;
  code.end = code.begin + 2 * fields.unit_count;
  // The interpreter's own code is no function. It has no name, or since 3.14
  // one text as its name and its file's.
  if (fields.qualified_name == 0 ||
      (fields.qualified_name == fields.filename && fields.first_line == 0)) {
    return code;
  }
  const auto name = ReadPythonText(fields.qualified_name, layout_,
                                   kMostNameCharacters, false, memory);
  code.file = ReadPythonText(fields.filename, layout_, kMostPathCharacters,
                             true, memory)
                  .value_or("");
  code.begins_thread = name && BeginsThread(*name, code.file);
  const std::string_view path = code.file;
  code.function = absl::StrCat(name.value_or("[unknown]"), " (",
                               ToAbsl(path.substr(path.find_last_of('/') + 1)),
                               ":", fields.first_line, ")");
  const auto lines =
      ReadPythonBytes(fields.line_table, layout_, kMostLineBytes, memory);
  if (lines) code.lines = LineTable(*lines, fields.first_line);
  line_bytes_ += lines ? lines->size() : 0;
  return code;
}

void CodeCache::Forget(uint64_t address) {
  const auto at = codes_.find(address);
  if (at == codes_.end()) return;
  by_begin_.erase(at->second->begin);
  codes_.erase(at);
}

PythonCode* CodeCache::Find(uint64_t address, TargetMemory& memory,
                            int64_t now_ns) {
  const auto at = codes_.find(address);
  PythonCode* const known = at == codes_.end() ? nullptr : at->second.get();
  if (known != nullptr && IsBelieved(*known, now_ns)) return known;
  const auto fields = ReadFields(address, memory);
  if (known != nullptr && fields == known->fields) {
    known->checked_ns = now_ns;
    return known;
  }
  Forget(address);
  if (!fields) return nullptr;
  if (codes_.size() >= kMostCodes || line_bytes_ >= kMostLineBytesInAll) {
    codes_.clear();
    by_begin_.clear();
    line_bytes_ = 0;
  }
  auto code = std::make_unique<PythonCode>(ReadCode(address, *fields, memory));
  code->read_ns = code->checked_ns = now_ns;
  PythonCode* const added = code.get();
  by_begin_[added->begin] = added;
  codes_[address] = std::move(code);
  return added;
}

PythonCode* CodeCache::FindByInstruction(uint64_t instruction) {
  const auto after = by_begin_.upper_bound(instruction);
  if (after == by_begin_.begin()) return nullptr;
  PythonCode* const code = std::prev(after)->second;
  return instruction < code->end ? code : nullptr;
}

std::optional<uint64_t> CodeCache::PlaceOf(PythonCode& code,
                                           uint64_t instruction) {
  if (code.function.empty()) return std::nullopt;
  const uint64_t unit =
      instruction <= code.begin ? 0 : (instruction - code.begin) / 2;
  uint32_t line = code.lines.LineAt(unit);
  if (line == 0 && code.fields.first_line > 0) {
    line = static_cast<uint32_t>(code.fields.first_line);
  }
  const auto [at, is_new] = code.places.try_emplace(line);
  if (is_new) {
    at->second = places_.Intern(
        {.function = code.function, .file = code.file, .line = line});
  }
  return at->second;
}

}  // namespace kymo::sampling
