// endpoint.h - the sockets of a dynolog daemon and of its programs.
//
//   KYMO_ASSIGN_OR_RETURN(Endpoint daemon, Endpoint::Bind(kDaemonName));
//   while (const auto datagram = daemon.Receive()) {
//     if (datagram->user == getuid()) daemon.Send(datagram->sender, answer);
//   }
//
// A socket takes datagrams under a name. Names are abstract, unless the
// environment names a folder (kSocketFolderVariable), where they are files.
//
// Trust:   anybody may send to a name, and may bind one that is free. The
//   kernel says which process and user a datagram is from.
// Threads: one call at a time, but Send from any.
// Fork:    a child has the same socket, and should Close() it.
// Closing: a program may close descriptors that it does not know. Then there
//   is no socket any more, and a file that it opens under the same number is
//   left alone.
#ifndef KYMO_PROFILER_ON_DEMAND_ENDPOINT_H_
#define KYMO_PROFILER_ON_DEMAND_ENDPOINT_H_

#include <sys/socket.h>
#include <sys/types.h>
#include <sys/un.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "profiler/record/host/kept_descriptor.h"

namespace kymo::on_demand {

inline constexpr char kDaemonName[] = "dynolog";
// Begins the names of Kymo's programs and of PyTorch's. Kymo's takes
// configurations that it has not asked for; of PyTorch's, an answer that is not
// expected would be taken for the next one.
inline constexpr char kKymoPrefix[] = "kymo-on-demand-";
inline constexpr char kKinetoPrefix[] = "dynoconfigclient";
inline constexpr char kSocketFolderVariable[] = "KINETO_IPC_SOCKET_DIR";

struct Address {
  sockaddr_un name = {};
  socklen_t size = 0;

  bool operator==(const Address& other) const;
};

struct Datagram {
  std::string bytes;
  Address sender;
  pid_t pid = 0;  // 0: not in this namespace of process ids
  uid_t user = static_cast<uid_t>(-1);
};

// The folder of the environment; empty: names are abstract.
std::string SocketFolder();

// kInvalidArgument if the name is too long.
absl::StatusOr<Address> AddressOf(std::string_view name,
                                  const std::string& folder = SocketFolder());

// The name that AddressOf made the address of.
std::string NameOf(const Address& address);

// The names with this prefix that are bound now.
std::vector<std::string> NamesWith(std::string_view prefix,
                                   const std::string& folder = SocketFolder());

class Endpoint {
 public:
  // kAlreadyExists if another socket has the name; kPermissionDenied if another
  // user's has, in use or left over; kFailedPrecondition if a file that is no
  // socket has it.
  static absl::StatusOr<Endpoint> Bind(
      std::string_view name, const std::string& folder = SocketFolder());
  Endpoint(Endpoint&& other) noexcept
      : socket_(std::exchange(other.socket_, {})),
        path_(std::exchange(other.path_, "")) {}
  Endpoint& operator=(Endpoint&&) = delete;
  ~Endpoint();

  // Negative: there is no socket any more.
  int fd() const { return socket_.get(); }
  // Does not wait. kUnavailable if nobody has the name, or its owner has no
  // room for more.
  absl::Status Send(const Address& to, std::string_view bytes) const;
  // Does not wait. Nothing: there is none.
  std::optional<Datagram> Receive() const;
  // Leaves the name to the parent of this process.
  void Close();

 private:
  explicit Endpoint(record::KeptDescriptor socket) : socket_(socket) {}

  record::KeptDescriptor socket_;
  std::string path_;  // of the file; empty: none
};

}  // namespace kymo::on_demand

#endif  // KYMO_PROFILER_ON_DEMAND_ENDPOINT_H_
