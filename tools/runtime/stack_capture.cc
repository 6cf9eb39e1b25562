#include "tools/runtime/stack_capture.h"

#include <link.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "profiler/record/host/host.h"
#include "profiler/unwind/capture_stack.h"
#include "profiler/unwind/loaded_code.h"

namespace kymo {
namespace {

// Code addresses are checked by page; all code of a page is of one file.
constexpr int kPageBits = 12;
constexpr size_t kPages = 4096;
// Files are told apart by their identity. If there are more files than entries,
// the mappings are recorded again now and then.
constexpr size_t kFiles = 1024;

// Pages whose file is known; direct-mapped.
constinit std::atomic<uint64_t> known_pages[kPages] = {};
// Files that were loaded when the mappings were last recorded; direct-mapped.
constinit std::atomic<uint64_t> known_files[kFiles] = {};

// Stores the value at its place. False if it was there already.
bool IsNew(std::atomic<uint64_t>& known, uint64_t value) noexcept {
  if (known.load(std::memory_order_relaxed) == value) return false;
  known.store(value, std::memory_order_relaxed);
  return true;
}

// Whether the address is in a file that was loaded since. It takes no lock
// (profiler/unwind/loaded_code.h), because an allocation must not wait for the
// loader.
bool IsOfNewFile(uint64_t pc) noexcept {
  const uint64_t page = pc >> kPageBits;
  if (!IsNew(known_pages[page % kPages], page)) [[likely]]
    return false;
  unwind::LoadedCode code;
  return unwind::FindLoadedCode(pc, &code) &&
         IsNew(known_files[code.identity % kFiles], code.identity);
}

uint64_t Capture(const void* frame, uint64_t* pcs, uint64_t max) noexcept {
  const size_t count = unwind::CaptureStackAbove(frame, pcs, max);
  bool has_new = false;
  for (size_t i = 0; i < count; ++i) has_new |= IsOfNewFile(pcs[i]);
  if (has_new) [[unlikely]]
    record::ForgetMappings();
  return count;
}

// Marks a file as known: files that are loaded at the start are in the first
// mappings.
int KnowFile(dl_phdr_info* info, size_t, void*) {
  for (size_t i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = info->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0) continue;
    unwind::LoadedCode code;
    if (unwind::FindLoadedCode(info->dlpi_addr + segment.p_vaddr, &code)) {
      IsNew(known_files[code.identity % kFiles], code.identity);
    }
  }
  return 0;
}

}  // namespace

void InstallStackCapture() noexcept {
  dl_iterate_phdr(KnowFile, nullptr);
  record::OwnHost()->set_stack_capture(Capture);
}

}  // namespace kymo
