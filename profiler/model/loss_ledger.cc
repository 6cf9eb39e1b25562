#include "profiler/model/loss_ledger.h"

namespace kymo::model {
namespace {

struct Entry {
  std::string_view name;
  std::string_view meaning;
  bool is_loss;
};

constexpr std::array<Entry, static_cast<size_t>(Loss::kCount)> kEntries = {{
    {"events_dropped_arena_full",
     "events that the arena had no room for: not recorded, or overwritten "
     "sooner than a flight recorder was to keep them",
     true},
    {"events_overwritten",
     "older events that made room for the newest, as was asked for", false},
    {"events_dropped_in_handlers",
     "events of signal handlers that met the recorder in its slow path", true},
    {"events_dropped_no_stream",
     "events of threads beyond the size of the stream table", true},
    {"names_dropped_table_full",
     "names not kept because the name table was full", true},
    {"arguments_truncated", "arguments or names cut at the size limit", true},
    {"records_corrupt", "records that could not be read", true},
    {"ends_without_begin", "ends of ranges whose beginning was not recorded",
     true},
    {"events_out_of_window", "events outside of the session's window", true},
    {"impossible_timestamps", "events that ended before they began; set to 0",
     true},
    {"ranges_overlapping",
     "ranges of one thread that are neither nested nor apart", true},
    {"drain_bytes_lost", "bytes of records that could not be written to disk",
     true},
    {"samples_lost", "samples dropped by the kernel before they were read",
     true},
    {"samples_not_delivered",
     "samples asked for that the timer did not deliver", true},
    {"stacks_truncated", "stacks deeper than what was copied", true},
    {"stacks_incomplete", "stacks whose unwinding stopped early", true},
    {"frames_unresolved", "distinct frames shown as module+offset", true},
    {"processes_not_recorded", "processes that could not be followed", true},
    {"heaps_not_watched",
     "processes whose allocations were not seen: they bring their own malloc",
     true},
    {"heap_samples_lost",
     "sampled allocations beyond the size of the table of live ones", true},
    {"memory_records_left_out",
     "latest memory records left out: all are more than fit into memory", true},
    {"events_not_imported", "events of a file of kinds that no trace keeps",
     true},
    {"files_cut_off", "files that end in the middle: what came next is missing",
     true},
    {"frees_not_seen", "blocks whose address came again without a free", true},
    {"device_records_dropped",
     "records of device activities for which CUPTI had no buffer", true},
    {"device_buffers_lost",
     "buffers of device activities that had not been handed over when their "
     "program was killed, or were another client's",
     true},
    {"device_times_missing",
     "device activities not shown: they have no times", true},
    {"device_before_launch",
     "device activities not shown: they seem to begin before their launch",
     true},
    {"ranges_open_at_end", "ranges still open when the recording ended", false},
    {"frees_of_unknown_blocks",
     "frees of blocks that were not allocated within the recording", false},
}};

}  // namespace

std::string_view LossName(Loss loss) noexcept {
  return kEntries[static_cast<size_t>(loss)].name;
}

std::string_view LossMeaning(Loss loss) noexcept {
  return kEntries[static_cast<size_t>(loss)].meaning;
}

bool IsLoss(Loss loss) noexcept {
  return kEntries[static_cast<size_t>(loss)].is_loss;
}

bool LossLedger::AnythingLost() const noexcept {
  for (size_t i = 0; i < counts_.size(); ++i) {
    if (counts_[i] != 0 && kEntries[i].is_loss) return true;
  }
  return false;
}

}  // namespace kymo::model
