#include "backends/host/host_settings.h"

namespace kymo::host {

SettingTable<HostSettings> HostTable() {
  using S = HostSettings;
  return SettingTable<S>(
      "host",
      {{.name = "period_ms",
        .value = setting::Integer(&S::period_ms, 10, 60'000, "ms"),
        .purpose = "How often the counters are read. The kernel counts CPU "
                   "time in ticks of 10 ms, so shorter periods make the curves "
                   "of CPU use coarse."},
       {.name = "cores",
        .value = setting::Switch(&S::cores),
        .purpose = "Record how busy each core is, too. A machine with many "
                   "cores has as many curves."},
       {.name = "processes",
        .value = setting::Integer(&S::processes, 1, 4096),
        .purpose = "Most processes that are read at a time: the target and "
                   "those it starts. Each takes time at every reading."},
       {.name = "buffer",
        .value = setting::Bytes(&S::buffer_bytes, uint64_t{1} << 20,
                                uint64_t{64} << 30),
        .purpose = "Most memory for values, 24 bytes each. Later values are "
                   "dropped and counted."}});
}

}  // namespace kymo::host
