// static_objects.h - names locks and conditions in static storage, and in
// memory that processes share.
//
//   StaticObjects statics(&stacks, &log);
//   statics.Note(pid, cause);     // while it is known what is mapped where
//   statics.Name(shard, states);  // "g_mutex in server", "shared memory+0x40"
//
// Notes only in which module or shared memory an object is, because its address
// may still be corrected (lock_names.h). Symbols are read at the end.
//
// Threads: none. Borrows the store and the log.
#ifndef KYMO_BACKENDS_OFF_CPU_STATIC_OBJECTS_H_
#define KYMO_BACKENDS_OFF_CPU_STATIC_OBJECTS_H_

#include <cstdint>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "backends/off_cpu/objects/shared_memory.h"
#include "backends/off_cpu/wait_log.h"
#include "backends/sampling/stack_store.h"
#include "profiler/model/string_table.h"
#include "profiler/model/thread_states.h"
#include "profiler/model/trace_shard.h"
#include "profiler/symbolize/address_space.h"

namespace kymo::off_cpu {

class StaticObjects {
 public:
  StaticObjects(sampling::StackStore* stacks, WaitLog* log)
      : stacks_(stacks), log_(log) {}

  // Sets the cause's name, which stands for the module or the shared memory, if
  // its object is in one.
  void Note(uint32_t pid, WaitCause& cause);

  // Gives waits and sums of the log the names of their objects.
  void Name(model::TraceShard& shard, model::ThreadStates& states) const;

 private:
  // The names by which the log tells them apart; kEmptyName: none.
  model::NameId StaticPlace(uint32_t pid, uint64_t object);
  model::NameId SharedPlaceOf(uint32_t pid, uint64_t object);
  template <typename Place>
  model::NameId Keep(const std::string& name, const Place& place,
                     absl::flat_hash_map<std::string, Place>& places);

  static constexpr size_t kMostKnown = 100'000;

  sampling::StackStore* const stacks_;
  WaitLog* const log_;
  // What is static, by process and address, as long as no process maps other
  // code.
  absl::flat_hash_map<std::pair<uint32_t, uint64_t>, model::NameId> known_;
  uint64_t version_ = 0;
  SharedMemory memory_;
  // By name.
  absl::flat_hash_map<std::string, symbolize::Mapping> modules_;
  absl::flat_hash_map<std::string, SharedPlace> shared_;
};

}  // namespace kymo::off_cpu

#endif  // KYMO_BACKENDS_OFF_CPU_STATIC_OBJECTS_H_
