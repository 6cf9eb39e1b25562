#include "profiler/unwind/loaded_code.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstring>

namespace kymo::unwind {
namespace {

constexpr uint64_t kFirstPageBytes = 4096;
constexpr uint64_t kBuildIdBytes = 16;  // how many of them we read

// Reads the image of a file that stays loaded.
struct ReadDirectly {
  uint64_t begin;
  bool operator()(uint64_t at, void* to, size_t bytes) const noexcept {
    std::memcpy(to, reinterpret_cast<const void*>(begin + at), bytes);
    return true;
  }
};

// The same through the kernel: false where the file is gone.
struct ReadThroughKernel {
  uint64_t begin;
  bool operator()(uint64_t at, void* to, size_t bytes) const noexcept {
    const int saved_errno = errno;
    iovec target = {to, bytes};
    iovec source = {reinterpret_cast<void*>(begin + at), bytes};
    const ssize_t got = syscall(SYS_process_vm_readv, syscall(SYS_getpid),
                                &target, 1ul, &source, 1ul, 0ul);
    errno = saved_errno;
    return got == static_cast<ssize_t>(bytes);
  }
};

// Where in the image the bytes of the build id are; 0 if nowhere. They must be
// in the first page, which a loaded file always has; linkers put them there.
template <typename Read>
uint64_t FindBuildId(uint64_t image_bytes, const Read& read) {
  ElfW(Ehdr) header;
  if (image_bytes < kFirstPageBytes || !read(0, &header, sizeof(header)) ||
      std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
      header.e_phoff > kFirstPageBytes ||
      header.e_phoff + header.e_phnum * sizeof(ElfW(Phdr)) > kFirstPageBytes) {
    return 0;
  }
  for (size_t i = 0; i < header.e_phnum; ++i) {
    ElfW(Phdr) segment;
    if (!read(header.e_phoff + i * sizeof(segment), &segment,
              sizeof(segment))) {
      return 0;
    }
    if (segment.p_type != PT_NOTE) continue;
    // The first page has the same layout in the file and in memory.
    uint64_t at = segment.p_offset;
    const uint64_t notes_end = at + segment.p_filesz;
    while (at < notes_end && at + sizeof(ElfW(Nhdr)) <= kFirstPageBytes) {
      ElfW(Nhdr) note;
      if (!read(at, &note, sizeof(note))) return 0;
      const uint64_t name_bytes = (uint64_t{note.n_namesz} + 3) & ~3ull;
      const uint64_t id = at + sizeof(note) + name_bytes;
      if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
          note.n_descsz >= kBuildIdBytes &&
          id + kBuildIdBytes <= kFirstPageBytes) {
        return id;
      }
      at = id + ((uint64_t{note.n_descsz} + 3) & ~3ull);
    }
  }
  return 0;
}

uint64_t Mix(uint64_t hash, uint64_t value) {
  hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
  return hash ^ (hash >> 32);
}

// Three products that do not wait for each other.
uint64_t HashOfPlace(const LoadedCode& code) {
  const uint64_t hash =
      code.begin * 0x9e3779b97f4a7c15u + code.end * 0xbf58476d1ce4e5b9u +
      reinterpret_cast<uint64_t>(code.frame_header) * 0x94d049bb133111ebu;
  return hash ^ (hash >> 32);
}

// Where in the image the bytes are that distinguish a file from others at its
// addresses.
template <typename Read>
uint64_t FindUnique(const LoadedCode& code, const Read& read) {
  constexpr size_t kHeaderBytes = 16;  // size, first function
  constexpr size_t kBeforeSize = 4;    // encodings
  static_assert(kBuildIdBytes == kHeaderBytes);
  const uint64_t id = FindBuildId(code.end - code.begin, read);
  return id != 0 ? id
                 : reinterpret_cast<uint64_t>(code.frame_header) + kBeforeSize -
                       code.begin;
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

template <typename Read>
uint64_t KnownUnique(const LoadedCode& code, uint64_t place, const Read& read) {
  UniqueSlot& slot = unique_slots[place >> (64 - kUniqueBits)];
  const uint64_t known = slot.address.load(std::memory_order_relaxed);
  const uint64_t both = slot.place_and_address.load(std::memory_order_relaxed);
  if ((both ^ known) == place) [[likely]] {
    return known;
  }
  const uint64_t found = FindUnique(code, read);
  slot.address.store(found, std::memory_order_relaxed);
  slot.place_and_address.store(place ^ found, std::memory_order_relaxed);
  return found;
}

template <typename Read>
bool Identify(LoadedCode* code, const Read& read) {
  const uint64_t place = HashOfPlace(*code);
  uint64_t words[kBuildIdBytes / sizeof(uint64_t)];
  if (!read(KnownUnique(*code, place, read), words, sizeof(words))) {
    return false;
  }
  code->identity = Mix(place, words[0] ^ std::rotl(words[1], 32));
  return true;
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

// Only the place; false if there is no unwind information.
bool FindPlaceInList(uint64_t pc, LoadedCode* code) noexcept {
  ListSearch search = {pc, code};
  return dl_iterate_phdr(VisitObject, &search) == 1;
}

bool FindPlace(uint64_t pc, LoadedCode* code) noexcept {
#if defined(DLFO_STRUCT_HAS_EH_DBASE)  // declares _dl_find_object
  dl_find_object found;
  if (_dl_find_object(reinterpret_cast<void*>(pc), &found) != 0) return false;
  code->begin = reinterpret_cast<uint64_t>(found.dlfo_map_start);
  code->end = reinterpret_cast<uint64_t>(found.dlfo_map_end);
  code->frame_header = static_cast<const uint8_t*>(found.dlfo_eh_frame);
  return code->frame_header != nullptr;
#else
  return FindPlaceInList(pc, code);
#endif
}

}  // namespace

bool FindLoadedCodeInList(uint64_t pc, LoadedCode* code) noexcept {
  return FindPlaceInList(pc, code) && Identify(code, ReadDirectly{code->begin});
}

bool FindsLoadedCodeWithoutLock() noexcept {
#if defined(DLFO_STRUCT_HAS_EH_DBASE)
  return true;
#else
  return false;
#endif
}

bool FindLoadedCode(uint64_t pc, LoadedCode* code) noexcept {
  return FindPlace(pc, code) && Identify(code, ReadDirectly{code->begin});
}

bool FindLoadedCodeElsewhere(uint64_t pc, LoadedCode* code) noexcept {
  return FindPlace(pc, code) && Identify(code, ReadThroughKernel{code->begin});
}

}  // namespace kymo::unwind
