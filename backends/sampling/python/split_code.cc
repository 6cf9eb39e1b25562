#include "backends/sampling/python/split_code.h"

#include <gelf.h>

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "profiler/symbolize/unwind_functions.h"

namespace kymo::sampling {
namespace {

// Of all functions. CPython's loop has 60 kB.
constexpr uint64_t kMostBytes = uint64_t{2} << 20;
// Each costs two reads of the file. Of CPython's loop, jumps and bytes that
// look like one lead into 240 in Debian 12.
constexpr size_t kMostPieces = 1024;
// Bytes that are no instruction may look like a jump, but hardly twice to the
// same part.
constexpr int kFewestJumps = 2;

constexpr std::byte kJump{0xe9};
constexpr std::byte kTwoBytes{0x0f};
constexpr std::byte kConditional{0x80};  // the lower half says on what
constexpr std::byte kConditionalMask{0xf0};

std::vector<std::byte> ReadCode(const symbolize::ElfImage& image,
                                const CodeRange& code, uint64_t most_bytes) {
  size_t count = 0;
  if (code.end <= code.begin || code.end - code.begin > most_bytes ||
      elf_getphdrnum(image.elf, &count) != 0) {
    return {};
  }
  for (size_t i = 0; i < count; ++i) {
    GElf_Phdr segment;
    if (gelf_getphdr(image.elf, static_cast<int>(i), &segment) == nullptr) {
      return {};
    }
    if (segment.p_type != PT_LOAD || code.begin < segment.p_vaddr ||
        code.end - segment.p_vaddr > segment.p_filesz) {
      continue;
    }
    return image.ReadAll(segment.p_offset + (code.begin - segment.p_vaddr),
                         code.end - code.begin);
  }
  return {};
}

// Adds where the jumps of this code lead. Where an instruction begins is not
// known, so all bytes are tried.
void AddJumpTargets(const std::vector<std::byte>& code, uint64_t begin,
                    std::vector<uint64_t>& targets) {
  int32_t distance;
  for (size_t i = 0; i + 1 + sizeof(distance) <= code.size(); ++i) {
    const bool is_jump = code[i] == kJump;
    const bool is_conditional = i > 0 && code[i - 1] == kTwoBytes &&
                                (code[i] & kConditionalMask) == kConditional;
    if (!is_jump && !is_conditional) continue;
    std::memcpy(&distance, code.data() + i + 1, sizeof(distance));
    targets.push_back(begin + i + 1 + sizeof(distance) +
                      static_cast<uint64_t>(int64_t{distance}));
  }
}

bool HasAny(std::span<const CodeRange> functions, uint64_t address) {
  return std::any_of(functions.begin(), functions.end(),
                     [&](const auto& code) { return code.Has(address); });
}

// Sorted; only those outside of the functions.
std::vector<uint64_t> TargetsOutside(const symbolize::ElfImage& image,
                                     std::span<const CodeRange> functions) {
  std::vector<uint64_t> targets;
  uint64_t most_bytes = kMostBytes;
  for (const CodeRange& function : functions) {
    const auto code = ReadCode(image, function, most_bytes);
    most_bytes -= code.size();
    AddJumpTargets(code, function.begin, targets);
  }
  std::erase_if(targets,
                [&](uint64_t target) { return HasAny(functions, target); });
  std::sort(targets.begin(), targets.end());
  return targets;
}

}  // namespace

std::vector<CodeRange> FindSplitParts(const symbolize::ElfImage& image,
                                      std::span<const CodeRange> functions) {
  GElf_Ehdr header;
  functions = functions.first(std::min(functions.size(), kMostFunctions));
  if (image.elf == nullptr || gelf_getehdr(image.elf, &header) == nullptr ||
      header.e_machine != EM_X86_64) {
    return {};
  }
  const std::vector<uint64_t> targets = TargetsOutside(image, functions);
  const symbolize::UnwindFunctions unwind_functions(image);
  std::vector<CodeRange> found;
  size_t pieces = 0;
  for (auto at = targets.begin(); at != targets.end() && pieces < kMostPieces;
       ++pieces) {
    const auto piece = unwind_functions.Find(*at);
    // All of the targets that are in the same piece.
    const auto first = at;
    const uint64_t end = piece ? piece->end : 0;
    at = end > *first ? std::lower_bound(first, targets.end(), end)
                      : std::upper_bound(first, targets.end(), *first);
    if (!piece || !piece->is_function || end <= *first ||
        HasAny(functions, piece->begin)) {
      continue;
    }
    const auto into =
        std::upper_bound(first, at, piece->begin);  // the rest are to it
    if (at - into >= kFewestJumps) found.push_back({piece->begin, end});
    if (found.size() == kMostParts) break;
  }
  return found;
}

}  // namespace kymo::sampling
