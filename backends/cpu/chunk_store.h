// chunk_store.h - drained chunks on disk, read back through a mapping.
//
// The file has no name, so that nothing is left behind, whatever happens:
//
//   file = { chunk }        chunk = the used slots of one chunk, 32 bytes each
//
// Errors:  a failed write loses that chunk; lost_bytes() counts it. So does a
//   disk that is nearly full: its last twentieth, or GiB, is not ours.
// Threads: one at a time.
#ifndef KYMO_BACKENDS_CPU_CHUNK_STORE_H_
#define KYMO_BACKENDS_CPU_CHUNK_STORE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "profiler/record/chunk_reader.h"

namespace kymo::cpu {

class ChunkStore {
 public:
  static constexpr uint64_t kMaxReserveBytes = uint64_t{1} << 30;

  ChunkStore() = default;
  ~ChunkStore();
  ChunkStore(const ChunkStore&) = delete;
  ChunkStore& operator=(const ChunkStore&) = delete;

  // Makes the file in `directory`; the message names it.
  absl::Status Open(const std::string& directory);

  void Add(const record::ChunkView& chunk);

  // Everything added, readable as long as the store lives. Ends adding.
  absl::Status Map(std::vector<record::ChunkView>& chunks);

  uint64_t bytes() const noexcept { return bytes_; }
  uint64_t lost_bytes() const noexcept { return lost_bytes_; }

 private:
  struct Entry {
    uint32_t stream;
    uint32_t first_index;
    uint32_t slots;
    uint64_t ticket;
    uint64_t offset_bytes;
  };

  bool HasRoom();

  int fd_ = -1;
  uint64_t next_check_at_ = 0;  // bytes, when free space is asked for again
  bool has_room_ = true;
  uint64_t bytes_ = 0;
  uint64_t lost_bytes_ = 0;
  std::vector<Entry> entries_;
  void* mapped_ = nullptr;
  uint64_t mapped_bytes_ = 0;
};

}  // namespace kymo::cpu

#endif  // KYMO_BACKENDS_CPU_CHUNK_STORE_H_
