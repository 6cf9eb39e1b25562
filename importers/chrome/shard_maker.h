// shard_maker.h - everything that was read of a file, as one shard.
//
//   ImportedTrace trace = MakeTrace(std::move(store), members);
//
// Ranges are sorted by track, start and length. Times get the file's base;
// where some were before 1970, or a range ended at its very begin (which stands
// for "still open"), all are moved.
#ifndef KYMO_IMPORTERS_CHROME_SHARD_MAKER_H_
#define KYMO_IMPORTERS_CHROME_SHARD_MAKER_H_

#include "importers/chrome/event_store.h"
#include "importers/chrome/file_members.h"
#include "profiler/plugin/trace_importer.h"

namespace kymo::chrome_import {

ImportedTrace MakeTrace(EventStore store, const FileMembers& members);

}  // namespace kymo::chrome_import

#endif  // KYMO_IMPORTERS_CHROME_SHARD_MAKER_H_
