#include "backends/sampling/python/python_layout.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <initializer_list>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace kymo::sampling {
namespace {

// sizeof(PyCompactUnicodeObject) - sizeof(PyASCIIObject), from 3.12 on.
constexpr uint64_t kUtf8FieldsBytes = 16;

// From 3.14 on, a reference has flags in its lowest bits.
constexpr uint64_t kTagBits = 3;
// And the smallest numbers have this one.
constexpr uint64_t kSharedNumber = 1 << 2;

constexpr PythonLayout kPython311 = {
    .minor_version = 11,
    .frame = {.size = 80,
              .previous = 48,
              .code = 32,
              .instruction = 56,
              .locals = 72,
              .owner = 69,
              .is_entry = 68,
              .tag_bits = 0},
    .code = {.filename = 112,
             .qualified_name = 128,
             .line_table = 136,
             .first_line = 72,
             .instructions = 184},
    .object = {.type = 8, .size = 16},
    .type = {.flags = 168, .basic_size = 32, .cached_keys = 872},
    .attributes = PythonLayout::Attributes::kPointer,
    .number = {.one_digit = 1, .ignored_bits = 0},
    .bytes = {.size = 16, .data = 32},
    .text = {.state = 32, .length = 16, .ascii_data = 48, .other_data = 72}};

constexpr PythonLayout kPython312 = {
    .minor_version = 12,
    .frame = {.size = 80,
              .previous = 8,
              .code = 0,
              .instruction = 56,
              .locals = 72,
              .owner = 70,
              .is_entry = 0,
              .tag_bits = 0},
    .code = {.filename = 112,
             .qualified_name = 128,
             .line_table = 136,
             .first_line = 68,
             .instructions = 192},
    .object = {.type = 8, .size = 16},
    .type = {.flags = 168, .basic_size = 32, .cached_keys = 880},
    .attributes = PythonLayout::Attributes::kTaggedPointer,
    .number = {.one_digit = 1 << 3, .ignored_bits = 0},
    .bytes = {.size = 16, .data = 32},
    .text = {.state = 32,
             .length = 16,
             .ascii_data = 40,
             .other_data = 40 + kUtf8FieldsBytes}};

// Where the groups of _Py_DebugOffsets begin, in words of 8 bytes. New fields
// moved them.
struct GroupPlaces {
  size_t frame;
  size_t code;
  size_t object;
  size_t tuple;
  size_t bytes;
  size_t text;
};
constexpr GroupPlaces kGroups313 = {28, 34, 44, 50, 64, 67};
constexpr GroupPlaces kGroups314 = {31, 39, 50, 56, 74, 77};

constexpr size_t kMostWords = 96;
constexpr char kCookie[] = "xdebugpy";

struct DebugOffsets {
  std::array<uint64_t, kMostWords> words;

  bool has_cookie() const noexcept {
    return std::memcmp(words.data(), kCookie, sizeof(uint64_t)) == 0;
  }
  uint64_t version() const noexcept { return words[1]; }
  bool is_free_threaded() const noexcept { return words[2] != 0; }
};

PythonLayout LayoutOf(const DebugOffsets& offsets, const GroupPlaces& at,
                      int minor) {
  const auto& word = offsets.words;
  PythonLayout layout{.minor_version = minor};
  layout.frame = {.size = word[at.frame],
                  .previous = word[at.frame + 1],
                  .code = word[at.frame + 2],
                  .instruction = word[at.frame + 3],
                  .locals = word[at.frame + 4],
                  .owner = word[at.frame + 5],
                  .is_entry = 0,
                  .tag_bits = minor >= 14 ? kTagBits : 0};
  layout.code = {.filename = word[at.code + 1],
                 .qualified_name = word[at.code + 3],
                 .line_table = word[at.code + 4],
                 .first_line = word[at.code + 5],
                 .instructions = word[at.code + 9]};
  layout.object = {.type = word[at.object + 1], .size = word[at.tuple + 2]};
  // The interpreter does not tell these.
  layout.type = kPython312.type;
  layout.attributes = PythonLayout::Attributes::kInline;
  layout.number = {.one_digit = kPython312.number.one_digit,
                   .ignored_bits = minor >= 14 ? kSharedNumber : 0};
  layout.bytes = {.size = word[at.bytes + 1], .data = word[at.bytes + 2]};
  layout.text = {.state = word[at.text + 1],
                 .length = word[at.text + 2],
                 .ascii_data = word[at.text + 3],
                 .other_data = word[at.text + 3] + kUtf8FieldsBytes};
  return layout;
}

// Any number may come from the program.
bool Fits(uint64_t offset, uint64_t bytes, uint64_t size) {
  return bytes <= size && offset <= size - bytes;
}

// Whether fields of 8 bytes at these offsets lie within a structure and are
// different ones.
bool AreFields(std::initializer_list<uint64_t> offsets, uint64_t size) {
  std::vector<uint64_t> sorted = offsets;
  std::sort(sorted.begin(), sorted.end());
  return std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end() &&
         std::all_of(sorted.begin(), sorted.end(), [&](uint64_t offset) {
           return offset % 8 == 0 && Fits(offset, 8, size);
         });
}

bool MakesSense(const PythonLayout& layout) {
  const auto& frame = layout.frame;
  const auto& code = layout.code;
  return frame.size <= kMostPythonOffset &&
         code.instructions <= kMostPythonOffset && code.instructions % 8 == 0 &&
         AreFields(
             {frame.previous, frame.code, frame.instruction, frame.locals},
             frame.size) &&
         frame.owner < frame.size &&
         AreFields({code.filename, code.qualified_name, code.line_table,
                    layout.object.type},
                   code.instructions) &&
         Fits(code.first_line, 4, code.instructions) &&
         AreFields({layout.object.type, layout.object.size},
                   code.instructions) &&
         AreFields({layout.object.type, layout.bytes.size},
                   layout.bytes.data) &&
         layout.bytes.data <= kMostPythonOffset &&
         layout.text.ascii_data <= kMostPythonOffset &&
         Fits(layout.text.state, 4, layout.text.ascii_data) &&
         AreFields({layout.object.type, layout.text.length},
                   layout.text.ascii_data);
}

}  // namespace

int MinorVersion(uint64_t version) noexcept {
  return version >> 24 == 3 ? static_cast<int>(version >> 16 & 0xff) : 0;
}

absl::StatusOr<PythonLayout> FindLayout(uint64_t version, uint64_t runtime,
                                        TargetMemory& memory) {
  const int minor = MinorVersion(version);
  if (minor == 11) return kPython311;
  if (minor == 12) return kPython312;
  if (minor != 13 && minor != 14) {
    return absl::UnimplementedError(
        absl::StrCat("this is Python ", version >> 24, ".", minor,
                     "; those from 3.11 to 3.14 are known"));
  }
  DebugOffsets offsets{};
  if (!memory.Read(runtime, std::as_writable_bytes(std::span(offsets.words)))) {
    return absl::UnavailableError("its _PyRuntime cannot be read");
  }
  if (!offsets.has_cookie() || offsets.version() != version) {
    return absl::UnimplementedError(absl::StrCat(
        "its _PyRuntime does not begin with the offsets of Python 3.", minor));
  }
  if (offsets.is_free_threaded()) {
    return absl::UnimplementedError(
        "it is a free-threaded build, whose frames are not known");
  }
  const PythonLayout layout =
      LayoutOf(offsets, minor == 13 ? kGroups313 : kGroups314, minor);
  if (!MakesSense(layout)) {
    return absl::UnimplementedError(absl::StrCat(
        "the offsets in its _PyRuntime are not those of Python 3.", minor));
  }
  return layout;
}

}  // namespace kymo::sampling
