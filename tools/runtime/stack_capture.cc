#include "tools/runtime/stack_capture.h"

#include <link.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "profiler/record/host.h"
#include "profiler/unwind/capture_stack.h"

namespace kymo {
namespace {

// Code addresses are looked at in blocks; a process runs in few of them.
constexpr int kBlockBits = 16;
constexpr size_t kBlocks = 1024;

// Blocks whose file was loaded when it was last asked; direct-mapped.
constinit std::atomic<uint64_t> known_blocks[kBlocks] = {};
// How often the loader had loaded something then.
constinit std::atomic<uint64_t> known_loads = 0;

uint64_t Loads() noexcept {
  uint64_t loads = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* result) {
        *static_cast<uint64_t*>(result) = info->dlpi_adds;
        return 1;
      },
      &loads);
  return loads;
}

bool IsKnown(uint64_t pc) noexcept {
  const uint64_t block = pc >> kBlockBits;
  std::atomic<uint64_t>& known = known_blocks[block % kBlocks];
  if (known.load(std::memory_order_relaxed) == block) return true;
  known.store(block, std::memory_order_relaxed);
  return false;
}

uint64_t Capture(const void* frame, uint64_t* pcs, uint64_t max) noexcept {
  const size_t count = unwind::CaptureStackAbove(frame, pcs, max);
  bool all_known = true;
  for (size_t i = 0; i < count; ++i) all_known &= IsKnown(pcs[i]);
  if (!all_known) [[unlikely]] {
    const uint64_t loads = Loads();
    if (known_loads.exchange(loads, std::memory_order_relaxed) != loads) {
      record::ForgetMappings();
    }
  }
  return count;
}

}  // namespace

void InstallStackCapture() noexcept {
  record::OwnHost()->set_stack_capture(Capture);
}

}  // namespace kymo
