// arena.h - the memory that records go to, in either of its two homes.
//
//   Arena a = Arena::CreateAnonymous(options);    this process's own memory
//   Arena b = Arena::CreateShared(options, &fd);  a memfd that a collector owns
//   Arena c = Arena::Attach(fd);                  the same, in the target
//
// An arena has the functions of its parts, each of which is a file:
//
//   chunk_pool.h      the chunks: who may write, who may read
//   stream_table.h    the threads that have recorded
//   process_table.h   the processes that have attached
//   start_table.h     the programs that processes were about to run
//   name_table.h      the texts of names
//
// layout.h draws how the parts follow each other in memory.
//
// Creation reserves address space for all of it. The kernel gives memory as it
// is touched, so a generous size costs nothing until it is used.
//
// When a process dies at any instruction, the parts' invariants still hold. At
// worst a chunk stays owned, which the reader takes at the end, and the bytes
// of a name leak.
//
// Threads:   everything may be called concurrently, from several processes.
//            Lock-free; no call allocates or throws. Reserving address space
//            and populating pages are system calls.
// Errors:    creation returns errno; everything else counts in the header.
// Ownership: an Arena is a view. Copies are of the same memory, until Unmap.
// Standard library: nothing that needs linking, for the preloaded runtime.
#ifndef KYMO_PROFILER_RECORD_ARENA_ARENA_H_
#define KYMO_PROFILER_RECORD_ARENA_ARENA_H_

#include <cstddef>
#include <cstdint>

#include "profiler/base/clock.h"
#include "profiler/record/arena/chunk_pool.h"
#include "profiler/record/arena/layout.h"
#include "profiler/record/arena/name_table.h"
#include "profiler/record/arena/process_table.h"
#include "profiler/record/arena/start_table.h"
#include "profiler/record/arena/stream_table.h"

namespace kymo::record {

struct ArenaOptions {
  // Address space for chunks.
  uint64_t capacity_bytes = uint64_t{1} << 30;
  // How much of it may be used; see ChunkPool::SetLimits.
  uint64_t chunk_bytes_total = uint64_t{1} << 30;
  FullPolicy policy = FullPolicy::kStop;
  ClockSource clock_source = ClockSource::kSystem;
};

class Arena : public StreamTable,
              public ProcessTable,
              public NameTable,
              public StartTable,
              public ChunkPool {
 public:
  // No memory; valid() is false.
  constexpr Arena() noexcept = default;

  // On failure the result is not valid and errno says why.
  static Arena CreateAnonymous(const ArenaOptions& options) noexcept;
  static Arena CreateShared(const ArenaOptions& options, int* fd) noexcept;
  // The same at the front of an empty file, which keeps the recording when its
  // collector dies. The file's space is reserved, so that no record can find
  // the disk full.
  static Arena CreateInFile(const ArenaOptions& options, int fd) noexcept;
  // Maps another process's arena; the descriptor may be closed afterwards.
  // EPROTO when it is not one, or of another layout version.
  static Arena Attach(int fd) noexcept;
  // The arena as it is in a file, for reading: nobody sees what is written into
  // it. EPROTO as Attach.
  static Arena MapCopy(int fd) noexcept;
  // Gives the memory back. Nobody may use it any more.
  void Unmap() noexcept;

  bool valid() const noexcept { return base_ != nullptr; }
  uint64_t bytes() const noexcept { return bytes_; }
  ArenaHeader& header() const noexcept {
    return *reinterpret_cast<ArenaHeader*>(base_);
  }
  ClockSource clock_source() const noexcept { return clock_source_; }

 private:
  // The parts of `plan` at `base`. What the parts know is a copy of the header,
  // which a broken process could overwrite.
  Arena(std::byte* base, const ArenaPlan& plan) noexcept;
  static Arena MapFront(int fd, int map_flags) noexcept;
  static Arena Format(std::byte* base, const ArenaPlan& plan,
                      const ArenaOptions& options) noexcept;
  static Arena Adopt(std::byte* base, uint64_t bytes) noexcept;

  std::byte* base_ = nullptr;
  uint64_t bytes_ = 0;
  ClockSource clock_source_ = ClockSource::kSystem;
};

}  // namespace kymo::record

#endif  // KYMO_PROFILER_RECORD_ARENA_ARENA_H_
