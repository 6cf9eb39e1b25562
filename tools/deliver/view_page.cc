#include "tools/deliver/view_page.h"

#include <fcntl.h>
#include <spawn.h>
#include <unistd.h>

#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>

namespace kymo::tools {
namespace {

bool HasScreen() {
  for (const char* name : {"DISPLAY", "WAYLAND_DISPLAY"}) {
    const char* const value = std::getenv(name);
    if (value != nullptr && *value != '\0') return true;
  }
  return false;
}

// Whether xdg-open was started. It prints nothing, and a signal to this command
// does not reach it.
bool OpenInBrowser(std::string address) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  if (posix_spawn_file_actions_init(&actions) != 0) return false;
  if (posix_spawnattr_init(&attributes) != 0) {
    posix_spawn_file_actions_destroy(&actions);
    return false;
  }
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_RDWR, 0);
  }
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
  std::string program = "xdg-open";
  char* const arguments[] = {program.data(), address.data(), nullptr};
  pid_t pid = 0;
  const int error = posix_spawnp(&pid, program.c_str(), &actions, &attributes,
                                 arguments, environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return error == 0;
}

}  // namespace

std::string FileAddress(const std::string& path) {
  std::error_code error;
  std::filesystem::path absolute = std::filesystem::absolute(path, error);
  if (error) absolute = path;
  std::string address = "file://";
  for (const char c : absolute.lexically_normal().string()) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80 &&
        (std::isalnum(byte) != 0 ||
         std::string_view("/-._~").find(c) != std::string_view::npos)) {
      address += c;
    } else {
      static constexpr char kDigits[] = "0123456789ABCDEF";
      address += '%';
      address += kDigits[byte >> 4];
      address += kDigits[byte & 15];
    }
  }
  return address;
}

std::string ViewPage(const std::string& path) {
  const std::string address = FileAddress(path);
  if (!HasScreen()) {
    return "no screen here; open " + address + " in a browser";
  }
  if (!OpenInBrowser(address)) {
    return "could not start xdg-open; open " + address + " in a browser";
  }
  return "the page is " + address;
}

}  // namespace kymo::tools
