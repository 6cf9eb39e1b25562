#include "profiler/session/distributed_info.h"

#include <charconv>
#include <cstring>
#include <optional>
#include <system_error>

#include "absl/strings/str_cat.h"

namespace kymo {
namespace {

using Lookup = std::function<const char*(const char*)>;

// A longer list is no help, and WORLD_SIZE may be any number.
constexpr int64_t kMostRanksListed = 65536;

struct Launcher {
  const char* backend;
  const char* rank;
  const char* world_size;
  const char* local_rank;
  const char* needs;  // a variable that must be set; null = none
};
constexpr Launcher kLaunchers[] = {
    {"torchrun", "RANK", "WORLD_SIZE", "LOCAL_RANK", nullptr},
    {"mpi", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE",
     "OMPI_COMM_WORLD_LOCAL_RANK", nullptr},
    {"mpi", "MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE",
     "MV2_COMM_WORLD_LOCAL_RANK", nullptr},
    {"mpi", "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", nullptr},
    {"slurm", "SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID", "SLURM_STEP_ID"},
};

std::optional<int64_t> Number(const Lookup& lookup, const char* name,
                              std::vector<std::string>& warnings) {
  const char* const text = lookup(name);
  if (text == nullptr || *text == '\0') return std::nullopt;
  int64_t value = 0;
  const char* const end = text + std::strlen(text);
  const auto [stop, error] = std::from_chars(text, end, value);
  if (error == std::errc() && stop == end && value >= 0) return value;
  warnings.push_back(absl::StrCat("the environment variable ", name, " is '",
                                  text, "', which is no rank or size"));
  return std::nullopt;
}

// True when the launcher's variables make sense.
bool Read(const Lookup& lookup, const Launcher& launcher,
          DistributedInfo& info) {
  if (launcher.needs != nullptr && lookup(launcher.needs) == nullptr) {
    return false;
  }
  const std::optional<int64_t> rank =
      Number(lookup, launcher.rank, info.warnings);
  const std::optional<int64_t> size =
      Number(lookup, launcher.world_size, info.warnings);
  if (!rank || !size) return false;
  if (*rank >= *size) {
    info.warnings.push_back(absl::StrCat(launcher.rank, " is ", *rank, " and ",
                                         launcher.world_size, " is ", *size,
                                         ": no such rank"));
    return false;
  }
  info.backend = launcher.backend;
  info.rank = *rank;
  info.world_size = *size;
  info.local_rank =
      Number(lookup, launcher.local_rank, info.warnings).value_or(-1);
  return true;
}

// The member "ranks" of a group of all ranks; empty if it would be too long.
std::string RanksJson(int64_t world_size) {
  if (world_size > kMostRanksListed) return "";
  std::string json = ", \"ranks\": [";
  for (int64_t rank = 0; rank < world_size; ++rank) {
    absl::StrAppend(&json, rank == 0 ? "" : ", ", rank);
  }
  return json + "]";
}

}  // namespace

std::string DistributedInfo::ToJson() const {
  std::string json =
      absl::StrCat("{\"backend\": \"", backend, "\", \"rank\": ", rank,
                   ", \"world_size\": ", world_size);
  if (local_rank >= 0) absl::StrAppend(&json, ", \"local_rank\": ", local_rank);
  absl::StrAppend(
      &json, ", \"pg_count\": 1, \"pg_config\": [{\"pg_name\": \"0\"",
      ", \"pg_desc\": \"default_pg\", \"backend_config\": \"", backend,
      "\", \"pg_size\": ", world_size, RanksJson(world_size), "}]}");
  return json;
}

DistributedInfo FindDistributedInfo(const Lookup& lookup) {
  DistributedInfo info;
  for (const Launcher& launcher : kLaunchers) {
    if (Read(lookup, launcher, info)) break;
  }
  return info;
}

}  // namespace kymo
