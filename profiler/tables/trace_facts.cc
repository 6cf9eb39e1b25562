#include <optional>

#include "profiler/model/thread_states.h"
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

std::optional<DurationNs> KymoCpuOf(const Source& source) {
  const model::ThreadStates* const states = source.trace().thread_states();
  return Unless(states == nullptr ? 0 : states->kymo_cpu_ns, 0);
}

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
    Define("kymo_cpu_ns",
           "The CPU time of Kymo itself in the recording, of all ranks "
           "together; NULL if it is not known",
           [](const Source& s, size_t) { return KymoCpuOf(s); })
        .In("ns"),
};

const model::CpuLimit& CpuLimitOf(const Source& source) {
  static constexpr model::CpuLimit kNone;
  const model::ThreadStates* const states = source.trace().thread_states();
  return states == nullptr ? kNone : states->cpu_limit;
}

constexpr Column kCpuLimits[] = {
    Define("cpus", "How many CPUs that is",
           [](const Source& s, size_t) { return CpuLimitOf(s).cpus(); }),
    Define("quota_ns", "How long its threads may run in each period",
           [](const Source& s, size_t) { return CpuLimitOf(s).quota_ns; })
        .In("ns"),
    Define("period_ns", "The length of a period",
           [](const Source& s, size_t) { return CpuLimitOf(s).period_ns; })
        .In("ns"),
    Define("periods", "Periods in which its threads wanted to run",
           [](const Source& s, size_t) { return CpuLimitOf(s).periods; }),
    Define("throttled_periods", "Those in which the kernel stopped threads",
           [](const Source& s, size_t) {
             return CpuLimitOf(s).throttled_periods;
           }),
    Define("throttled_ns",
           "For how long CPUs were closed to its threads, added up over the "
           "CPUs",
           [](const Source& s, size_t) { return CpuLimitOf(s).throttled_ns; })
        .In("ns"),
};

}  // namespace

Table CpuLimitsTable() {
  return {
      .name = "cpu_limits",
      .meaning =
          "The CPU limit of the program's control group (a "
          "container's); of several ranks, of the one that it stopped longest",
      .order = "one row; none if there was no limit",
      .example = "select cpus, throttled_periods, periods from cpu_limits",
      .columns = kCpuLimits,
      .row_count = [](const Source& s) {
        return CpuLimitOf(s).quota_ns > 0 ? size_t{1} : size_t{0};
      }};
}

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
