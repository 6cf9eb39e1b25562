// messages.h - what programs and a dynolog daemon say to each other, as bytes.
//
//   const std::string datagram =
//       Encode({"ctxt", EncodeContext({.gpu = 0, .pid = 7, .job = 0})});
//   const std::optional<Message> message = Decode(datagram);
//
// A message is one datagram: the size of its body, its type, its body. Numbers
// are in the machine's order, as both ends are on one machine.
//
//   type   from a program                     the daemon's answer
//   ctxt   Context: there is this process     i32: how many there are of it
//   req    Request: is there a configuration? text (config.h); empty: there is
//                                             none
//   kymo   text (Kymo's programs alone): what became of a configuration that
//          was sent without a request
//
// Trust:   a datagram may have been made by anybody. Decoders return nothing
//   if a byte is missing or there is one too many.
// Threads: any.
#ifndef KYMO_PROFILER_ON_DEMAND_MESSAGES_H_
#define KYMO_PROFILER_ON_DEMAND_MESSAGES_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kymo::on_demand {

inline constexpr char kContextType[] = "ctxt";
inline constexpr char kRequestType[] = "req";
inline constexpr char kKymoType[] = "kymo";

inline constexpr size_t kHeaderBytes = 40;
inline constexpr size_t kMostBodyBytes = 64 * 1024;

struct Message {
  std::string type;
  std::string body;

  bool operator==(const Message&) const = default;
};

struct Context {
  int32_t gpu = 0;
  int32_t pid = 0;
  int64_t job = 0;

  bool operator==(const Context&) const = default;
};

// Of Request::type, a set of bits.
inline constexpr int32_t kActivities = 2;

struct Request {
  int32_t type = kActivities;
  int64_t job = 0;
  std::vector<int32_t> pids;  // the process, its parent and so on

  bool operator==(const Request&) const = default;
};

// REQUIRES: a type of less than 32 bytes, a body of at most kMostBodyBytes.
std::string Encode(const Message& message);
std::optional<Message> Decode(std::string_view datagram);

std::string EncodeContext(const Context& context);
std::optional<Context> DecodeContext(std::string_view body);

std::string EncodeRequest(const Request& request);
std::optional<Request> DecodeRequest(std::string_view body);

// The answer to a Context.
std::string EncodeCount(int32_t count);

}  // namespace kymo::on_demand

#endif  // KYMO_PROFILER_ON_DEMAND_MESSAGES_H_
