#include "tools/profile_command/control_socket.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <thread>
#include <utility>

#include "gtest/gtest.h"

namespace kymo::tools {
namespace {

// The next request.
ControlSocket::Request Next(const ControlSocket& socket) {
  for (;;) {
    if (auto request = socket.Accept()) return *std::move(request);
    usleep(1000);
  }
}

void Serve(const ControlSocket& socket,
           const absl::StatusOr<std::string>& answer) {
  Next(socket).Answer(answer);
}

TEST(ControlSocketTest, AnswersWhoAsks) {
  const auto socket = ControlSocket::Listen();
  ASSERT_TRUE(socket.ok()) << socket.status();
  EXPECT_FALSE(socket->Accept().has_value());
  std::thread server([&] { Serve(*socket, std::string("out/dump-1.raw")); });
  const auto path = AskForDump(getpid());
  server.join();
  ASSERT_TRUE(path.ok()) << path.status();
  EXPECT_EQ(*path, "out/dump-1.raw");
}

TEST(ControlSocketTest, PassesErrorsOn) {
  const auto socket = ControlSocket::Listen();
  ASSERT_TRUE(socket.ok()) << socket.status();
  std::thread server(
      [&] { Serve(*socket, absl::ResourceExhaustedError("disk full")); });
  EXPECT_EQ(AskForDump(getpid()).status().message(), "disk full");
  server.join();
}

TEST(ControlSocketTest, LongAnswersAreWhole) {
  const auto socket = ControlSocket::Listen();
  ASSERT_TRUE(socket.ok()) << socket.status();
  std::string path;
  for (int i = 0; i < 1000; ++i) path += "/" + std::to_string(i);
  std::thread server([&] { Serve(*socket, path); });
  EXPECT_EQ(AskForDump(getpid()).value_or(""), path);
  server.join();
}

TEST(ControlSocketTest, FindsTheCommandAboveAProcess) {
  const auto socket = ControlSocket::Listen();
  ASSERT_TRUE(socket.ok()) << socket.status();
  const pid_t child = fork();
  if (child == 0) {
    pause();
    _exit(0);
  }
  std::thread server([&] { Serve(*socket, std::string("path")); });
  EXPECT_TRUE(AskForDump(child).ok());
  server.join();
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
}

TEST(ControlSocketTest, NobodyThereIsSaid) {
  EXPECT_EQ(AskForDump(getpid()).status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(AskForDump(0).status().code(), absl::StatusCode::kNotFound);
}

TEST(ControlSocketTest, OneWhoAsksAndLeavesHarmsNobody) {
  const auto socket = ControlSocket::Listen();
  ASSERT_TRUE(socket.ok()) << socket.status();
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    static_cast<void>(AskForDump(getppid()));
    _exit(0);
  }
  const ControlSocket::Request request = Next(*socket);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  request.Answer(std::string("too late"));
}

}  // namespace
}  // namespace kymo::tools
