#include "exporters/summary/waits_section.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "exporters/summary/averages_section.h"
#include "profiler/analysis/wait_names.h"
#include "profiler/analysis/waits.h"
#include "profiler/model/thread_states.h"

namespace kymo {
namespace {

using json::JsonWriter;
using model::Trace;

constexpr size_t kMost = 1000;
constexpr size_t kMostHolders = 10;  // of each lock

void WriteKinds(const analysis::TimeByKind& blocked_ns, JsonWriter& json) {
  json.Key("blocked_ns");
  json.BeginObject();
  for (size_t kind = 0; kind < blocked_ns.size(); ++kind) {
    if (blocked_ns[kind] == 0) continue;
    json.Member(NameOf(static_cast<model::WaitKind>(kind)), blocked_ns[kind]);
  }
  json.EndObject();
}

void WriteStack(std::string_view key, const Trace& trace, model::StackId stack,
                JsonWriter& json) {
  json.Key(key);
  json.BeginArray();
  for (const model::FrameId frame : trace.stacks().Frames(stack)) {
    json.String(trace.Name(trace.stacks().frame(frame).function));
  }
  json.EndArray();
}

void WritePlaces(const Trace& trace,
                 const std::vector<analysis::WaitGroup>& groups,
                 JsonWriter& json) {
  analysis::WaitPlaces places(trace);
  json.Key("places");
  json.BeginArray();
  for (size_t i = 0; i < std::min(groups.size(), kMost); ++i) {
    const analysis::WaitGroup& group = groups[i];
    json.BeginObject();
    const analysis::WaitPlace place = places.At(group.stack);
    json.Member("where", place.name);
    if (!place.module.empty()) json.Member("module", place.module);
    json.Member("kind", NameOf(group.kind));
    json.Member("is_idle", group.is_idle);
    json.Member("count", static_cast<int64_t>(group.count));
    json.Member("wait_ns", group.duration_ns);
    json.Member("longest_ns", group.longest_ns);
    if (group.object_count > 0) {
      json.Member("object", analysis::ObjectsText(trace, group));
    }
    WriteStack("stack", trace, group.stack, json);
    if (group.waker_stack != model::kEmptyStack) {
      json.Member("woken_in", places.Of(group.waker_stack));
    }
    json.EndObject();
  }
  json.EndArray();
  json.Member("place_count", static_cast<int64_t>(groups.size()));
}

void WriteLocks(const Trace& trace, JsonWriter& json) {
  const std::vector<analysis::LockWaits> locks = analysis::WaitsByLock(trace);
  analysis::WaitPlaces places(trace);
  json.Key("locks");
  json.BeginArray();
  for (size_t i = 0; i < std::min(locks.size(), kMost); ++i) {
    const analysis::LockWaits& lock = locks[i];
    json.BeginObject();
    if (lock.is_shared) {
      json.Member("is_shared", true);
    } else {
      json.Member("pid", lock.pid);
    }
    json.Member("object", analysis::LockName(trace, lock.object, lock.name));
    if (lock.origin != analysis::LockOrigin::kUnknown) {
      json.Member("origin", analysis::OriginText(places, lock));
      WriteStack("origin_stack", trace, lock.origin_stack, json);
    }
    json.Member("count", static_cast<int64_t>(lock.count));
    json.Member("wait_ns", lock.duration_ns);
    json.Member("longest_ns", lock.longest_ns);
    json.Key("holders");
    json.BeginArray();
    const std::vector<analysis::HolderPlace> holders =
        analysis::HoldersByPlace(trace, places, lock);
    for (size_t h = 0; h < std::min(holders.size(), kMostHolders); ++h) {
      const analysis::HolderPlace& holder = holders[h];
      json.BeginObject();
      json.Member("where", holder.name);
      json.Member("count", static_cast<int64_t>(holder.count));
      json.Member("wait_ns", holder.duration_ns);
      WriteStack("stack", trace, holder.stack, json);
      json.EndObject();
    }
    json.EndArray();
    json.EndObject();
  }
  json.EndArray();
  json.Member("lock_count", static_cast<int64_t>(locks.size()));
}

void WriteRanges(const Trace& trace, JsonWriter& json) {
  const std::vector<analysis::RangeSplit> ranges = analysis::SplitRanges(trace);
  json.Key("ranges");
  json.BeginArray();
  for (size_t i = 0; i < std::min(ranges.size(), kMaxAverages); ++i) {
    const analysis::RangeSplit& range = ranges[i];
    json.BeginObject();
    json.Member("name", range.name);
    json.Member("count", static_cast<int64_t>(range.count));
    json.Member("duration_ns", range.duration_ns);
    json.Member("cpu_ns", range.on_cpu_ns);
    json.Member("runnable_ns", range.runnable_ns);
    WriteKinds(range.blocked_ns, json);
    json.EndObject();
  }
  json.EndArray();
  json.Member("range_count", static_cast<int64_t>(ranges.size()));
}

}  // namespace

void WriteWaits(const Trace& trace, JsonWriter& json) {
  const std::vector<analysis::WaitGroup> groups = analysis::WaitsByPlace(trace);
  if (groups.empty()) return;
  const analysis::WaitSummary summary = analysis::SummarizeWaits(trace);
  json.Key("waits");
  json.BeginObject();
  json.Member("idle_ns", summary.idle_ns);
  json.Member("min_wait_ns", trace.thread_states()->min_wait_ns);
  WriteKinds(summary.blocked_ns, json);
  WritePlaces(trace, groups, json);
  WriteLocks(trace, json);
  WriteRanges(trace, json);
  json.EndObject();
}

}  // namespace kymo
