// plugin_records.h - records of a loaded backend, checked, as a shard.
//
//   model::TraceShard shard;
//   PluginRecords records({.backend = "requests"}, shard);
//   plugin->collect(session, records.table(), why, sizeof(why));
//   absl::Status status = records.Finish();
//
// The records come from code of somebody else. So every field is checked before
// it gets into the shard. What is refused is counted as records_corrupt, and a
// remark says the first reason. kymo/backend_plugin.h says what is refused.
//
// Each backend has correlation numbers of its own. In the trace they are
// counted from 2^31 + 1, through all loaded backends of a recording: so the
// numbers of two of them never meet, nor those of a vendor's library, which are
// smaller.
//
// Threads: none.
// Errors: the functions of the table throw nothing. If memory runs out,
//   Finish() is kResourceExhausted; after any other exception it is kInternal.
#ifndef KYMO_PROFILER_PLUGIN_LIBRARY_PLUGIN_RECORDS_H_
#define KYMO_PROFILER_PLUGIN_LIBRARY_PLUGIN_RECORDS_H_

#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "kymo/backend_plugin.h"
#include "profiler/model/trace_shard.h"

namespace kymo {

// A copy of a struct of a library, which may be of another minor version:
// fields that the library lacks are 0. REQUIRES: `from` begins with its size.
template <typename T>
T CopySized(const T* from) {
  T copy = {};
  const size_t size = from->struct_size;
  std::memcpy(&copy, from, size < sizeof(T) ? size : sizeof(T));
  return copy;
}

// Longer texts of a library are cut or refused.
inline constexpr size_t kMostTextBytes = 65'535;

// A library's text as UTF-8, without control characters and at most
// `most_bytes` of it. Null is "".
std::string PluginText(const char* text, size_t most_bytes = kMostTextBytes);

// The correlation numbers that the loaded backends of a recording have taken,
// from 1 on (shared_parts.h).
struct PluginCorrelations {
  uint32_t taken = 0;
};

// A loss counter of a plugin.
struct PluginLoss {
  std::string name;
  std::string text;
};

class PluginRecords {
 public:
  struct Options {
    std::string backend;
    std::vector<PluginLoss> losses = {};
    // Null: no other backend is loaded.
    std::shared_ptr<PluginCorrelations> correlations = {};
  };

  // `shard` must be empty, and outlive the object.
  PluginRecords(Options options, model::TraceShard& shard);
  PluginRecords(const PluginRecords&) = delete;
  PluginRecords& operator=(const PluginRecords&) = delete;

  // What the plugin's `collect` gets. Valid as long as the object.
  const KymoRecords* table() const noexcept { return &table_; }

  // Moves the records into the shard, sorted. Once.
  absl::Status Finish();

  // After Finish: the plugin's remarks, its losses, and what was refused.
  std::vector<std::string> TakeRemarks() { return std::move(remarks_); }

 private:
  struct Row {
    TimeNs start_ns;
    TimeNs end_ns;
    model::NameId name;
    model::DetailIndex detail;
    model::ActivityType type;
    model::RecordScope scope;
    uint8_t flags;
  };
  struct Key {
    model::TrackKind kind;
    int32_t device;
    int64_t pid, id;
    auto operator<=>(const Key&) const = default;
  };

  // The table's functions. `function` returns null, or why it refuses.
  template <typename Function>
  static uint32_t Guarded(void* host, Function function) noexcept;
  template <typename Record>
  static uint32_t Take(void* host, const Record* from) noexcept;

  // These return null, or why the record is refused.
  const char* Add(const KymoRange& range);
  const char* Add(const KymoInstant& instant);
  const char* Add(const KymoCounter& counter);
  const char* Add(const KymoDeviceWork& work);
  const char* AddLoss(uint32_t counter, uint64_t count);
  const char* AddRemark(const char* text);

  const char* AddRow(const Key& key, const Row& row, uint32_t correlation,
                     uint32_t arg_count, const KymoArg* args);
  const char* CheckArgs(uint32_t arg_count, const KymoArg* args);
  model::DetailIndex AddDetail(uint32_t correlation, uint32_t arg_count,
                               const KymoArg* args);
  // kNoTrack if there are too many.
  model::TrackIndex TrackOf(const Key& key);
  model::NameId Name(const char* text);
  std::string_view Text(const char* text);
  void FinishTrack(model::TrackIndex track, std::vector<Row>& rows);
  void FinishLosses();
  absl::Status FinishCorrelations();

  const Options options_;
  model::TraceShard& shard_;
  KymoRecords table_ = {};
  std::map<Key, model::TrackIndex> tracks_;
  std::vector<std::vector<Row>> rows_;  // by track, in any order
  std::vector<uint64_t> lost_;          // by loss counter
  std::vector<std::string> remarks_;
  std::string scratch_;
  uint64_t refused_ = 0;
  const char* first_refusal_ = "";
  bool out_of_memory_ = false;
  bool failed_ = false;
};

}  // namespace kymo

#endif  // KYMO_PROFILER_PLUGIN_LIBRARY_PLUGIN_RECORDS_H_
