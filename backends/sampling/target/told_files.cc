#include "backends/sampling/target/told_files.h"

#include <string.h>

#include <atomic>

#include "profiler/base/code_mappings.h"
#include "profiler/unwind/file_number.h"

namespace kymo::sampling {
namespace {

// Whether the collector knows the file with this number.
constinit std::atomic<bool> g_is_told[unwind::kMostFiles + 1] = {};
// For reading the mappings; 1 while a handler has it.
constinit char g_maps_buffer[8192] = {};
constinit std::atomic<uint32_t> g_maps_buffer_taken{0};

// False if there is no room for it now.
bool TellMapping(const CodeMapping& mapping, uint32_t number,
                 const RingWriter& ring, int32_t tid) noexcept {
  const size_t path_bytes = strlen(mapping.path) + 1;
  const size_t bytes = sizeof(FileNote) + path_bytes;
  if (bytes > ring.stack_bytes()) return true;  // there never will be
  CellStates* state = nullptr;
  CellHeader* const cell = ring.Take(tid, &state);
  if (cell == nullptr) return false;
  const uint64_t mark = uint64_t{number} << kFileNumberShift;
  const FileNote note = {.start = mapping.start | mark,
                         .end = mapping.end | mark,
                         .file_offset = mapping.file_offset,
                         .inode = mapping.inode};
  char* const to = reinterpret_cast<char*>(cell + 1);
  memcpy(to, &note, sizeof(note));
  memcpy(to + sizeof(note), mapping.path, path_bytes);
  cell->kind = kCellFile;
  cell->stack_bytes = static_cast<uint32_t>(bytes);
  RingWriter::Publish(cell, state);
  return true;
}

}  // namespace

uint32_t NewFiles::NumberOf(uint64_t address) const noexcept {
  for (uint32_t i = 0; i < count; ++i) {
    if (address >= files[i].begin && address < files[i].end) {
      return files[i].number;
    }
  }
  return 0;
}

uint64_t MarkFile(void* new_files, const unwind::LoadedCode& code) noexcept {
  const uint32_t number = unwind::FileNumber(code.identity);
  auto& files = *static_cast<NewFiles*>(new_files);
  if (!g_is_told[number].load(std::memory_order_relaxed) && number != 0 &&
      files.count < sizeof(files.files) / sizeof(files.files[0])) [[unlikely]] {
    files.files[files.count++] = {number, code.begin, code.end};
  }
  return uint64_t{number} << kFileNumberShift;
}

void TellFiles(const NewFiles& files, const RingWriter& ring,
               int32_t tid) noexcept {
  if (g_maps_buffer_taken.exchange(1, std::memory_order_acquire) != 0) return;
  // A file may have several mappings with code. It is told when all of them
  // are; else a later sample tries again.
  bool is_all_told = true;
  ForEachCodeMapping(
      g_maps_buffer, sizeof(g_maps_buffer), [&](const CodeMapping& mapping) {
        const uint32_t number = files.NumberOf(mapping.start);
        if (number != 0 && !TellMapping(mapping, number, ring, tid)) {
          is_all_told = false;
        }
      });
  for (uint32_t i = 0; is_all_told && i < files.count; ++i) {
    g_is_told[files.files[i].number].store(true, std::memory_order_relaxed);
  }
  g_maps_buffer_taken.store(0, std::memory_order_release);
}

void ForgetToldFiles() noexcept {
  for (std::atomic<bool>& is_told : g_is_told) {
    is_told.store(false, std::memory_order_relaxed);
  }
  // The parent's handler may have had the buffer.
  g_maps_buffer_taken.store(0, std::memory_order_relaxed);
}

}  // namespace kymo::sampling
