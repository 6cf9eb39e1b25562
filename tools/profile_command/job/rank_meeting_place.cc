#include "tools/profile_command/job/rank_meeting_place.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <charconv>
#include <fstream>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "profiler/base/owned_descriptor.h"
#include "profiler/base/status_macros.h"
#include "tools/profile_command/job/job_secret.h"

namespace kymo::tools {
namespace {

constexpr char kTokenVariable[] = "KYMO_RANKS_TOKEN";
constexpr char kAddressVariable[] = "KYMO_RANKS_ADDRESS";
constexpr size_t kShortestToken = 16;
// Ports below those that the kernel gives to connections.
constexpr uint16_t kFirstPort = 20'000;
constexpr uint64_t kPortCount = 12'000;
constexpr int kPortsTried = 4;

std::string TextOf(const GetVariable& get, const char* name) {
  const char* const text = get(name);
  return text == nullptr ? "" : text;
}

std::optional<uint16_t> ReadPort(std::string_view text) {
  uint16_t port = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc() || end != text.data() + text.size() || port == 0) {
    return std::nullopt;
  }
  return port;
}

// HOST, HOST:PORT, [HOST]:PORT, [HOST], or an address of IPv6 as it is.
absl::StatusOr<Endpoint> ReadAddress(const std::string& text) {
  std::string_view host = text;
  std::string_view port;
  if (host.starts_with('[')) {
    const size_t close = host.find(']');
    if (close != host.npos) {
      port = host.substr(close + 1);
      host = host.substr(1, close - 1);
      if (port.starts_with(':')) port.remove_prefix(1);
    }
  } else if (const size_t colon = host.find(':');
             colon != host.npos && colon == host.rfind(':')) {
    port = host.substr(colon + 1);
    host = host.substr(0, colon);
  }
  Endpoint endpoint = {.host = std::string(host)};
  if (!port.empty()) {
    const std::optional<uint16_t> number = ReadPort(port);
    if (!number) {
      return absl::InvalidArgumentError(
          absl::StrCat(kAddressVariable, " is '", text,
                       "', and its port is no number from 1 to 65535"));
    }
    endpoint.port = *number;
  }
  return endpoint;
}

std::string HostOfLauncher(const GetVariable& get) {
  if (std::string host = TextOf(get, "MASTER_ADDR"); !host.empty()) return host;
  for (const char* const name :
       {"SLURM_STEP_NODELIST", "SLURM_JOB_NODELIST", "SLURM_NODELIST"}) {
    if (std::string host = FirstOfHostList(TextOf(get, name)); !host.empty()) {
      return host;
    }
  }
  return "";
}

std::string PathOf(const std::string& meeting) {
  return absl::StrCat(meeting, "/address");
}

}  // namespace

std::string FirstOfHostList(std::string_view list) {
  std::string host;
  bool is_in_brackets = false;
  for (size_t i = 0; i < list.size(); ++i) {
    const char c = list[i];
    if (c == '[') {
      is_in_brackets = true;
    } else if (c == ']') {
      is_in_brackets = false;
    } else if (c == ',' && !is_in_brackets) {
      break;
    } else if (is_in_brackets && (c == ',' || c == '-')) {
      // The first of the list or of the range is there.
      i = list.find(']', i);
      if (i == list.npos) break;
      is_in_brackets = false;
    } else {
      host += c;
    }
  }
  return host;
}

absl::StatusOr<std::optional<NetworkPlace>> FindNetworkPlace(
    const GetVariable& get, const JobRank& rank) {
  NetworkPlace network;
  std::string& token = network.place.token;
  token = TextOf(get, kTokenVariable);
  if (token.empty()) return std::nullopt;
  if (token.size() < kShortestToken) {
    return absl::InvalidArgumentError(absl::StrCat(
        kTokenVariable, " has fewer than ", kShortestToken,
        " characters: set it to the same random text for all ranks, for "
        "example that of: openssl rand -hex 16"));
  }
  KYMO_ASSIGN_OR_RETURN(Endpoint address,
                        ReadAddress(TextOf(get, kAddressVariable)));
  if (address.host.empty()) address.host = HostOfLauncher(get);
  if (address.port != 0) {
    network.ports = {address.port};
  } else {
    const uint64_t hash = JobSecret(token).Sign(rank.job);
    for (int i = 0; i < kPortsTried; ++i) {
      network.ports.push_back(
          static_cast<uint16_t>(kFirstPort + (hash + i) % kPortCount));
    }
  }
  if (rank.rank == 0) return network;
  if (address.host.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        kTokenVariable,
        " is set, so the ranks meet over the network, and the launcher does "
        "not say where rank 0 is: set ",
        kAddressVariable, " to the name of its machine"));
  }
  for (const uint16_t port : network.ports) {
    network.place.endpoints.push_back({.host = address.host, .port = port});
  }
  return network;
}

// A line for the token, and one for each endpoint, and one that is the last.
absl::Status WriteMeetingPlace(const std::string& meeting,
                               const MeetingPlace& place) {
  std::string text = place.token + "\n";
  for (const Endpoint& endpoint : place.endpoints) {
    absl::StrAppend(&text, endpoint.host, " ", endpoint.port, "\n");
  }
  text += "end\n";
  const std::string path = PathOf(meeting);
  const std::string part = path + ".part";
  const OwnedDescriptor file(
      open(part.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW,
           0600));
  if (!file.is_open() || fchmod(file.get(), 0600) != 0 ||
      write(file.get(), text.data(), text.size()) !=
          static_cast<ssize_t>(text.size()) ||
      rename(part.c_str(), path.c_str()) != 0) {
    return absl::ErrnoToStatus(errno, absl::StrCat("could not write ", path));
  }
  return absl::OkStatus();
}

std::optional<MeetingPlace> ReadMeetingPlace(const std::string& meeting) {
  std::ifstream file(PathOf(meeting));
  MeetingPlace place;
  if (!(file >> place.token)) return std::nullopt;
  for (std::string host; file >> host;) {
    if (host == "end") return place;
    Endpoint endpoint = {.host = host};
    if (!(file >> endpoint.port)) break;
    place.endpoints.push_back(std::move(endpoint));
  }
  return std::nullopt;
}

}  // namespace kymo::tools
