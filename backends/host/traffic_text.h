// traffic_text.h - reads the texts of /proc/diskstats and /proc/net/dev.
//
//   for (const Traffic& disk : ParseDisks(text_of_diskstats))
//     Use(disk.name, disk.in_bytes, disk.out_bytes);
//
// The formats are those of the kernel's Documentation/admin-guide/iostats.rst
// and of proc(5). A line that does not fit is left out.
//
// Threads: any. The names borrow from the text.
#ifndef KYMO_BACKENDS_HOST_TRAFFIC_TEXT_H_
#define KYMO_BACKENDS_HOST_TRAFFIC_TEXT_H_

#include <cstdint>
#include <string_view>
#include <vector>

namespace kymo::host {

// Bytes since the device appeared.
struct Traffic {
  std::string_view name;
  uint64_t in_bytes = 0;   // read, received
  uint64_t out_bytes = 0;  // written, sent
};

// Disks, their partitions and devices that are made of other devices.
std::vector<Traffic> ParseDisks(std::string_view diskstats);
// Network interfaces, the loopback included.
std::vector<Traffic> ParseInterfaces(std::string_view net_dev);

}  // namespace kymo::host

#endif  // KYMO_BACKENDS_HOST_TRAFFIC_TEXT_H_
