#include "profiler/on_demand/messages.h"

#include <string.h>

#include <algorithm>

namespace kymo::on_demand {
namespace {

constexpr size_t kTypeBytes = 32;
constexpr size_t kMostPids = 1024;

template <typename Number>
void Append(std::string& bytes, Number number) {
  bytes.append(reinterpret_cast<const char*>(&number), sizeof(number));
}

template <typename Number>
Number Take(std::string_view& bytes) {
  Number number;
  memcpy(&number, bytes.data(), sizeof(number));
  bytes.remove_prefix(sizeof(number));
  return number;
}

bool IsWord(std::string_view text) {
  return !text.empty() &&
         std::ranges::all_of(text, [](char c) { return c > ' ' && c <= '~'; });
}

}  // namespace

std::string Encode(const Message& message) {
  std::string bytes;
  Append(bytes, uint64_t{message.body.size()});
  std::string type = message.type;
  type.resize(kTypeBytes);
  return bytes + type + message.body;
}

std::optional<Message> Decode(std::string_view datagram) {
  if (datagram.size() < kHeaderBytes) return std::nullopt;
  const auto size = Take<uint64_t>(datagram);
  std::string_view type = datagram.substr(0, kTypeBytes);
  datagram.remove_prefix(kTypeBytes);
  if (size != datagram.size() || size > kMostBodyBytes) return std::nullopt;
  const size_t end = type.find('\0');
  if (end == type.npos || !IsWord(type.substr(0, end))) return std::nullopt;
  return Message{std::string(type.substr(0, end)), std::string(datagram)};
}

std::string EncodeContext(const Context& context) {
  std::string bytes;
  Append(bytes, context.gpu);
  Append(bytes, context.pid);
  Append(bytes, context.job);
  return bytes;
}

std::optional<Context> DecodeContext(std::string_view body) {
  if (body.size() != 16) return std::nullopt;
  Context context;
  context.gpu = Take<int32_t>(body);
  context.pid = Take<int32_t>(body);
  context.job = Take<int64_t>(body);
  return context;
}

std::string EncodeRequest(const Request& request) {
  std::string bytes;
  Append(bytes, request.type);
  Append(bytes, static_cast<int32_t>(request.pids.size()));
  Append(bytes, request.job);
  for (const int32_t pid : request.pids) Append(bytes, pid);
  return bytes;
}

std::optional<Request> DecodeRequest(std::string_view body) {
  if (body.size() < 16) return std::nullopt;
  Request request;
  request.type = Take<int32_t>(body);
  const auto count = Take<int32_t>(body);
  request.job = Take<int64_t>(body);
  if (count < 1 || static_cast<size_t>(count) > kMostPids ||
      body.size() != static_cast<size_t>(count) * sizeof(int32_t)) {
    return std::nullopt;
  }
  while (!body.empty()) request.pids.push_back(Take<int32_t>(body));
  return request;
}

std::string EncodeCount(int32_t count) {
  std::string bytes;
  Append(bytes, count);
  return bytes;
}

}  // namespace kymo::on_demand
