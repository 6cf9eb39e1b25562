#include "profiler/record/host/copies.h"

#include <link.h>
#include <stdio.h>
#include <string.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "profiler/record/arena/layout_note.h"

namespace kymo::record {

// What a copy tells the others. The same in every version.
struct Copy {
  uint32_t version;
  uint32_t api_bytes;
  // Null until the copy is used. The first copy of a process has it as soon as
  // any other is used.
  std::atomic<const HostApi*> host;
};

// Hidden: the linker must know its distance from the note.
constinit Copy this_copy [[gnu::visibility("hidden"), gnu::used]] = {
    .version = kHostVersion, .api_bytes = sizeof(HostApi), .host = nullptr};

namespace {

// As in LayoutNote and kCopyNoteType. In C++ its last member would be an
// address, which the loader would have to relocate.
asm(R"(
  .pushsection .note.kymo, "a", %note
  .balign 4
  .long 8, 4, 2
  .ascii "Kymo\0\0\0\0"
  .long _ZN4kymo6record9this_copyE - .
  .popsection
)");

bool CanShareHost(const Copy& copy) noexcept {
  return copy.version == this_copy.version &&
         copy.api_bytes == this_copy.api_bytes;
}

// The copy of which this is the note; null for other notes.
Copy* CopyOf(const char* note) noexcept {
  constexpr LayoutNote kNote = {.type = kCopyNoteType, .layout = 0};
  constexpr size_t kDistanceAt = offsetof(LayoutNote, layout);
  if (memcmp(note, &kNote, kDistanceAt) != 0) return nullptr;
  int32_t distance = 0;
  memcpy(&distance, note + kDistanceAt, sizeof(distance));
  return reinterpret_cast<Copy*>(
      reinterpret_cast<intptr_t>(note + kDistanceAt) + distance);
}

bool IsLoaded(const dl_phdr_info& file, const ElfW(Phdr) & part) noexcept {
  for (int i = 0; i < file.dlpi_phnum; ++i) {
    const ElfW(Phdr)& whole = file.dlpi_phdr[i];
    if (whole.p_type == PT_LOAD && (whole.p_flags & PF_R) != 0 &&
        part.p_vaddr >= whole.p_vaddr && part.p_memsz <= whole.p_filesz &&
        part.p_vaddr - whole.p_vaddr <= whole.p_filesz - part.p_memsz) {
      return true;
    }
  }
  return false;
}

// Calls visit(copy, file) for each copy in the loader's order, until it is
// true. The loader unloads no file meanwhile.
template <typename Visit>
void VisitCopies(Visit visit) noexcept {
  const auto visit_file = [](dl_phdr_info* file, size_t, void* visit) -> int {
    for (int i = 0; i < file->dlpi_phnum; ++i) {
      const ElfW(Phdr)& part = file->dlpi_phdr[i];
      if (part.p_type != PT_NOTE || !IsLoaded(*file, part)) continue;
      const auto* const notes =
          reinterpret_cast<const char*>(file->dlpi_addr + part.p_vaddr);
      // Each place, since linkers differ in how they pad notes.
      for (size_t at = 0; at + sizeof(LayoutNote) <= part.p_memsz; at += 4) {
        Copy* const copy = CopyOf(notes + at);
        if (copy != nullptr &&
            (*static_cast<Visit*>(visit))(*copy, file->dlpi_name)) {
          return 1;
        }
      }
    }
    return 0;
  };
  dl_iterate_phdr(visit_file, &visit);
}

}  // namespace

const HostApi* HostOfCopies() noexcept {
  const HostApi* host = nullptr;
  VisitCopies([&host](const Copy& copy, const char*) {
    if (CanShareHost(copy)) host = copy.host.load(std::memory_order_acquire);
    return host != nullptr;
  });
  return host;
}

const HostApi* OfferHost(const HostApi* host) noexcept {
  // Copies that choose at the same time meet at the first one.
  VisitCopies([&host](Copy& first, const char*) {
    if (!CanShareHost(first)) return false;
    const HostApi* earlier = nullptr;
    if (!first.host.compare_exchange_strong(earlier, host,
                                            std::memory_order_acq_rel)) {
      host = earlier;
    }
    return true;
  });
  return host;
}

bool FindOtherVersion(char* file, size_t bytes) noexcept {
  bool found = false;
  VisitCopies([&](const Copy& copy, const char* name) {
    found = !CanShareHost(copy) &&
            copy.host.load(std::memory_order_relaxed) != nullptr;
    if (found) snprintf(file, bytes, "%s", name);
    return found;
  });
  return found;
}

const HostApi* SetHost(const HostApi* host) noexcept {
  const HostApi* earlier = nullptr;
  return this_copy.host.compare_exchange_strong(earlier, host,
                                                std::memory_order_acq_rel)
             ? host
             : earlier;
}

const HostApi* ChosenHost() noexcept {
  return this_copy.host.load(std::memory_order_acquire);
}

}  // namespace kymo::record
