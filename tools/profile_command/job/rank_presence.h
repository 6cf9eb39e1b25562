// rank_presence.h - says every two seconds that this process lives.
//
//   SayPresence(path, 0);                // once
//   const RankPresence presence(path);   // and from here on
//
// It writes another number into the file each time. So whoever reads the file
// needs no clock that both machines share: the process lives as long as the
// number changes. The folder of the file may be gone for a while.
//
// Threads: it has one of its own, which takes no signals.
#ifndef KYMO_TOOLS_PROFILE_COMMAND_JOB_RANK_PRESENCE_H_
#define KYMO_TOOLS_PROFILE_COMMAND_JOB_RANK_PRESENCE_H_

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>

namespace kymo::tools {

void SayPresence(const std::string& path, int64_t number);

class RankPresence {
 public:
  explicit RankPresence(std::string path);
  ~RankPresence();
  RankPresence(const RankPresence&) = delete;
  RankPresence& operator=(const RankPresence&) = delete;

 private:
  void Run();

  const std::string path_;
  std::mutex mutex_;
  std::condition_variable stop_;
  bool is_stopped_ = false;
  std::thread thread_;
};

}  // namespace kymo::tools

#endif  // KYMO_TOOLS_PROFILE_COMMAND_JOB_RANK_PRESENCE_H_
