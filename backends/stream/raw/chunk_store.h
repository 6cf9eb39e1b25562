// chunk_store.h - drained chunks on disk, read back through a mapping.
//
//   ChunkStore store;
//   KYMO_RETURN_IF_ERROR(store.Open(folder, begin));
//   store.Add(view);                          // appends a chunk
//   store.Erase(store.front(), store.end());  // gives its disk space back
//   store.DropUpTo(store.end());
//   store.Map(views);                         // the chunks that are left
//
//   file  = { entry chunk }
//   entry = ChunkEntry      chunk = the used slots of one chunk, 32 bytes each
//
// The file has no name, so nothing is left behind. raw_keep.h can name it in
// the end. The store can also be the end of a raw file (raw_file.h), which
// stays.
//
// Errors:  a failed write loses that chunk; lost_bytes() counts it. It also
//   counts the chunks that it does not write because the disk is nearly full:
//   the last twentieth of the disk, or the last GiB, stays free. And it counts
//   the bytes that another process has cut off the file.
// Threads: one at a time, unless said otherwise.
#ifndef KYMO_BACKENDS_STREAM_RAW_CHUNK_STORE_H_
#define KYMO_BACKENDS_STREAM_RAW_CHUNK_STORE_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "profiler/base/mapped/shrink_guard.h"
#include "profiler/base/owned_descriptor.h"
#include "profiler/record/arena/chunk_reader.h"

namespace kymo::stream {

// Stands before each chunk in the file.
struct ChunkEntry {
  static constexpr uint32_t kMagic = 0x6b6e6863;  // "chnk"

  uint32_t magic = kMagic;
  uint32_t stream = 0;
  uint32_t first_index = 0;
  uint32_t slots = 0;
  uint64_t ticket = 0;
  uint64_t reserved = 0;
};
static_assert(sizeof(ChunkEntry) == sizeof(record::Slot));

class ChunkStore {
 public:
  static constexpr uint64_t kMaxReserveBytes = uint64_t{1} << 30;

  ChunkStore() = default;
  ~ChunkStore();
  ChunkStore(const ChunkStore&) = delete;
  ChunkStore& operator=(const ChunkStore&) = delete;

  // Makes the file in `directory`; the message names it. Chunks stand from
  // `begin` on, a multiple of the page size.
  absl::Status Open(const std::string& directory, uint64_t begin);
  // Appends to a file from `begin` on, a multiple of the page size.
  void OpenAt(int fd, uint64_t begin);

  // From now on a chunk is lost if more bytes would then be left.
  void SetMostBytes(uint64_t bytes) { most_bytes_ = bytes; }
  // Bytes that the disk of the file has before it is nearly full.
  uint64_t RoomBytes() const;

  void Add(const record::ChunkView& chunk);

  // Counts the chunks behind end() that another process has added through the
  // same descriptor. Chunks that are added from now on follow them.
  void FindEnd();

  // Positions in the file: of the first chunk that is left, and after the last.
  uint64_t front() const noexcept { return begin_ + dropped_; }
  uint64_t end() const noexcept { return begin_ + bytes_; }
  // Forgets the chunks in front of the position `end`, where a chunk ends.
  void DropUpTo(uint64_t end) { dropped_ = end - begin_; }
  // Gives the disk space between two positions back, where the file system can
  // do that; it may wait for the disk. Nobody may read these chunks any more.
  // Any thread, at any time.
  void Erase(uint64_t from, uint64_t to) const;

  // All chunks that are left, readable as long as the store lives. Ends adding.
  absl::Status Map(std::vector<record::ChunkView>& chunks);

  // Gives a mapped chunk's memory back, and that of what stands around it. They
  // stay readable: the next access reads the file again. Does nothing for a
  // chunk that is not of this store. Any thread, after Map.
  void Release(const record::ChunkView& chunk) const;

  int fd() const noexcept { return file_.get(); }
  // Of the chunks that are left.
  uint64_t bytes() const noexcept { return bytes_ - dropped_; }
  uint64_t lost_bytes() const noexcept { return lost_bytes_; }

 private:
  bool HasRoom();
  std::span<const std::byte> mapped() const {
    return {static_cast<const std::byte*>(mapped_), mapped_bytes_};
  }

  OwnedDescriptor file_;
  uint64_t begin_ = 0;  // of the first entry in the file
  uint64_t most_bytes_ = ~uint64_t{0};
  uint64_t next_check_at_ = 0;  // bytes, when free space is asked for again
  bool has_room_ = true;
  uint64_t bytes_ = 0;    // of all chunks that were added
  uint64_t dropped_ = 0;  // bytes of those that were dropped again
  uint64_t lost_bytes_ = 0;
  void* mapped_ = nullptr;
  ShrinkGuard guard_;
  uint64_t mapped_bytes_ = 0;
};

// Whether the entry is valid and `bytes` behind it hold its chunk.
bool IsChunkEntry(const ChunkEntry& entry, uint64_t bytes);

// Adds the chunks of such a file's bytes, which must begin at a multiple of 8
// and outlive the views. Returns how many bytes the chunks took. It stops at
// the first invalid entry, or at a chunk that is cut off.
size_t ReadChunkEntries(std::span<const std::byte> bytes,
                        std::vector<record::ChunkView>& chunks);

// The same of a mapped file. Gives its memory back on the way.
size_t ReadMappedChunks(std::span<const std::byte> mapped,
                        std::vector<record::ChunkView>& chunks);

// What ChunkStore::Release does, for a chunk of a mapped file.
void ReleaseMappedChunk(std::span<const std::byte> mapped,
                        const record::ChunkView& chunk);

}  // namespace kymo::stream

#endif  // KYMO_BACKENDS_STREAM_RAW_CHUNK_STORE_H_
