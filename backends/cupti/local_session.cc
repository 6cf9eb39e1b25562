#include "backends/cupti/local_session.h"

#include <unistd.h>

#include <new>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/cupti/decode/decode.h"
#include "backends/cupti/decode/device_metadata.h"
#include "backends/cupti/decode/remarks.h"
#include "backends/cupti/decode/saved_log.h"
#include "backends/cupti/driver.h"
#include "backends/cupti/nvtx_route.h"
#include "backends/cupti/target/cupti_library.h"
#include "backends/cupti/target/flush_thread.h"
#include "profiler/base/clock.h"
#include "profiler/base/column.h"
#include "profiler/base/status_macros.h"

namespace kymo::cupti {
namespace {

// A log in memory.
struct MemoryLog {
  LogHeader header;
  Column<std::byte> bytes;

  static void Append(void* to, const void* data, size_t size) noexcept {
    MemoryLog& log = *static_cast<MemoryLog*>(to);
    const auto* const from = static_cast<const std::byte*>(data);
    try {
      log.bytes.insert(log.bytes.end(), from, from + size);
    } catch (const std::bad_alloc&) {
      log.header.bytes_lost.fetch_add(size, std::memory_order_relaxed);
    }
  }
};

class LocalSession : public ActivitySession {
 public:
  LocalSession(const CuptiSettings& settings, const CuptiApi* api,
               const CudaDriver& driver)
      : settings_(settings), api_(api), driver_(driver) {}
  ~LocalSession() override {
    if (!is_live_) return;
    flushing_.Stop();
    StopCapture();
  }

  absl::Status Prepare(TargetSetup*) override {
    if (settings_.capture.flags & kCaptureMarkers) {
      KYMO_RETURN_IF_ERROR(CheckNvtxRoute());
    }
    if (api_ != nullptr) return absl::OkStatus();
    KYMO_ASSIGN_OR_RETURN(const int driver, FindDriver(settings_.device_check));
    char problem[256] = {};
    api_ = LoadCupti(CuptiPaths(driver).c_str(), problem, sizeof(problem));
    return api_ != nullptr ? absl::OkStatus() : absl::NotFoundError(problem);
  }

  absl::Status Start(pid_t) override {
    const LogSink sink = {.append = MemoryLog::Append, .to = &log_};
    CaptureSettings capture = settings_.capture;
    capture.is_late = driver_.is_up();
    is_live_ = StartCapture(*api_, capture, sink, &log_.header);
    if (!is_live_) return absl::FailedPreconditionError(log_.header.problem);
    flushing_.Start(settings_.flush_ms);
    return absl::OkStatus();
  }

  absl::Status SetCollecting(bool collecting) override {
    // As PyTorch does: wait for the work that is being switched off, and for
    // the work that was launched while recording was off.
    if (!collecting) {
      PauseCapture(driver_.wait);
      return absl::OkStatus();
    }
    driver_.wait();
    const ApiStatus status = ResumeCapture();
    return status == ApiStatus::kOk
               ? absl::OkStatus()
               : absl::InternalError(
                     absl::StrCat("CUPTI does not record any more: error ",
                                  static_cast<int>(status)));
  }

  absl::Status Stop() override {
    is_live_ = false;
    flushing_.Stop();
    StopCapture(StopMode::kDetach, driver_.wait);
    return absl::OkStatus();
  }

  // Stop waits for the kernels that are running.
  DurationNs StopLimitNs() const noexcept override { return kNoStopLimit; }

  absl::StatusOr<Collected> Collect(model::TraceShard& shard) override {
    const LogFacts facts = FactsOf(log_.header);
    const DecodedLog decoded =
        DecodeLog(facts, log_.bytes,
                  {.epoch_offset_ns = EpochOffsetNs(),
                   .with_queries = settings_.with_queries},
                  shard);
    AddDeviceMetadata({&decoded, 1}, facts.cupti_version, shard);
    remarks_ = RemarksOf({&decoded, 1}, facts.cupti_version);
    if (!settings_.save_folder.empty()) {
      KYMO_RETURN_IF_ERROR(SaveLog(
          log_.header, log_.bytes,
          absl::StrCat(settings_.save_folder, "/cuda-", facts.pid, ".log")));
    }
    return Collected{};
  }

  std::vector<std::string> Remarks() const override { return remarks_; }

 private:
  const CuptiSettings settings_;
  const CuptiApi* api_;
  const CudaDriver driver_;
  bool is_live_ = false;
  FlushThread flushing_;
  MemoryLog log_;
  std::vector<std::string> remarks_;
};

}  // namespace

std::unique_ptr<ActivitySession> NewLocalSession(const CuptiSettings& settings,
                                                 const CuptiApi* api,
                                                 const CudaDriver& driver) {
  return std::make_unique<LocalSession>(settings, api, driver);
}

}  // namespace kymo::cupti
