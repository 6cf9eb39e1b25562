// message_clocks.h - how far the clocks of ranks are apart, from what they told
// each other: for files whose clocks were not measured.
//
//   const std::vector<std::optional<FoundClock>> clocks =
//       ClocksFromMessages(files);
//
// No message is received before it is sent, and no rank leaves a barrier before
// all have entered it. So each message bounds the difference of two clocks from
// one side, and messages in both directions bound it from both. What follows
// for ranks that never met follows from those between them. The middle between
// the bounds is taken; with it, too, every message is received after it was
// sent. Ranks of one host are moved together, unless messages tell that they
// have different clocks.
//
// A clock that drifts against the others by more than the bounds contradicts
// itself. Then nothing is known.
//
// Cost: that of reading all calls of MPI, and of looking at each message once.
#ifndef KYMO_IMPORTERS_LOAD_MESSAGE_CLOCKS_H_
#define KYMO_IMPORTERS_LOAD_MESSAGE_CLOCKS_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "profiler/base/time.h"
#include "profiler/model/trace_shard.h"

namespace kymo {

struct FileOfRank {
  int64_t rank = 0;
  std::string host;  // empty: not known
  std::span<const model::TraceShard> shards;
  bool is_known = false;  // such files are on one clock
};

// What must be added to a file's times, and by how much that can be wrong.
struct FoundClock {
  DurationNs ahead_ns = 0;
  DurationNs bound_ns = 0;
};

// For each file. The clock is that of the known files or, without any, of the
// first one. Nothing: the file has too few messages, or they contradict.
std::vector<std::optional<FoundClock>> ClocksFromMessages(
    std::span<const FileOfRank> files);

}  // namespace kymo

#endif  // KYMO_IMPORTERS_LOAD_MESSAGE_CLOCKS_H_
