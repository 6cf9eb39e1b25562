#include "backends/off_cpu/look/polled.h"

#include <poll.h>
#include <sys/syscall.h>

#include <algorithm>

#include "profiler/processes/thread_reads.h"

namespace kymo::off_cpu {
namespace {

// Of more, only the number of descriptors is known: they take long to read.
constexpr uint64_t kMostRead = 1024;

std::optional<Polled> ReadFiles(uint64_t address, uint64_t count,
                                const ReadMemory& memory) {
  if (count > kMostRead) return Polled{.count = count, .first = {}};
  std::vector<pollfd> files(count);
  if (!memory(address, std::as_writable_bytes(std::span(files)))) {
    return std::nullopt;
  }
  Polled polled;
  for (const pollfd& file : files) {
    if (file.fd >= 0) polled.first.push_back(file.fd);
  }
  std::ranges::sort(polled.first);
  polled.first.erase(std::unique(polled.first.begin(), polled.first.end()),
                     polled.first.end());
  polled.count = polled.first.size();
  return polled;
}

// Up to three sets of bits, of which addresses may be 0.
std::optional<Polled> ReadSets(const BlockedCall& call,
                               const ReadMemory& memory) {
  const uint64_t bits = call.arguments[0];
  if (bits > kMostRead * 8) return std::nullopt;
  std::vector<uint64_t> any((bits + 63) / 64);
  for (size_t i = 1; i <= 3; ++i) {
    if (call.arguments[i] == 0) continue;
    std::vector<uint64_t> set(any.size());
    if (!memory(call.arguments[i], std::as_writable_bytes(std::span(set)))) {
      return std::nullopt;
    }
    for (size_t word = 0; word < any.size(); ++word) any[word] |= set[word];
  }
  Polled polled;
  for (uint64_t i = 0; i < bits; ++i) {
    if ((any[i / 64] >> i % 64 & 1) != 0) {
      polled.first.push_back(static_cast<int32_t>(i));
    }
  }
  polled.count = polled.first.size();
  return polled;
}

}  // namespace

ReadMemory MemoryOf(int64_t tid) {
  return [tid](uint64_t address, std::span<std::byte> bytes) {
    return processes::ReadThreadMemory(tid, address, bytes);
  };
}

std::optional<Polled> ReadPolled(const BlockedCall& call,
                                 const ReadMemory& memory) {
  std::optional<Polled> polled;
  switch (call.number) {
#ifdef SYS_poll
    case SYS_poll:
#endif
    case SYS_ppoll:
      polled = ReadFiles(call.arguments[0], call.arguments[1], memory);
      break;
#ifdef SYS_select
    case SYS_select:
#endif
    case SYS_pselect6:
      polled = ReadSets(call, memory);
      break;
    default:
      break;
  }
  if (polled && polled->first.size() > kMostPolled) {
    polled->first.resize(kMostPolled);
  }
  return polled;
}

}  // namespace kymo::off_cpu
