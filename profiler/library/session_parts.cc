#include "profiler/library/session_parts.h"

#include <array>
#include <random>
#include <utility>

#include "absl/strings/str_format.h"
#include "kymo/warning.h"
#include "profiler/base/strings.h"
#include "profiler/record/host/host.h"
#include "profiler/report/ledger_text.h"
#include "profiler/text/json_text.h"
#include "profiler/unwind/capture_stack.h"

namespace kymo {
namespace {

uint64_t CaptureForRecorder(const void* frame, uint64_t* pcs,
                            uint64_t max) noexcept {
  return unwind::CaptureStackAbove(frame, pcs, max);
}

}  // namespace

std::string RandomTraceId() {
  std::random_device random;
  std::array<uint32_t, 4> words;
  for (uint32_t& word : words) word = random();
  words[1] = (words[1] & 0xffff0fff) | 0x4000;
  words[2] = (words[2] & 0x3fffffff) | 0x80000000;
  return absl::StrFormat("%08X%08X%08X%08X", words[0], words[1], words[2],
                         words[3]);
}

void CaptureStacks() { record::SetStackCapture(CaptureForRecorder); }

MetadataMap MetadataOf(const ProfileOptions& options,
                       const std::string& use_device,
                       const std::string& trace_id,
                       const DistributedInfo& info) {
  MetadataMap all;
  const std::pair<const char*, bool> flags[] = {
      {"profile_memory", options.profile_memory},
      {"with_stack", options.with_stack},
      {"record_shapes", options.record_shapes},
      {"with_modules", options.with_modules},
      {"with_flops", options.with_flops}};
  for (const auto& [name, on] : flags) {
    if (on) all.emplace(name, std::string(1, '1'));
  }
  if (info.is_distributed()) all["distributedInfo"] = info.ToJson();
  json::AppendJsonString(all["trace_id"], trace_id);
  // Readers take the streams of a trace for CUDA's.
  if (!use_device.empty() && use_device != "cuda") {
    json::AppendJsonString(all["use_device"], use_device);
  }
  return all;
}

void WarnOfTroubles(const Recording& recording,
                    const model::LossLedger& ledger) {
  for (const absl::Status& problem : recording.problems()) {
    Warn(ToStd(problem.message()));
  }
  for (const std::string& remark : recording.Remarks()) Warn(remark);
  for (const std::string& line : report::LossLines(ledger)) Warn(line);
  if (ledger.Get(model::Loss::kEventsDroppedArenaFull) == 0) return;
  Warn(
      "A larger setting cpu_arena_mib (256 by default) has room for more "
      "events: .settings of the session, --cpu_arena_mib of the command.");
}

}  // namespace kymo
