#include "tools/profile_command/control_socket.h"

#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <string>
#include <thread>
#include <utility>

#include "gtest/gtest.h"
#include "profiler/base/owned_descriptor.h"

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
    prctl(PR_SET_NAME, "two\nlines");
    pause();
    _exit(0);
  }
  std::ifstream name("/proc/" + std::to_string(child) + "/comm");
  while (name.get() != 't') {
    usleep(1000);
    name.clear();
    name.seekg(0);
  }
  std::thread server([&] { Serve(*socket, std::string("path")); });
  EXPECT_TRUE(AskForDump(child).ok());
  server.join();
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
}

// Its name alone makes nobody the command of a process.
TEST(ControlSocketTest, AStrangerIsNotTheCommand) {
  const pid_t child = fork();
  if (child == 0) {
    pause();
    _exit(0);
  }
  const OwnedDescriptor stranger(::socket(AF_UNIX, SOCK_STREAM, 0));
  sockaddr_un name = {.sun_family = AF_UNIX, .sun_path = {}};
  const std::string text = "kymo-profile/" + std::to_string(child);
  text.copy(name.sun_path + 1, text.size());
  const auto size = offsetof(sockaddr_un, sun_path) + 1 + text.size();
  ASSERT_EQ(bind(stranger.get(), reinterpret_cast<const sockaddr*>(&name),
                 static_cast<socklen_t>(size)),
            0);
  ASSERT_EQ(listen(stranger.get(), 1), 0);
  EXPECT_EQ(AskForDump(child).status().code(), absl::StatusCode::kNotFound);
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
