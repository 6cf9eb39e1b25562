#include "backends/itt/target/ranges_by_id.h"

#include "backends/itt/target/functions.h"
#include "backends/itt/target/names.h"
#include "profiler/record/captured.h"
#include "profiler/record/handle_map.h"

namespace kymo::itt {
namespace {

enum IdKind : uint64_t { kTaskId = 0, kRegionId = 1, kFrameId = 2 };

constinit record::HandleMap open_ranges;

void Begin(const Domain* domain, Id id, IdKind kind,
           record::ForeignName name) noexcept {
  const uint64_t range = record::BeginCapturedAsync(In(domain, name));
  if (range == 0) return;
  uint64_t before = 0;
  const uint64_t key = KeyOf(domain, id, kind);
  if (open_ranges.Take(key, &before)) record::EndCapturedAsync(before);
  open_ranges.Put(key, range);
}

void End(const Domain* domain, Id id, IdKind kind) noexcept {
  uint64_t range = 0;
  if (open_ranges.Take(KeyOf(domain, id, kind), &range)) {
    record::EndCapturedAsync(range);
  } else if (IsCapturing()) {
    record::CountEndWithoutBegin();
  }
}

Id IdOrNull(const Id* id) noexcept { return id == nullptr ? Id{} : *id; }

}  // namespace

uint64_t KeyOf(const Domain* domain, Id id, uint64_t kind) noexcept {
  uint64_t hash = reinterpret_cast<uint64_t>(domain);
  for (const uint64_t part : {kind, id.d1, id.d2, id.d3}) {
    hash = (hash ^ part) * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 29;
  }
  return hash | 1;
}

uint64_t FindOpen(const Domain* domain, Id id) noexcept {
  uint64_t range = 0;
  for (const IdKind kind : {kTaskId, kRegionId, kFrameId}) {
    if (open_ranges.Find(KeyOf(domain, id, kind), &range)) break;
  }
  return range;
}

void TaskBeginOverlapped(const Domain* domain, Id id, Id parent,
                         StringHandle* name) noexcept {
  if (IsCapturing()) Begin(domain, id, kTaskId, NameOf(name));
  TellNext(kTaskBeginOverlapped, domain, id, parent, name);
}

void TaskEndOverlapped(const Domain* domain, Id id) noexcept {
  End(domain, id, kTaskId);
  TellNext(kTaskEndOverlapped, domain, id);
}

void RegionBegin(const Domain* domain, Id id, Id parent,
                 StringHandle* name) noexcept {
  if (IsCapturing()) Begin(domain, id, kRegionId, NameOf(name));
  TellNext(kRegionBegin, domain, id, parent, name);
}

void RegionEnd(const Domain* domain, Id id) noexcept {
  End(domain, id, kRegionId);
  TellNext(kRegionEnd, domain, id);
}

void FrameBegin(const Domain* domain, const Id* id) noexcept {
  if (IsCapturing()) {
    Begin(domain, IdOrNull(id), kFrameId, record::NameOf("frame"));
  }
  TellNext(kFrameBegin, domain, id);
}

void FrameEnd(const Domain* domain, const Id* id) noexcept {
  End(domain, IdOrNull(id), kFrameId);
  TellNext(kFrameEnd, domain, id);
}

void Marker(const Domain* domain, Id id, StringHandle* name,
            int scope) noexcept {
  if (IsCapturing()) record::RecordCapturedInstant(In(domain, NameOf(name)));
  TellNext(kMarker, domain, id, name, scope);
}

}  // namespace kymo::itt
