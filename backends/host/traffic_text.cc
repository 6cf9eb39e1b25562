#include "backends/host/traffic_text.h"

#include <optional>

#include "profiler/processes/text_fields.h"

namespace kymo::host {
namespace {

using processes::NextCount;
using processes::NextLine;
using processes::NextWord;

// The unit of diskstats, whatever the device's own sectors are.
constexpr uint64_t kSectorBytes = 512;

// The counts of `line` at two places, from 0. Nothing if a word up to the later
// place is no number.
std::optional<Traffic> CountsAt(std::string_view line, int in, int out) {
  Traffic traffic;
  for (int i = 0; i <= out; ++i) {
    const std::optional<uint64_t> count = NextCount(line);
    if (!count) return std::nullopt;
    if (i == in) traffic.in_bytes = *count;
    if (i == out) traffic.out_bytes = *count;
  }
  return traffic;
}

}  // namespace

std::vector<Traffic> ParseDisks(std::string_view diskstats) {
  std::vector<Traffic> disks;
  while (!diskstats.empty()) {
    std::string_view line = NextLine(diskstats);
    NextWord(line);  // major number
    NextWord(line);  // minor number
    const std::string_view name = NextWord(line);
    // reads, merged, SECTORS READ, ms, writes, merged, SECTORS WRITTEN
    std::optional<Traffic> disk = CountsAt(line, 2, 6);
    if (!disk) continue;
    disk->name = name;
    disk->in_bytes *= kSectorBytes;
    disk->out_bytes *= kSectorBytes;
    disks.push_back(*disk);
  }
  return disks;
}

std::vector<Traffic> ParseInterfaces(std::string_view net_dev) {
  std::vector<Traffic> interfaces;
  while (!net_dev.empty()) {
    std::string_view line = NextLine(net_dev);
    // "eth0:545608303" without a blank is legal, too. A name may hold colons
    // ("eth0:1"); the last one ends it.
    const size_t colon = line.rfind(':');
    if (colon == line.npos) continue;  // one of the two lines of headings
    std::string_view name = line.substr(0, colon);
    // BYTES RECEIVED, 7 more of receiving, BYTES SENT
    std::optional<Traffic> interface = CountsAt(line.substr(colon + 1), 0, 8);
    if (!interface) continue;
    interface->name = NextWord(name);
    interfaces.push_back(*interface);
  }
  return interfaces;
}

}  // namespace kymo::host
