// sampled_processes.h - tells backends whether the others sample everything.
//
//   // Both backends of one recording get the same one (shared_parts.h).
//   const auto sampled = kymo::SampledProcesses::Of(options.shared);
//   sampled->all = true;                 // the sampler
//   if (sampled->all) return {};         // the other, after the recording
//
// A program that takes nothing preloaded is missing from a recording, unless
// it is sampled from outside.
#ifndef KYMO_PROFILER_PLUGIN_SAMPLED_PROCESSES_H_
#define KYMO_PROFILER_PLUGIN_SAMPLED_PROCESSES_H_

#include <cstdint>
#include <memory>

#include "profiler/plugin/shared_parts.h"

namespace kymo {

struct SampledProcesses {
  // The target and all that it starts are sampled, whatever they load.
  bool all = false;
  // Programs at whose start the kernel ended that. The sampler counts them.
  uint64_t unseen_programs = 0;

  // The recording's own. If `parts` is null, nobody shares it.
  static std::shared_ptr<SampledProcesses> Of(
      const std::shared_ptr<SharedParts>& parts) {
    const auto make = [] { return std::make_shared<SampledProcesses>(); };
    return parts == nullptr ? make() : *parts->Get<SampledProcesses>(make);
  }
};

}  // namespace kymo

#endif  // KYMO_PROFILER_PLUGIN_SAMPLED_PROCESSES_H_
