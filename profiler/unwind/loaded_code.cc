#include "profiler/unwind/loaded_code.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstring>

namespace kymo::unwind {
namespace {

constexpr uint64_t kFirstPageBytes = 4096;
constexpr uint64_t kBuildIdBytes = 16;  // how many of them we read

// Where the bytes of the build id are. They must be in the first page, which a
// loaded file always has; linkers put them there.
const uint8_t* FindBuildId(uint64_t begin, uint64_t end) {
  const auto* const image = reinterpret_cast<const uint8_t*>(begin);
  const auto* const header = reinterpret_cast<const ElfW(Ehdr)*>(image);
  if (end - begin < kFirstPageBytes ||
      std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
      header->e_phoff > kFirstPageBytes ||
      header->e_phoff + header->e_phnum * sizeof(ElfW(Phdr)) >
          kFirstPageBytes) {
    return nullptr;
  }
  const auto* const segments =
      reinterpret_cast<const ElfW(Phdr)*>(image + header->e_phoff);
  for (size_t i = 0; i < header->e_phnum; ++i) {
    if (segments[i].p_type != PT_NOTE) continue;
    // The first page has the same layout in the file and in memory.
    uint64_t at = segments[i].p_offset;
    const uint64_t notes_end = at + segments[i].p_filesz;
    while (at < notes_end && at + sizeof(ElfW(Nhdr)) <= kFirstPageBytes) {
      const auto* const note = reinterpret_cast<const ElfW(Nhdr)*>(image + at);
      const uint64_t name_bytes = (uint64_t{note->n_namesz} + 3) & ~3ull;
      const uint64_t id = at + sizeof(*note) + name_bytes;
      if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 &&
          note->n_descsz >= kBuildIdBytes &&
          id + kBuildIdBytes <= kFirstPageBytes) {
        return image + id;
      }
      at = id + ((uint64_t{note->n_descsz} + 3) & ~3ull);
    }
  }
  return nullptr;
}

uint64_t Mix(uint64_t hash, uint64_t value) {
  hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
  return hash ^ (hash >> 32);
}

// Where the bytes are that distinguish a file from others at its addresses.
const uint8_t* FindUnique(const LoadedCode& code) {
  constexpr size_t kHeaderBytes = 16;  // size, first function
  constexpr size_t kBeforeSize = 4;    // encodings
  static_assert(kBuildIdBytes == kHeaderBytes);
  const uint8_t* const id = FindBuildId(code.begin, code.end);
  return id != nullptr ? id : code.frame_header + kBeforeSize;
}

// A cache of FindUnique, which takes as long as several frames. A slot answers
// only for the place that its two words give together. If another file has come
// to a place, the bytes at the first file's build id are read in the new file:
// whatever they are, they are not that build id.
struct UniqueSlot {
  std::atomic<uint64_t> place_and_address;
  std::atomic<uint64_t> address;
};
constexpr int kUniqueBits = 8;
constinit UniqueSlot unique_slots[size_t{1} << kUniqueBits] = {};

const uint8_t* KnownUnique(const LoadedCode& code, uint64_t place) {
  UniqueSlot& slot = unique_slots[place >> (64 - kUniqueBits)];
  const uint64_t known = slot.address.load(std::memory_order_relaxed);
  const uint64_t both = slot.place_and_address.load(std::memory_order_relaxed);
  if ((both ^ known) == place) [[likely]] {
    return reinterpret_cast<const uint8_t*>(known);
  }
  const uint8_t* const found = FindUnique(code);
  const uint64_t address = reinterpret_cast<uint64_t>(found);
  slot.address.store(address, std::memory_order_relaxed);
  slot.place_and_address.store(place ^ address, std::memory_order_relaxed);
  return found;
}

void Identify(LoadedCode* code) {
  const uint64_t place = Mix(Mix(code->begin, code->end),
                             reinterpret_cast<uint64_t>(code->frame_header));
  uint64_t words[kBuildIdBytes / sizeof(uint64_t)];
  std::memcpy(words, KnownUnique(*code, place), sizeof(words));
  code->identity = Mix(place, words[0] ^ std::rotl(words[1], 32));
}

struct ListSearch {
  uint64_t pc;
  LoadedCode* code;
};

int VisitObject(dl_phdr_info* info, size_t, void* argument) {
  auto* const search = static_cast<ListSearch*>(argument);
  uint64_t begin = ~uint64_t{0}, end = 0, frame_header = 0;
  for (size_t i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = info->dlpi_phdr[i];
    const uint64_t address = info->dlpi_addr + segment.p_vaddr;
    if (segment.p_type == PT_GNU_EH_FRAME) frame_header = address;
    if (segment.p_type != PT_LOAD) continue;
    if (begin > address) begin = address & ~(kFirstPageBytes - 1);
    if (end < address + segment.p_memsz) end = address + segment.p_memsz;
  }
  if (search->pc < begin || search->pc >= end) return 0;
  if (frame_header == 0) return -1;
  search->code->begin = begin;
  search->code->end = end;
  search->code->frame_header = reinterpret_cast<const uint8_t*>(frame_header);
  return 1;
}

}  // namespace

bool FindLoadedCodeInList(uint64_t pc, LoadedCode* code) noexcept {
  ListSearch search = {pc, code};
  if (dl_iterate_phdr(VisitObject, &search) != 1) return false;
  Identify(code);
  return true;
}

bool FindsLoadedCodeWithoutLock() noexcept {
#if defined(DLFO_STRUCT_HAS_EH_DBASE)
  return true;
#else
  return false;
#endif
}

bool FindLoadedCode(uint64_t pc, LoadedCode* code) noexcept {
#if defined(DLFO_STRUCT_HAS_EH_DBASE)  // declares _dl_find_object
  dl_find_object found;
  if (_dl_find_object(reinterpret_cast<void*>(pc), &found) != 0) return false;
  code->begin = reinterpret_cast<uint64_t>(found.dlfo_map_start);
  code->end = reinterpret_cast<uint64_t>(found.dlfo_map_end);
  code->frame_header = static_cast<const uint8_t*>(found.dlfo_eh_frame);
  if (code->frame_header == nullptr) return false;
  Identify(code);
  return true;
#else
  return FindLoadedCodeInList(pc, code);
#endif
}

}  // namespace kymo::unwind
