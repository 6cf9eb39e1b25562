#include "tools/profile_command/job/rank_presence.h"

#include <signal.h>

#include <chrono>
#include <fstream>
#include <utility>

namespace kymo::tools {

void SayPresence(const std::string& path, int64_t number) {
  std::ofstream(path) << number << '\n';
}

RankPresence::RankPresence(std::string path) : path_(std::move(path)) {
  // A thread begins with the mask of the one that made it.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  thread_ = std::thread([this] { Run(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
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
