#include "tools/runtime/stack_capture.h"

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "profiler/record/arena/layout.h"
#include "profiler/record/host/host.h"
#include "profiler/unwind/capture_stack.h"
#include "profiler/unwind/file_number.h"
#include "profiler/unwind/loaded_code.h"

namespace kymo {
namespace {

static_assert(unwind::kMostFiles >> (64 - record::kFileNumberShift) == 0);

// Whether the file with this number is in the recorded mappings, or will be:
// it was loaded when they were recorded, or a stack has asked for them since.
constinit std::atomic<bool> is_recorded[unwind::kMostFiles + 1] = {};

// Runs within a capture. It takes no lock (profiler/unwind/loaded_code.h),
// because an allocation must not wait for the loader.
uint64_t MarkFile(void*, const unwind::LoadedCode& code) noexcept {
  const uint32_t number = unwind::FileNumber(code.identity);
  if (!is_recorded[number].load(std::memory_order_relaxed) && number != 0)
      [[unlikely]] {
    is_recorded[number].store(true, std::memory_order_relaxed);
    record::ForgetMappings();
  }
  return uint64_t{number} << record::kFileNumberShift;
}

constexpr unwind::FileMarks kMarks = {MarkFile, nullptr};

uint64_t Capture(const void* frame, uint64_t* pcs, uint64_t max) noexcept {
  return unwind::CaptureStackAbove(frame, pcs, max, nullptr, &kMarks);
}

// The number of the file that a mapping is of, while it is being recorded.
uint32_t NumberAt(uint64_t address) noexcept {
  unwind::LoadedCode code;
  if (!unwind::FindLoadedCodeElsewhere(address, &code)) return 0;
  const uint32_t number = unwind::FileNumber(code.identity);
  is_recorded[number].store(true, std::memory_order_relaxed);
  return number;
}

}  // namespace

void InstallStackCapture() noexcept {
  record::SetFileNumberAt(NumberAt);
  record::OwnHost()->set_stack_capture(Capture);
}

}  // namespace kymo
