// inherited.h - what a forked child's arena takes over from its parent's.
//
//   const Arena made = Arena::CreateShared(options, &fd);
//   Inherit(own.arena, made);   // until now that of the parent
//   own.arena = made;
//
// The child has copies of what its parent kept about the first arena: the ids
// of names (foreign_names.h), and ranges that are open, which know the tickets
// of their chunks. So the parent's names have the same ids in the new arena,
// and its tickets are given out no more.
//
// Threads: the parent may go on writing into its arena. Nobody else may use the
//   new one yet.
// Errors:  none. If the two arenas are not laid out alike, names are not taken
//   over.
// Standard library: nothing that needs linking, for the preloaded runtime.
#ifndef KYMO_PROFILER_RECORD_ARENA_INHERITED_H_
#define KYMO_PROFILER_RECORD_ARENA_INHERITED_H_

#include "profiler/record/arena/arena.h"

namespace kymo::record {

// REQUIRES: both are valid, and nothing has been recorded in `made`.
void Inherit(const Arena& parents, const Arena& made) noexcept;

}  // namespace kymo::record

#endif  // KYMO_PROFILER_RECORD_ARENA_INHERITED_H_
