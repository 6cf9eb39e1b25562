#include "examples/profile_endpoint/http.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>

namespace http {
namespace {

constexpr size_t kMostRequestBytes = 16'384;

const char* Reason(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 400:
      return "Bad Request";
    case 404:
      return "Not Found";
    default:
      return "Internal Server Error";
  }
}

// Up to the empty line that ends a GET request.
std::string ReadRequest(int fd) {
  std::string text;
  char buffer[2048];
  while (text.size() < kMostRequestBytes &&
         text.find("\r\n\r\n") == std::string::npos) {
    const ssize_t size = recv(fd, buffer, sizeof(buffer), 0);
    if (size <= 0) break;
    text.append(buffer, static_cast<size_t>(size));
  }
  return text;
}

void SendAll(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t size = send(fd, text.data(), text.size(), MSG_NOSIGNAL);
    if (size <= 0) return;  // the client is gone
    text.remove_prefix(static_cast<size_t>(size));
  }
}

}  // namespace

bool Parse(const std::string& text, Request& request) {
  if (!text.starts_with("GET /") || text.find("\r\n\r\n") == text.npos) {
    return false;
  }
  const size_t end = text.find(' ', 4);
  if (end == text.npos) return false;
  std::string_view target = std::string_view(text).substr(4, end - 4);
  const size_t mark = target.find('?');
  request.path = target.substr(0, mark);
  if (mark == target.npos) return true;
  for (target.remove_prefix(mark + 1); !target.empty();) {
    const std::string_view pair = target.substr(0, target.find('&'));
    target.remove_prefix(std::min(pair.size() + 1, target.size()));
    const size_t equals = pair.find('=');
    request.query[std::string(pair.substr(0, equals))] =
        equals == pair.npos ? "" : pair.substr(equals + 1);
  }
  return true;
}

int Listen(int& port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int yes = 1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<uint16_t>(port));
  socklen_t size = sizeof(address);
  auto* const any = reinterpret_cast<sockaddr*>(&address);
  if (fd < 0 || bind(fd, any, size) != 0 || listen(fd, 16) != 0 ||
      getsockname(fd, any, &size) != 0) {
    return -1;
  }
  port = ntohs(address.sin_port);
  return fd;
}

void ServeOne(int listener,
              const std::function<Answer(const Request&)>& handler) {
  const int fd = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
  if (fd < 0) return;
  // A client that says nothing must not keep others waiting.
  const timeval limit = {.tv_sec = 5, .tv_usec = 0};
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
  Request request;
  const Answer answer = Parse(ReadRequest(fd), request)
                            ? handler(request)
                            : Answer{.status = 400, .body = "GET only\n"};
  SendAll(fd, "HTTP/1.1 " + std::to_string(answer.status) + " " +
                  Reason(answer.status) + "\r\nContent-Type: " + answer.type +
                  "\r\nContent-Length: " + std::to_string(answer.body.size()) +
                  "\r\nConnection: close\r\n\r\n");
  SendAll(fd, answer.body);
  close(fd);
}

}  // namespace http
