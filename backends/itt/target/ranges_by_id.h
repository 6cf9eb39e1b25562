// ranges_by_id.h - ITT's ranges that are ended by id, on any thread: overlapped
// tasks, regions, frames. Also markers, which are instants.
//
// A range is found by its domain, kind and id. If a range is begun again while
// it is open, it ends there. The end of a range that is not open is counted.
// Each domain has one frame without an id.
//
// The functions have the names of ITT's own. Threads: any.
#ifndef KYMO_BACKENDS_ITT_TARGET_RANGES_BY_ID_H_
#define KYMO_BACKENDS_ITT_TARGET_RANGES_BY_ID_H_

#include <cstdint>

#include "backends/itt/target/itt_abi.h"

namespace kymo::itt {

void TaskBeginOverlapped(const Domain* domain, Id id, Id parent,
                         StringHandle* name) noexcept;
void TaskEndOverlapped(const Domain* domain, Id id) noexcept;
void RegionBegin(const Domain* domain, Id id, Id parent,
                 StringHandle* name) noexcept;
void RegionEnd(const Domain* domain, Id id) noexcept;
// `id` may be null.
void FrameBegin(const Domain* domain, const Id* id) noexcept;
void FrameEnd(const Domain* domain, const Id* id) noexcept;

void Marker(const Domain* domain, Id id, StringHandle* name,
            int scope) noexcept;

// The key under which a thing of a domain is filed; not 0.
uint64_t KeyOf(const Domain* domain, Id id, uint64_t kind) noexcept;

// The open task, region or frame with that id, as an id of
// profiler/record/captured.h; 0 if there is none.
uint64_t FindOpen(const Domain* domain, Id id) noexcept;

}  // namespace kymo::itt

#endif  // KYMO_BACKENDS_ITT_TARGET_RANGES_BY_ID_H_
