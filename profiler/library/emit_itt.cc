#include "kymo/emit_itt.h"

#include "backends/itt/target/client.h"

namespace kymo {
namespace {

const itt::IttClient& Client() { return itt::GetIttClient(); }

internal::EmissionSink Sink() {
  internal::EmissionSink sink = {.interface = "ITT",
                                 .push = nullptr,
                                 .pop = nullptr,
                                 .start = nullptr,
                                 .end = nullptr};
  if (Client().is_available()) {
    sink.push = [](const char* name) { Client().Push(name); };
    sink.pop = [] { Client().Pop(); };
  }
  return sink;
}

}  // namespace

absl::Status EmitItt::Start() {
  if (!options_.enabled) return absl::OkStatus();
  return emission_.Start(
      Sink(), {.full_names = options_.full_names,
               .record_shapes = options_.full_names && options_.record_shapes,
               .all_threads = options_.all_threads});
}

bool IttIsAvailable() { return Client().is_available(); }
void IttRangePush(const std::string& message) {
  Client().Push(message.c_str());
}
void IttRangePop() { Client().Pop(); }
void IttMark(const std::string& message) { Client().Mark(message.c_str()); }

}  // namespace kymo
