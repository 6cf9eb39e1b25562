#include "tools/profile_command/job/rank_presence.h"

#include <chrono>
#include <fstream>
#include <utility>

#include "profiler/base/signals_blocked.h"

namespace kymo::tools {

void SayPresence(const std::string& path, int64_t number) {
  std::ofstream(path) << number << '\n';
}

RankPresence::RankPresence(std::string path) : path_(std::move(path)) {
  const SignalsBlocked blocked;
  thread_ = std::thread([this] { Run(); });
}

RankPresence::~RankPresence() {
  {
    const std::lock_guard<std::mutex> held(mutex_);
    is_stopped_ = true;
  }
  stop_.notify_all();
  thread_.join();
}

void RankPresence::Run() {
  std::unique_lock<std::mutex> held(mutex_);
  for (int64_t number = 1; !is_stopped_; ++number) {
    SayPresence(path_, number);
    stop_.wait_for(held, std::chrono::seconds(2));
  }
}

}  // namespace kymo::tools
