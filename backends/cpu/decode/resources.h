// resources.h - what a program has named, as metadata of the trace.
//
//   "named_resources": [{"process": 12, "kind": "stream", "handle": "0x5f0",
//                        "name": "copies", "domain": "loader"}, ...]
//
// In the order of process, kind and handle; of one thing's names the last.
#ifndef KYMO_BACKENDS_CPU_DECODE_RESOURCES_H_
#define KYMO_BACKENDS_CPU_DECODE_RESOURCES_H_

#include <cstdint>
#include <span>

#include "profiler/model/trace_shard.h"

namespace kymo::cpu {

struct Resource {
  int64_t pid = 0;
  uint8_t kind = 0;  // record::ResourceKind
  uint64_t handle = 0;
  model::NameId name = model::kEmptyName;
  model::NameId domain = model::kEmptyName;
};

// Nothing where there are none.
void AddResources(std::span<const Resource> resources,
                  model::TraceShard& shard);

}  // namespace kymo::cpu

#endif  // KYMO_BACKENDS_CPU_DECODE_RESOURCES_H_
