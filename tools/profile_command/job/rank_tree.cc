#include "tools/profile_command/job/rank_tree.h"

#include <optional>
#include <utility>

#include "absl/status/statusor.h"

namespace kymo::tools {

int64_t ParentInTree(int64_t rank) { return rank & (rank - 1); }

std::vector<int64_t> ChildrenInTree(int64_t rank, int64_t size) {
  std::vector<int64_t> children;
  for (int64_t step = 1; rank + step < size; step *= 2) {
    if ((rank & step) != 0) break;
    children.push_back(rank + step);
  }
  return children;
}

bool SumsBox::Add(const std::string& bytes) {
  const std::optional<analysis::RankSums> sums =
      analysis::RankSums::Parse(bytes);
  if (!sums) return false;
  const std::lock_guard<std::mutex> held(mutex_);
  if (is_closed_) return false;
  sums_.Merge(*sums);
  ++count_;
  changed_.notify_all();
  return true;
}

analysis::RankSums SumsBox::Take(size_t count,
                                 std::chrono::milliseconds limit) {
  std::unique_lock<std::mutex> held(mutex_);
  changed_.wait_for(held, limit, [&] { return count_ >= count; });
  is_closed_ = true;
  return std::move(sums_);
}

RankTree::RankTree(const Options& options)
    : options_(options),
      children_(ChildrenInTree(options.rank, options.size).size()) {}

uint16_t RankTree::Listen(const std::string& token) {
  const std::lock_guard<std::mutex> held(mutex_);
  if (children_ == 0 || is_over_) return 0;
  if (server_ == nullptr) {
    absl::StatusOr<std::unique_ptr<RankServer>> server = RankServer::Start(
        {.size = options_.size, .token = token, .is_local = options_.is_local},
        {.sums = [this](const std::string& bytes) { return box_.Add(bytes); }});
    if (!server.ok()) return 0;
    server_ = *std::move(server);
  }
  return server_->port();
}

analysis::RankSums RankTree::Collect(analysis::RankSums own) {
  bool listens;
  {
    const std::lock_guard<std::mutex> held(mutex_);
    listens = server_ != nullptr;
  }
  own.Merge(box_.Take(listens ? children_ : 0, options_.patience));
  const std::lock_guard<std::mutex> held(mutex_);
  is_over_ = true;
  // When it has ended, each child whose sums were taken knows that.
  server_.reset();
  return own;
}

}  // namespace kymo::tools
