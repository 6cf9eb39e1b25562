#include "importers/chrome/import_document.h"

#include <malloc.h>

#include <string_view>
#include <utility>

#include "importers/chrome/events/event_store.h"
#include "importers/chrome/events/findings.h"
#include "importers/chrome/file_members.h"
#include "importers/chrome/shard_maker.h"
#include "profiler/base/status_macros.h"

namespace kymo::chrome_import {
namespace {

class Collector final : public DocumentConsumer {
 public:
  explicit Collector(uint64_t text_bytes) { store_.text_bytes = text_bytes; }

  void TakeEvents(ParsedEvents& events) override { store_.Add(events); }
  void TakeMember(std::string_view key, std::string_view value) override {
    if (members_.Add(key, value, store_.shard)) return;
    store_.findings.Add(Rule::kMemberRepeated, 0);
  }

  void TakeFindings(const DocumentReader& reader) {
    store_.findings.Merge(reader.findings());
    model::LossLedger& ledger = store_.shard.ledger;
    ledger.Add(model::Loss::kRecordsCorrupt, reader.lost_elements());
    if (reader.is_cut_off()) ledger.Add(model::Loss::kFilesCutOff, 1);
  }

  ImportedTrace Finish() { return MakeTrace(std::move(store_), members_); }

 private:
  EventStore store_;
  FileMembers members_;
};

}  // namespace

absl::StatusOr<ImportedTrace> ImportDocument(TextSource& source,
                                             const ReaderOptions& options) {
  Collector collector(source.expected_bytes());
  {
    // Its windows and parsers are given back before the trace needs memory.
    DocumentReader reader(source, options, collector);
    KYMO_RETURN_IF_ERROR(reader.Run());
    collector.TakeFindings(reader);
  }
  malloc_trim(0);
  return collector.Finish();
}

}  // namespace kymo::chrome_import
