#include "profiler/analysis/ranks/device_collectives.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/analysis/device/device_work.h"

namespace kymo::analysis {
namespace {

using model::EventIndex;
using model::Trace;

// What PyTorch says of a kernel of NCCL.
struct KernelArgs {
  std::string group;
  std::string collective;
  int64_t sequence = -1;
};

std::string TextOfArg(const Trace& trace, const model::Arg& arg) {
  return arg.type == model::ArgType::kInt ? std::to_string(arg.int_value())
         : arg.has_text() ? std::string(trace.Name(arg.string_value()))
                          : "";
}

KernelArgs ArgsOfKernel(const Trace& trace, EventIndex event) {
  KernelArgs args;
  // Later versions name a group; earlier ones number it, or list its ranks.
  std::string by_keys[3];
  constexpr std::string_view kKeys[] = {
      "Process Group Name", "Process Group ID", "Process Group Ranks"};
  for (const model::Arg& arg : trace.args(event)) {
    const std::string_view key = trace.Name(arg.key);
    for (size_t i = 0; i < std::size(kKeys); ++i) {
      if (key == kKeys[i]) by_keys[i] = TextOfArg(trace, arg);
    }
    if (key == "Collective name") args.collective = TextOfArg(trace, arg);
    if (key == "Seq" && arg.type == model::ArgType::kInt) {
      args.sequence = arg.int_value();
    }
  }
  for (const std::string& text : by_keys) {
    if (args.group.empty()) args.group = text;
  }
  return args;
}

bool IsBetweenTwo(std::string_view collective) {
  return collective.find("send") != collective.npos ||
         collective.find("recv") != collective.npos;
}

class DeviceCollectives {
 public:
  DeviceCollectives(const Trace& trace, RankCalls& calls)
      : trace_(trace), calls_(calls) {}

  void Run() {
    std::map<int64_t, size_t> rank_of;
    for (size_t i = 0; i < calls_.ranks.size(); ++i) {
      rank_of[calls_.ranks[i].pid] = i;
    }
    std::map<size_t, int64_t> streams;  // of each rank, without groups
    for (const Device& device : FindDevices(trace_)) {
      const auto at = rank_of.find(device.pid);
      if (at == rank_of.end()) continue;
      for (const DeviceStream& stream : device.streams) {
        AddStream(stream, at->second, streams[at->second]);
      }
    }
    for (const MpiCall& call : calls_.calls) {
      next_comm_ = std::max(next_comm_, call.comm + 1);
    }
    for (auto& [group, by_rank] : groups_) AddGroup(by_rank);
  }

 private:
  using OfRanks = std::map<size_t, std::vector<MpiCall>>;

  void AddStream(const DeviceStream& stream, size_t rank, int64_t& number) {
    bool is_counted = false;
    for (const EventIndex event : stream.work) {
      if (WorkKindOf(trace_, event) != WorkKind::kCommunication) continue;
      KernelArgs args = ArgsOfKernel(trace_, event);
      if (IsBetweenTwo(args.collective)) continue;
      if (args.group.empty()) {
        number += !is_counted;
        is_counted = true;
        args.group = "stream " + std::to_string(number);
      }
      groups_[args.group][rank].push_back({.rank = rank,
                                           .event = event,
                                           .kind = MpiKind::kCollective,
                                           .on_device = true,
                                           .sequence = args.sequence});
    }
  }

  // Whether kernels without numbers belong together by their order. All kernels
  // of an operation run until the last one has come.
  bool AreInOrder(const OfRanks& by_rank) const {
    const size_t size = by_rank.begin()->second.size();
    for (const auto& [rank, own] : by_rank) {
      if (own.size() != size) return false;
    }
    for (size_t i = 0; i < size; ++i) {
      TimeNs last_start = std::numeric_limits<TimeNs>::min();
      TimeNs first_end = std::numeric_limits<TimeNs>::max();
      for (const auto& [rank, own] : by_rank) {
        last_start = std::max(last_start, trace_.start()[own[i].event]);
        first_end = std::min(first_end, trace_.end()[own[i].event]);
      }
      if (last_start > first_end) return false;
    }
    return true;
  }

  void AddGroup(const OfRanks& by_rank) {
    const bool are_numbered =
        std::ranges::all_of(by_rank, [](const auto& of_rank) {
          return of_rank.second.front().sequence >= 0;
        });
    if (!are_numbered && !AreInOrder(by_rank)) return;
    const int64_t comm = next_comm_++;
    for (const auto& [rank, own] : by_rank) {
      for (MpiCall call : own) {
        call.comm = comm;
        calls_.calls.push_back(call);
      }
    }
  }

  const Trace& trace_;
  RankCalls& calls_;
  std::map<std::string, OfRanks> groups_;
  int64_t next_comm_ = 0;
};

}  // namespace

void AddDeviceCollectives(const Trace& trace, RankCalls& calls) {
  DeviceCollectives(trace, calls).Run();
}

}  // namespace kymo::analysis
