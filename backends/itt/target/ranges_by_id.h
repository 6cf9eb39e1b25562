// ranges_by_id.h - ITT's ranges that end by their id, on whichever thread:
// overlapped tasks, regions, frames; and markers, which are instants.
//
// A range is found by its domain, kind and id. One that is begun twice ends
// where it is begun again; an end of one that is not open is counted. A frame
// without an id is the one such frame of its domain.
//
// The functions are ITT's own, of the same names. Threads: any.
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

// What a thing of a domain is filed under; not 0.
uint64_t KeyOf(const Domain* domain, Id id, uint64_t kind) noexcept;

// The open task, region or frame of that id, as record/captured.h has it; 0:
// there is none.
uint64_t FindOpen(const Domain* domain, Id id) noexcept;

}  // namespace kymo::itt

#endif  // KYMO_BACKENDS_ITT_TARGET_RANGES_BY_ID_H_
