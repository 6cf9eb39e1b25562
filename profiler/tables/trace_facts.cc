#include <optional>

#include "profiler/tables/declarations.h"
#include "profiler/tables/define_column.h"
#include "profiler/tables/source.h"

namespace kymo::tables {
namespace {

constexpr Column kLedger[] = {
    Define("name", "The counter; it never changes",
           [](const Source& s, size_t row) {
             return s.texts().loss_name(s.losses()[row]);
           }),
    Define("count", "How often it happened",
           [](const Source& s, size_t row) {
             return s.trace().ledger().Get(s.losses()[row]);
           }),
    Define("is_loss", "Something is missing; else it is a note",
           [](const Source& s, size_t row) {
             return model::IsLoss(s.losses()[row]);
           }),
    Define("meaning", "What the counter counts",
           [](const Source& s, size_t row) {
             return s.texts().loss_text(s.losses()[row]);
           }),
};

constexpr Column kMetadata[] = {
    Define("key", "The key",
           [](const Source& s, size_t row) {
             return s.trace().metadata()[row].key;
           }),
    Define("value", "The value, in JSON",
           [](const Source& s, size_t row) {
             return s.trace().metadata()[row].json_value;
           }),
};

constexpr Column kRanks[] = {
    Define("rank", "Its rank; NULL if the program was not distributed",
           [](const Source& s, size_t row) { return s.ranks()[row].rank; }),
    Define(
        "world_size", "How many ranks there were",
        [](const Source& s, size_t row) { return s.ranks()[row].world_size; }),
    Define(
        "local_rank", "Its rank on its host",
        [](const Source& s, size_t row) { return s.ranks()[row].local_rank; }),
    Define("launcher", "What told it its rank: mpi, torchrun, slurm, nccl, ...",
           [](const Source& s, size_t row) {
             return s.LauncherOf(s.ranks()[row]);
           }),
    Define(
        "host", "The host's name",
        [](const Source& s, size_t row) { return s.HostOf(s.ranks()[row]); }),
    Define("start_ns", "When the recording began, since the epoch",
           [](const Source& s, size_t) { return s.trace().start_ns(); })
        .In("ns"),
    Define("end_ns", "When the recording ended, since the epoch",
           [](const Source& s, size_t) { return s.trace().end_ns(); })
        .In("ns"),
};

}  // namespace

Table LedgerTable() {
  return {.name = "ledger",
          .meaning = "Something that the trace does not hold, or a note",
          .order = "losses first",
          .example = "select name, count, meaning from ledger where is_loss",
          .columns = kLedger,
          .row_count = [](const Source& s) { return s.losses().size(); }};
}

Table MetadataTable() {
  return {
      .name = "metadata",
      .meaning = "A fact about the recording",
      .order = "key",
      .example = "select key, value from metadata",
      .columns = kMetadata,
      .row_count = [](const Source& s) { return s.trace().metadata().size(); }};
}

Table RanksTable() {
  return {.name = "ranks",
          .meaning =
              "A rank of the program; of one that was not distributed, "
              "the recording",
          .order = "rank",
          .example =
              "select rank, world_size, (end_ns - start_ns) / 1e9 "
              "as seconds from ranks",
          .columns = kRanks,
          .row_count = [](const Source& s) { return s.ranks().size(); }};
}

}  // namespace kymo::tables
