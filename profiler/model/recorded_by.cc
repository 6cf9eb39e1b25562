#include "profiler/model/recorded_by.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "profiler/model/records.h"

namespace kymo::model {
namespace {

constexpr std::string_view kKey = "kymo_recorded_by";
constexpr std::string_view kPyTorch = "\"PyTorch\"";

}  // namespace

void MarkAsPyTorchs(TraceShard& shard) {
  shard.metadata.push_back({.key = shard.strings.Intern(kKey),
                            .json_value = shard.strings.Intern(kPyTorch)});
}

bool IsOfPyTorch(const TraceShard& shard) {
  return std::any_of(shard.metadata.begin(), shard.metadata.end(),
                     [&](const Metadata& entry) {
                       return shard.strings.Get(entry.key) == kKey &&
                              shard.strings.Get(entry.json_value) == kPyTorch;
                     });
}

bool IsOfPyTorch(const Trace& trace) {
  return std::any_of(trace.metadata().begin(), trace.metadata().end(),
                     [&](const Metadata& entry) {
                       return trace.Name(entry.key) == kKey &&
                              trace.Name(entry.json_value) == kPyTorch;
                     });
}

void UnmarkAsPyTorchs(TraceShard& shard) {
  std::erase_if(shard.metadata, [&](const Metadata& entry) {
    return shard.strings.Get(entry.key) == kKey;
  });
}

}  // namespace kymo::model
