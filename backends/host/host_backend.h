// host_backend.h - counters of the machine and of the target, from /proc.
//
// Ten times a second it reads how busy the cores are, memory, page faults,
// context switches, disks and the network, and the same of the target and of
// the processes that it starts. The values are counters of the trace
// (model::CounterSample); README.md lists them with their units.
//
// Its settings are declared in host_settings.cc. It is recorded on request only
// (PluginInfo::on_request): `--activities=cpu,host`, or
// `.activities = {"cpu", "host"}`.
#ifndef KYMO_BACKENDS_HOST_HOST_BACKEND_H_
#define KYMO_BACKENDS_HOST_HOST_BACKEND_H_

#include <memory>

#include "profiler/plugin/activity_backend.h"

namespace kymo {

std::unique_ptr<ActivityBackend> NewHostBackend();

}  // namespace kymo

#endif  // KYMO_BACKENDS_HOST_HOST_BACKEND_H_
