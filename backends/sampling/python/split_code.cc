#include "backends/sampling/python/split_code.h"

#include <gelf.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <map>

#include "profiler/symbolize/unwind_functions.h"

namespace kymo::sampling {
namespace {

constexpr uint64_t kMostBytes = uint64_t{1} << 20;
// Bytes that are no instruction may look like a jump, but hardly twice to the
// same part.
constexpr int kFewestJumps = 2;

constexpr std::byte kJump{0xe9};
constexpr std::byte kTwoBytes{0x0f};
constexpr std::byte kConditional{0x80};  // the lower half says on what
constexpr std::byte kConditionalMask{0xf0};

std::vector<std::byte> ReadCode(const symbolize::ElfImage& image,
                                const CodeRange& code) {
  size_t count = 0;
  if (code.end <= code.begin || code.end - code.begin > kMostBytes ||
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

// Where the jumps of this code lead. Where an instruction begins is not known,
// so all bytes are tried.
std::vector<uint64_t> JumpTargets(const std::vector<std::byte>& code,
                                  uint64_t begin) {
  std::vector<uint64_t> targets;
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
  return targets;
}

}  // namespace

std::vector<CodeRange> FindSplitParts(const symbolize::ElfImage& image,
                                      const CodeRange& function) {
  GElf_Ehdr header;
  if (image.elf == nullptr || gelf_getehdr(image.elf, &header) == nullptr ||
      header.e_machine != EM_X86_64) {
    return {};
  }
  const symbolize::UnwindFunctions functions(image);
  std::map<uint64_t, CodeRange> parts;
  std::map<uint64_t, int> jumps;
  for (const uint64_t target :
       JumpTargets(ReadCode(image, function), function.begin)) {
    if (function.Has(target)) continue;
    const auto piece = functions.Find(target);
    if (!piece || !piece->is_function || piece->end == 0 ||
        piece->begin == target || function.Has(piece->begin)) {
      continue;
    }
    parts[piece->begin] = {piece->begin, piece->end};
    ++jumps[piece->begin];
  }
  std::vector<CodeRange> found;
  for (const auto& [begin, part] : parts) {
    if (jumps[begin] >= kFewestJumps) found.push_back(part);
  }
  return found;
}

}  // namespace kymo::sampling
