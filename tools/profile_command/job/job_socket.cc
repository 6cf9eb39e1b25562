#include "tools/profile_command/job/job_socket.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace kymo::tools {
namespace {

// All ranks of a large job may connect at the same time.
constexpr int kWaiting = 4096;

// False: not before the deadline.
bool WaitFor(int socket, short events, Deadline deadline) {
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        deadline - std::chrono::steady_clock::now());
    pollfd wanted = {.fd = socket, .events = events, .revents = 0};
    const int ready =
        poll(&wanted, 1,
             static_cast<int>(std::clamp<int64_t>(left.count(), 0, 60'000)));
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) return false;
    if (ready == 0 && left.count() <= 0) return false;
  }
}

// Small messages go at once. A machine that is gone, and so cannot say that the
// connection is, is noticed after a minute: else the kernel tries for longer.
void SetLimits(int socket) {
  const int on = 1;
  setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  const unsigned int limit_ms = 60'000;
  setsockopt(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, &limit_ms,
             sizeof(limit_ms));
}

OwnedDescriptor NewSocket(int family) {
  return OwnedDescriptor(
      socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

// 0: the port is free, and the socket has it; else the error.
int Bind(int socket, int family, bool is_local, uint16_t port) {
  const int on = 1;
  setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  if (family == AF_INET6) {
    const int off = 0;
    setsockopt(socket, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
    sockaddr_in6 address = {};
    address.sin6_family = AF_INET6;
    address.sin6_port = htons(port);
    address.sin6_addr = in6addr_any;
    return bind(socket, reinterpret_cast<sockaddr*>(&address),
                sizeof(address)) == 0
               ? 0
               : errno;
  }
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(is_local ? INADDR_LOOPBACK : INADDR_ANY);
  return bind(socket, reinterpret_cast<sockaddr*>(&address), sizeof(address)) ==
                 0
             ? 0
             : errno;
}

uint16_t PortOf(int socket) {
  sockaddr_storage address = {};
  socklen_t size = sizeof(address);
  getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size);
  return ntohs(address.ss_family == AF_INET6
                   ? reinterpret_cast<sockaddr_in6*>(&address)->sin6_port
                   : reinterpret_cast<sockaddr_in*>(&address)->sin_port);
}

}  // namespace

absl::StatusOr<OwnedDescriptor> ListenOn(const std::vector<uint16_t>& ports,
                                         bool is_local, uint16_t& port) {
  int error = 0;
  for (const uint16_t wanted :
       ports.empty() ? std::vector<uint16_t>{0} : ports) {
    // A machine may have no IPv6.
    for (const int family : {AF_INET6, AF_INET}) {
      if (is_local && family == AF_INET6) continue;
      OwnedDescriptor listener = NewSocket(family);
      if (!listener.is_open()) continue;
      error = Bind(listener.get(), family, is_local, wanted);
      if (error == 0 && listen(listener.get(), kWaiting) != 0) error = errno;
      if (error != 0) continue;
      port = PortOf(listener.get());
      return listener;
    }
  }
  return absl::ErrnoToStatus(error, "could not listen for the other ranks");
}

absl::StatusOr<OwnedDescriptor> ConnectTo(const Endpoint& endpoint,
                                          Deadline deadline) {
  addrinfo hints = {};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int looked_up =
      getaddrinfo(endpoint.host.c_str(), absl::StrCat(endpoint.port).c_str(),
                  &hints, &found);
  if (looked_up != 0) {
    return absl::UnavailableError(
        absl::StrCat("no address of '", endpoint.host,
                     "' is known: ", gai_strerror(looked_up)));
  }
  absl::Status status = absl::UnavailableError("no address");
  for (const addrinfo* at = found; at != nullptr; at = at->ai_next) {
    OwnedDescriptor socket = NewSocket(at->ai_family);
    if (!socket.is_open()) continue;
    int error = 0;
    if (connect(socket.get(), at->ai_addr, at->ai_addrlen) != 0) {
      error = errno;
      if (error == EINPROGRESS) {
        socklen_t size = sizeof(error);
        error = ETIMEDOUT;
        if (WaitFor(socket.get(), POLLOUT, deadline)) {
          getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &size);
        }
      }
    }
    if (error == 0) {
      freeaddrinfo(found);
      SetLimits(socket.get());
      return socket;
    }
    status = absl::ErrnoToStatus(
        error, absl::StrCat(endpoint.host, ":", endpoint.port));
  }
  freeaddrinfo(found);
  return status;
}

OwnedDescriptor AcceptFrom(int listener) {
  OwnedDescriptor socket(
      accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (socket.is_open()) SetLimits(socket.get());
  return socket;
}

std::vector<std::string> OwnAddresses(bool is_local) {
  std::vector<std::string> addresses;
  ifaddrs* all = nullptr;
  if (!is_local && getifaddrs(&all) == 0) {
    for (const ifaddrs* at = all; at != nullptr; at = at->ifa_next) {
      if (at->ifa_addr == nullptr || (at->ifa_flags & IFF_LOOPBACK) != 0) {
        continue;
      }
      const int family = at->ifa_addr->sa_family;
      const bool is_six = family == AF_INET6;
      if (!is_six && family != AF_INET) continue;
      char host[NI_MAXHOST] = "";
      if (getnameinfo(at->ifa_addr,
                      is_six ? sizeof(sockaddr_in6) : sizeof(sockaddr_in), host,
                      sizeof(host), nullptr, 0, NI_NUMERICHOST) != 0) {
        continue;
      }
      // An address that holds for one network card alone names the card.
      if (strchr(host, '%') == nullptr) addresses.emplace_back(host);
    }
    freeifaddrs(all);
  }
  addresses.emplace_back("127.0.0.1");
  return addresses;
}

std::string PeerAddress(int socket) {
  sockaddr_storage address = {};
  socklen_t size = sizeof(address);
  char host[NI_MAXHOST] = "";
  if (getpeername(socket, reinterpret_cast<sockaddr*>(&address), &size) != 0 ||
      getnameinfo(reinterpret_cast<sockaddr*>(&address), size, host,
                  sizeof(host), nullptr, 0, NI_NUMERICHOST) != 0) {
    return "";
  }
  std::string text = host;
  // An address of IPv4 on a socket of IPv6.
  if (text.starts_with("::ffff:")) text.erase(0, 7);
  return text.starts_with("127.") || text == "::1" ? "" : text;
}

bool WaitReadable(int socket, Deadline deadline) {
  return WaitFor(socket, POLLIN, deadline);
}

bool SendAll(int socket, const void* data, size_t bytes, Deadline deadline) {
  const char* at = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t sent = send(socket, at, bytes, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent >= 0) {
      at += sent;
      bytes -= sent;
    } else if (errno == EAGAIN) {
      if (!WaitFor(socket, POLLOUT, deadline)) return false;
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

bool ReceiveAll(int socket, void* data, size_t bytes, Deadline deadline) {
  char* at = static_cast<char*>(data);
  while (bytes > 0) {
    const ssize_t got = recv(socket, at, bytes, MSG_DONTWAIT);
    if (got > 0) {
      at += got;
      bytes -= got;
    } else if (got == 0) {
      return false;
    } else if (errno == EAGAIN) {
      if (!WaitFor(socket, POLLIN, deadline)) return false;
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

}  // namespace kymo::tools
