#include "backends/off_cpu/objects/socket_name.h"

#include <arpa/inet.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "profiler/base/owned_descriptor.h"
#include "profiler/base/strings.h"
#include "profiler/symbolize/proc_maps.h"

namespace kymo::off_cpu {
namespace {

// Not in the oldest headers that we build with.
#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif
#ifndef SYS_pidfd_getfd
#define SYS_pidfd_getfd 438
#endif
constexpr uint32_t kListens = 1 << 16;  // __SO_ACCEPTCON of unix sockets

OwnedDescriptor Duplicate(int64_t pid, uint64_t number, uint64_t inode) {
  const OwnedDescriptor process(static_cast<int>(
      syscall(SYS_pidfd_open, static_cast<pid_t>(pid), /*flags=*/0)));
  if (!process.is_open()) return {};
  OwnedDescriptor copy(static_cast<int>(syscall(
      SYS_pidfd_getfd, process.get(), static_cast<int>(number), /*flags=*/0)));
  struct stat status;
  if (!copy.is_open() || fstat(copy.get(), &status) != 0 ||
      !S_ISSOCK(status.st_mode) || status.st_ino != inode) {
    return {};
  }
  return copy;
}

std::optional<int> Option(int socket, int option) {
  int value = 0;
  socklen_t size = sizeof(value);
  if (getsockopt(socket, SOL_SOCKET, option, &value, &size) != 0) {
    return std::nullopt;
  }
  return value;
}

// It has a peer, which getpeername() does not tell yet.
bool IsConnecting(int socket) {
  tcp_info info = {};
  socklen_t size = sizeof(info);
  return getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &size) == 0 &&
         info.tcpi_state == TCP_SYN_SENT;
}

std::string FamilyText(int family, int type) {
  switch (family) {
    case AF_INET:
    case AF_INET6:
      return type == SOCK_STREAM ? "tcp" : type == SOCK_DGRAM ? "udp" : "ip";
    case AF_UNIX:
      return "unix";
    case AF_NETLINK:
      return "netlink";
    case AF_PACKET:
      return "packet";
    case AF_VSOCK:
      return "vsock";
    default:
      return absl::StrCat("socket of family ", family);
  }
}

std::string WithPeer(std::string_view protocol, std::string_view own,
                     std::string_view peer, bool listens) {
  const std::string begin(protocol);
  if (!peer.empty()) return absl::StrCat(begin, " ", ToAbsl(peer));
  if (own.empty()) return begin;
  const char* const where = listens              ? " listening on "
                            : protocol == "unix" ? " "
                                                 : " on ";
  return absl::StrCat(begin, where, ToAbsl(own));
}

std::string ProcessText(pid_t pid) {
  std::string name =
      symbolize::ReadProcText(absl::StrCat("/proc/", pid, "/comm"));
  if (!name.empty() && name.back() == '\n') name.pop_back();
  return name.empty() ? absl::StrCat(pid) : absl::StrCat(name, " (", pid, ")");
}

// Who connected to the listening socket that this one is of.
std::string UnixText(int socket, std::string_view own, std::string_view peer,
                     bool listens) {
  if (listens || own.empty() || !peer.empty()) {
    return WithPeer("unix", own, peer, listens);
  }
  ucred credentials;
  socklen_t size = sizeof(credentials);
  if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &size) != 0 ||
      credentials.pid <= 0) {
    return WithPeer("unix", own, peer, listens);
  }
  return absl::StrCat("unix ", ToAbsl(own), " from ",
                      ProcessText(credentials.pid));
}

// sock_diag(7). 0: not connected, or the kernel does not tell.
uint64_t UnixPeer(uint64_t inode) {
  const OwnedDescriptor diag(
      socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG));
  if (!diag.is_open()) return 0;
  struct {
    nlmsghdr header;
    unix_diag_req request;
  } question = {};
  question.header.nlmsg_len = sizeof(question);
  question.header.nlmsg_type = SOCK_DIAG_BY_FAMILY;
  question.header.nlmsg_flags = NLM_F_REQUEST;
  question.request.sdiag_family = AF_UNIX;
  question.request.udiag_states = ~0U;
  question.request.udiag_ino = static_cast<uint32_t>(inode);
  question.request.udiag_show = UDIAG_SHOW_PEER;
  question.request.udiag_cookie[0] = question.request.udiag_cookie[1] = ~0U;
  if (send(diag.get(), &question, sizeof(question), 0) !=
      ssize_t{sizeof(question)}) {
    return 0;
  }
  alignas(nlmsghdr) std::array<char, 4096> answer;
  const ssize_t got =
      recv(diag.get(), answer.data(), answer.size(), MSG_DONTWAIT);
  constexpr size_t kHead = NLMSG_LENGTH(0) + NLMSG_ALIGN(sizeof(unix_diag_msg));
  if (got < static_cast<ssize_t>(kHead)) return 0;
  nlmsghdr header;
  std::memcpy(&header, answer.data(), sizeof(header));
  if (header.nlmsg_type != SOCK_DIAG_BY_FAMILY) return 0;
  // Attributes follow: size, type, value.
  const auto size = static_cast<size_t>(got);
  for (size_t at = kHead; at + 8 <= size;) {
    uint16_t bytes = 0, type = 0;
    std::memcpy(&bytes, &answer[at], sizeof(bytes));
    std::memcpy(&type, &answer[at + 2], sizeof(type));
    if (bytes < 4) break;
    uint32_t value = 0;
    std::memcpy(&value, &answer[at + 4], sizeof(value));
    if (type == UNIX_DIAG_PEER && bytes == 8) return value;
    at += (size_t{bytes} + 3) / 4 * 4;
  }
  return 0;
}

uint64_t NumberOf(std::string_view text, int base) {
  uint64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value, base);
  return value;
}

// "0100007F:1F90": words of the machine's order, and the port.
std::string TableAddress(std::string_view text, bool is_v6) {
  const size_t colon = text.find(':');
  if (colon != (is_v6 ? 32U : 8U)) return "";
  const auto port = static_cast<uint16_t>(NumberOf(text.substr(colon + 1), 16));
  if (port == 0) return "";
  const auto word = [&](size_t i) {
    return static_cast<uint32_t>(NumberOf(text.substr(8 * i, 8), 16));
  };
  sockaddr_storage address = {};
  if (is_v6) {
    auto* const v6 = reinterpret_cast<sockaddr_in6*>(&address);
    v6->sin6_family = AF_INET6;
    v6->sin6_port = htons(port);
    for (size_t i = 0; i < 4; ++i) {
      const uint32_t value = word(i);
      std::memcpy(v6->sin6_addr.s6_addr + 4 * i, &value, sizeof(value));
    }
    return AddressText(address, sizeof(*v6));
  }
  auto* const v4 = reinterpret_cast<sockaddr_in*>(&address);
  v4->sin_family = AF_INET;
  v4->sin_port = htons(port);
  v4->sin_addr.s_addr = word(0);
  return AddressText(address, sizeof(*v4));
}

SocketName NameFromTables(int64_t pid, uint64_t inode) {
  for (const char* const protocol : {"tcp", "tcp6", "udp", "udp6", "unix"}) {
    std::string text = FindInTable(
        protocol,
        symbolize::ReadProcText(absl::StrCat("/proc/", pid, "/net/", protocol)),
        inode);
    if (!text.empty()) return {.text = std::move(text)};
  }
  return {};
}

}  // namespace

std::string AddressText(const sockaddr_storage& address, socklen_t size) {
  std::array<char, INET6_ADDRSTRLEN> text = {};
  switch (address.ss_family) {
    case AF_INET: {
      const auto& v4 = reinterpret_cast<const sockaddr_in&>(address);
      inet_ntop(AF_INET, &v4.sin_addr, text.data(), text.size());
      return absl::StrCat(text.data(), ":", ntohs(v4.sin_port));
    }
    case AF_INET6: {
      const auto& v6 = reinterpret_cast<const sockaddr_in6&>(address);
      // A peer of IPv4 at a socket of IPv6.
      if (IN6_IS_ADDR_V4MAPPED(&v6.sin6_addr)) {
        inet_ntop(AF_INET, v6.sin6_addr.s6_addr + 12, text.data(), text.size());
        return absl::StrCat(text.data(), ":", ntohs(v6.sin6_port));
      }
      inet_ntop(AF_INET6, &v6.sin6_addr, text.data(), text.size());
      return absl::StrCat("[", text.data(), "]:", ntohs(v6.sin6_port));
    }
    case AF_UNIX: {
      const auto& local = reinterpret_cast<const sockaddr_un&>(address);
      constexpr size_t kHead = offsetof(sockaddr_un, sun_path);
      if (size <= kHead) return "";
      std::string path(local.sun_path, size - kHead);
      if (path[0] == '\0') {  // abstract: no file
        path[0] = '@';
        return path;
      }
      return path.substr(0, path.find('\0'));
    }
    default:
      return "";
  }
}

std::string FindInTable(std::string_view protocol, std::string_view table,
                        uint64_t inode) {
  const bool is_unix = protocol == "unix";
  const bool is_v6 = protocol.ends_with('6');
  const std::string_view name = protocol.substr(0, is_v6 ? 3 : 4);
  // The column of the inode, after which unix has the path.
  const size_t column = is_unix ? 6 : 9;
  for (const absl::string_view line : absl::StrSplit(ToAbsl(table), '\n')) {
    const std::vector<absl::string_view> words =
        absl::StrSplit(line, ' ', absl::SkipEmpty());
    if (words.size() <= column ||
        NumberOf({words[column].data(), words[column].size()}, 10) != inode) {
      continue;
    }
    const auto text = [&](size_t i) {
      return std::string_view(words[i].data(), words[i].size());
    };
    if (is_unix) {
      const bool listens = (NumberOf(text(3), 16) & kListens) != 0;
      return WithPeer(name, words.size() > 7 ? text(7) : "", "", listens);
    }
    constexpr uint64_t kListen = 10;  // TCP_LISTEN
    return WithPeer(name, TableAddress(text(1), is_v6),
                    TableAddress(text(2), is_v6),
                    NumberOf(text(3), 16) == kListen);
  }
  return "";
}

SocketName NameSocket(int64_t pid, uint64_t number, uint64_t inode) {
  const OwnedDescriptor copy = Duplicate(pid, number, inode);
  if (!copy.is_open()) return NameFromTables(pid, inode);
  const int family = Option(copy.get(), SO_DOMAIN).value_or(-1);
  const int type = Option(copy.get(), SO_TYPE).value_or(0) & 0xf;
  const bool listens = Option(copy.get(), SO_ACCEPTCONN).value_or(0) != 0;
  const auto address = [&](auto get) -> std::string {
    sockaddr_storage name = {};
    socklen_t size = sizeof(name);
    if (get(copy.get(), reinterpret_cast<sockaddr*>(&name), &size) != 0) {
      return "";
    }
    return AddressText(name, std::min<socklen_t>(size, sizeof(name)));
  };
  const std::string own = address(getsockname);
  const std::string peer = address(getpeername);
  if (family == AF_UNIX) {
    const uint64_t other = listens ? 0 : UnixPeer(inode);
    return {.text = UnixText(copy.get(), own, peer, listens),
            .is_connected = other != 0 || !peer.empty(),
            .peer_inode = other};
  }
  if (peer.empty() && type == SOCK_STREAM && IsConnecting(copy.get())) {
    SocketName name = NameFromTables(pid, inode);
    if (!name.text.empty()) return name;
  }
  const bool is_bound = !own.ends_with(":0");
  return {.text = WithPeer(FamilyText(family, type), is_bound ? own : "", peer,
                           listens),
          .is_connected = !peer.empty()};
}

}  // namespace kymo::off_cpu
