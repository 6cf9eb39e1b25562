#include "kymo/emit_itt.h"

#include "backends/itt/target/client.h"

namespace kymo {
namespace {

const itt::IttClient& Itt() { return itt::GetIttClient(); }

internal::EmissionSink IttSink() {
  internal::EmissionSink sink = {.interface = "ITT",
                                 .push = nullptr,
                                 .pop = nullptr,
                                 .start = nullptr,
                                 .end = nullptr};
  if (Itt().is_available()) {
    sink.push = [](const char* name) { Itt().Push(name); };
    sink.pop = [] { Itt().Pop(); };
  }
  return sink;
}

}  // namespace

absl::Status EmitItt::Start() {
  if (!options_.enabled) return absl::OkStatus();
  return emission_.Start(IttSink(), {.full_names = options_.full_names,
                                     .record_shapes = options_.full_names &&
                                                      options_.record_shapes,
                                     .all_threads = options_.all_threads});
}

bool IttIsAvailable() { return Itt().is_available(); }
void IttRangePush(const std::string& message) { Itt().Push(message.c_str()); }
void IttRangePop() { Itt().Pop(); }
void IttMark(const std::string& message) { Itt().Mark(message.c_str()); }

}  // namespace kymo
