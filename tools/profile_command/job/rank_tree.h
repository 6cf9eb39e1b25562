// rank_tree.h - the averages of all ranks, added up in a binomial tree.
//
//   RankTree tree({.rank = 4, .size = 8});
//   const uint16_t port = tree.Listen(token);     // once the token is known
//   const RankSums sums = tree.Collect(std::move(own));
//   link.SendSums(sums.Serialize());     // to its parent (rank_link.h)
//
// Rank 4 adds up the sums of 5 and 6, and 6 those of 7; rank 0 gets those of 1,
// 2 and 4. So no rank takes more than log2(size) messages, and all is done
// after log2(size) of them. Ranks with an odd number have no children.
//
// A rank does not wait for ever: after a while it goes on without a child. That
// child finds the door closed, and sends its sums to the next rank on the way
// to rank 0. So each rank's sums are counted once, or are missing.
//
// Threads: Listen may be called while Collect waits.
#ifndef KYMO_TOOLS_PROFILE_COMMAND_JOB_RANK_TREE_H_
#define KYMO_TOOLS_PROFILE_COMMAND_JOB_RANK_TREE_H_

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "profiler/analysis/ranks/rank_sums.h"
#include "tools/profile_command/job/rank_server.h"

namespace kymo::tools {

// The rank without the lowest bit of its number. REQUIRES: not rank 0.
int64_t ParentInTree(int64_t rank);
std::vector<int64_t> ChildrenInTree(int64_t rank, int64_t size);

// Sums that come from several threads.
class SumsBox {
 public:
  // False: they are no sums, or the box is closed.
  bool Add(const std::string& bytes);
  // Waits until so many have come. Then closes the box.
  analysis::RankSums Take(size_t count, std::chrono::milliseconds limit);

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  analysis::RankSums sums_;
  size_t count_ = 0;
  bool is_closed_ = false;
};

class RankTree {
 public:
  struct Options {
    int64_t rank = 0;
    int64_t size = 1;
    bool is_local = false;  // all ranks are on this machine
    // For children whose programs end later than this one's.
    std::chrono::milliseconds patience = std::chrono::seconds(10);
  };
  explicit RankTree(const Options& options);

  // Takes the sums of children from now on. 0: it has none, or cannot listen;
  // then they go to the next rank on their way.
  uint16_t Listen(const std::string& token);

  // `own`, and those of the children, which are told so before it returns: a
  // child that is not told sends its sums to somebody else.
  analysis::RankSums Collect(analysis::RankSums own);

 private:
  const Options options_;
  const size_t children_;
  SumsBox box_;
  std::mutex mutex_;
  bool is_over_ = false;                // guarded by mutex_
  std::unique_ptr<RankServer> server_;  // likewise
};

}  // namespace kymo::tools

#endif  // KYMO_TOOLS_PROFILE_COMMAND_JOB_RANK_TREE_H_
