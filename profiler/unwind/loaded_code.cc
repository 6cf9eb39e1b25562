#include "profiler/unwind/loaded_code.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <sys/auxv.h>
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
constexpr size_t kBuildIdWords = kBuildIdBytes / sizeof(uint64_t);

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

// Whether the file at `pc` was loaded before the program began. The loader's
// list has such files first, and the loader itself is one of them, so none is
// read here that could be unloaded.
bool IsFromStart(uint64_t pc) {
#if defined(DLFO_STRUCT_HAS_EH_DBASE)  // declares _dl_find_object
  const auto file_at = [](uint64_t address) -> const link_map* {
    dl_find_object found;
    return _dl_find_object(reinterpret_cast<void*>(address), &found) == 0
               ? found.dlfo_link_map
               : nullptr;
  };
  const link_map* const file = file_at(pc);
  const link_map* const loader = file_at(getauxval(AT_BASE));
  const link_map* at = file_at(getauxval(AT_ENTRY));
  if (file == nullptr || loader == nullptr) return false;
  for (; at != nullptr; at = at->l_next) {
    if (at == file) return true;
    if (at == loader) return false;
  }
#else
  (void)pc;
#endif
  return false;
}

// A file that was found before, in a list that only grows. So known files are
// found by comparing what is at their places now, without hashing it again.
struct KnownFile {
  LoadedCode code;
  uint64_t unique_at;  // in the image, see FindUnique
  uint64_t unique[kBuildIdWords];
  const KnownFile* next;
};
constexpr size_t kMostKnown = 1024;  // others are found, too, but more slowly
constexpr int kKnownBits = 9;
constexpr int kMostTries = 8;  // of one list
constinit KnownFile known_files[kMostKnown] = {};
constinit std::atomic<uint32_t> known_files_begun{0};
constinit std::atomic<const KnownFile*> known_lists[size_t{1} << kKnownBits] =
    {};

std::atomic<const KnownFile*>& KnownList(const LoadedCode& code) {
  return known_lists[(code.begin * 0x9e3779b97f4a7c15u) >> (64 - kKnownBits)];
}

// If another file has come to a place, the bytes at the first file's build id
// are read in the new file: whatever they are, they are not that build id.
template <typename Read>
const KnownFile* FindKnown(const LoadedCode& code, const Read& read) {
  const KnownFile* file = KnownList(code).load(std::memory_order_acquire);
  for (int i = 0; i < kMostTries && file != nullptr; ++i, file = file->next) {
    if (file->code.begin != code.begin || file->code.end != code.end ||
        file->code.frame_header != code.frame_header) {
      continue;
    }
    uint64_t words[kBuildIdWords];
    if (!read(file->unique_at, words, sizeof(words))) return nullptr;
    if (words[0] == file->unique[0] && words[1] == file->unique[1]) return file;
  }
  return nullptr;
}

void AddKnown(const KnownFile& found) {
  if (known_files_begun.load(std::memory_order_relaxed) >= kMostKnown) return;
  const uint32_t index =
      known_files_begun.fetch_add(1, std::memory_order_relaxed);
  if (index >= kMostKnown) return;
  KnownFile& file = known_files[index];
  file = found;
  if (IsFromStart(file.code.begin)) file.code.for_ever = &file.code;
  std::atomic<const KnownFile*>& list = KnownList(file.code);
  file.next = list.load(std::memory_order_relaxed);
  while (!list.compare_exchange_weak(file.next, &file,
                                     std::memory_order_acq_rel)) {
  }
}

template <typename Read>
[[gnu::noinline]] bool IdentifyNew(LoadedCode* code, const Read& read) {
  KnownFile file = {.code = *code, .unique_at = FindUnique(*code, read)};
  if (!read(file.unique_at, file.unique, sizeof(file.unique))) return false;
  file.code.identity =
      Mix(HashOfPlace(*code), file.unique[0] ^ std::rotl(file.unique[1], 32));
  AddKnown(file);
  *code = file.code;
  return true;
}

template <typename Read>
inline bool Identify(LoadedCode* code, const Read& read) {
  if (const KnownFile* const known = FindKnown(*code, read)) [[likely]] {
    *code = known->code;
    return true;
  }
  return IdentifyNew(code, read);
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
