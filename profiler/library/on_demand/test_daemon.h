// test_daemon.h - a daemon that a test plays.
//
//   TestDaemon daemon;                       // in a folder of its own
//   Message request = daemon.Await("req");
//   daemon.Say({"req", "ACTIVITIES_DURATION_MSECS=20\n"});
//   EXPECT_EQ(daemon.Await("kymo").body, "records");
#ifndef KYMO_PROFILER_LIBRARY_ON_DEMAND_TEST_DAEMON_H_
#define KYMO_PROFILER_LIBRARY_ON_DEMAND_TEST_DAEMON_H_

#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>

#include "gtest/gtest.h"
#include "profiler/on_demand/endpoint.h"
#include "profiler/on_demand/messages.h"

namespace kymo {

// "/tmp/kymo-demand-abcdef": the name of a socket must be short.
inline std::string MakeTestFolder() {
  char path[] = "/tmp/kymo-demand-XXXXXX";
  EXPECT_NE(mkdtemp(path), nullptr);
  return path;
}

inline std::string TextOf(const std::string& path) {
  std::ifstream file(path);
  EXPECT_TRUE(file.is_open()) << path;
  return {std::istreambuf_iterator<char>(file), {}};
}

class TestDaemon {
 public:
  TestDaemon()
      : folder_(MakeTestFolder()),
        endpoint_(*on_demand::Endpoint::Bind(on_demand::kDaemonName, folder_)) {
  }
  ~TestDaemon() { std::filesystem::remove_all(folder_); }
  TestDaemon(const TestDaemon&) = delete;
  TestDaemon& operator=(const TestDaemon&) = delete;

  const std::string& folder() const { return folder_; }
  const on_demand::Datagram& last() const { return last_; }

  // The next message of this type, from process `pid` if that is not 0.
  on_demand::Message Await(const std::string& type, pid_t pid = 0) {
    for (;;) {
      auto datagram = endpoint_.Receive();
      if (!datagram) {
        usleep(100);
        continue;
      }
      const auto message = on_demand::Decode(datagram->bytes);
      EXPECT_TRUE(message.has_value());
      if (!message || message->type != type) continue;
      if (pid != 0 && datagram->pid != pid) continue;
      last_ = *datagram;
      return *message;
    }
  }

  // To the sender of the last message.
  void SayBytes(const std::string& bytes) {
    EXPECT_TRUE(endpoint_.Send(last_.sender, bytes).ok());
  }
  void SayTo(const on_demand::Address& address,
             const on_demand::Message& message) {
    EXPECT_TRUE(endpoint_.Send(address, on_demand::Encode(message)).ok());
  }
  void Say(const on_demand::Message& message) {
    SayBytes(on_demand::Encode(message));
  }

 private:
  const std::string folder_;
  const on_demand::Endpoint endpoint_;
  on_demand::Datagram last_;
};

}  // namespace kymo

#endif  // KYMO_PROFILER_LIBRARY_ON_DEMAND_TEST_DAEMON_H_
