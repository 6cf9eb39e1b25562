#include "kymo/emit_nvtx.h"

#include "backends/nvtx/target/client.h"
#include "profiler/library/device_wait.h"

namespace kymo {
namespace {

const nvtx::NvtxClient& Client() { return nvtx::GetNvtxClient(); }

internal::EmissionSink Sink() {
  const nvtx::NvtxClient& client = Client();
  return {.interface = "NVTX",
          .push = client.push == nullptr
                      ? nullptr
                      : +[](const char* name) { Client().push(name); },
          .pop = client.pop == nullptr ? nullptr : +[] { Client().pop(); },
          .start = client.start,
          .end = client.end};
}

}  // namespace

absl::Status EmitNvtx::Start() {
  if (!options_.enabled) return absl::OkStatus();
  if (!emission_.is_on()) internal::WaitForDevice();
  return emission_.Start(
      Sink(), {.record_shapes = options_.record_shapes,
               .all_threads = options_.all_threads,
               .stashed_backward_seq = options_.stashed_backward_seq});
}

absl::Status EmitNvtx::Stop() {
  if (!emission_.is_on()) return absl::OkStatus();
  internal::WaitForDevice();
  return emission_.Stop();
}

bool NvtxIsAvailable() { return Client().push != nullptr; }

int NvtxRangePush(const std::string& message) {
  const auto push = Client().push;
  return push == nullptr ? nvtx::kNoPushPopTracking : push(message.c_str());
}

int NvtxRangePop() {
  const auto pop = Client().pop;
  return pop == nullptr ? nvtx::kNoPushPopTracking : pop();
}

uint64_t NvtxRangeStart(const std::string& message) {
  const auto start = Client().start;
  return start == nullptr ? 0 : start(message.c_str());
}

void NvtxRangeEnd(uint64_t id) {
  const auto end = Client().end;
  if (end != nullptr) end(id);
}

void NvtxMark(const std::string& message) {
  const auto mark = Client().mark;
  if (mark != nullptr) mark(message.c_str());
}

}  // namespace kymo
