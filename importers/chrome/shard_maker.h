// shard_maker.h - makes one shard of everything that was read from a file.
//
//   ImportedTrace trace = MakeTrace(std::move(store), members);
//
// Ranges are sorted by track, start and length. The file's base is added to
// times. If some times are before 1970, all times are moved. They are also
// moved if a range ends at 0, since an end of 0 means "still open".
#ifndef KYMO_IMPORTERS_CHROME_SHARD_MAKER_H_
#define KYMO_IMPORTERS_CHROME_SHARD_MAKER_H_

#include "importers/chrome/events/event_store.h"
#include "importers/chrome/file_members.h"
#include "profiler/plugin/trace_importer.h"

namespace kymo::chrome_import {

ImportedTrace MakeTrace(EventStore store, const FileMembers& members);

}  // namespace kymo::chrome_import

#endif  // KYMO_IMPORTERS_CHROME_SHARD_MAKER_H_
