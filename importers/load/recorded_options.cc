#include "importers/load/recorded_options.h"

#include <algorithm>
#include <string>
#include <string_view>

namespace kymo {
namespace {

bool HasStreamEvents(const model::Trace& trace) {
  for (model::TrackIndex t = 0; t < trace.tracks().size(); ++t) {
    if (trace.tracks()[t].kind == model::TrackKind::kStream &&
        trace.track_begin(t) != trace.track_end(t)) {
      return true;
    }
  }
  return false;
}

// Whether the metadata under `key` is 1 or true.
bool Says(const model::Trace& trace, std::string_view key) {
  return std::any_of(trace.metadata().begin(), trace.metadata().end(),
                     [&](const model::Metadata& entry) {
                       const std::string_view value =
                           trace.Name(entry.json_value);
                       return trace.Name(entry.key) == key &&
                              (value == "1" || value == "true");
                     });
}

// The lower_snake name under `key`, or `otherwise`.
std::string NameUnder(const model::Trace& trace, std::string_view key,
                      std::string_view otherwise) {
  constexpr std::string_view kNameCharacters =
      "abcdefghijklmnopqrstuvwxyz0123456789_";
  for (const model::Metadata& entry : trace.metadata()) {
    std::string_view name = trace.Name(entry.json_value);
    if (trace.Name(entry.key) != key || name.size() < 3 ||
        name.front() != '"' || name.back() != '"') {
      continue;
    }
    name = name.substr(1, name.size() - 2);
    if (name.find_first_not_of(kNameCharacters) == std::string_view::npos) {
      return std::string(name);
    }
  }
  return std::string(otherwise);
}

}  // namespace

RecordedOptions RecordedOptionsOf(const model::Trace& trace) {
  return {
      .profile_memory = !trace.memory().empty() ||
                        trace.folded_memory() != nullptr ||
                        Says(trace, "profile_memory"),
      .with_flops = Says(trace, "with_flops"),
      .with_stack = Says(trace, "with_stack"),
      .use_device = HasStreamEvents(trace)
                        ? NameUnder(trace, "use_device", "cuda")
                        : std::string(),
  };
}

}  // namespace kymo
