// Includes all public headers but tbb.h, which needs oneTBB's, and those of
// //:record_function, which tests/headers/without_exceptions.cc includes. The
// compiler refuses throw and typeid also in templates that nobody uses.
#include "tests/integration/test_without_rtti.h"

#include "kymo/coverage.h"
#include "kymo/device_events.h"
#include "kymo/emit_itt.h"
#include "kymo/emit_nvtx.h"
#include "kymo/events.h"
#include "kymo/exporter.h"
#include "kymo/flops.h"
#include "kymo/future.h"
#include "kymo/load_trace.h"
#include "kymo/on_demand.h"
#include "kymo/profile.h"
#include "kymo/query.h"
#include "kymo/record_function.h"
#include "kymo/schedule.h"
#include "kymo/step_tracker.h"
#include "kymo/summary_writer.h"
#include "kymo/waits.h"

#if defined(__cpp_exceptions) || defined(__cpp_rtti)
#error "this source is to be built with -fno-exceptions and -fno-rtti"
#endif

namespace kymo {
namespace {

class EventCounter final : public TraceExporter {
 public:
  const PluginInfo& info() const noexcept override { return info_; }
  absl::StatusOr<std::vector<std::string>> Export(
      const model::Trace& trace, const ExportOptions& /*options*/,
      OutputDirectory& /*out*/) const override {
    return std::vector<std::string>(trace.event_count());
  }

 private:
  const PluginInfo info_ = {.name = "counter", .purpose = "counts events"};
};

}  // namespace

int64_t EventsRecordedWithoutRtti() {
  Profile profile;
  absl::Status status = profile.Start();
  { const RecordFunction range("work"); }
  status.Update(profile.Stop());
  if (!status.ok()) return -1;
  OutputDirectory nowhere("/nowhere");
  const auto files = EventCounter().Export(*profile.trace(), {}, nowhere);
  return files.ok() ? static_cast<int64_t>(files->size()) : -1;
}

}  // namespace kymo
