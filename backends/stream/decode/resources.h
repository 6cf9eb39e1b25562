// resources.h - names that a program gave to its resources, as metadata.
//
//   "named_resources": [{"process": 12, "kind": "stream", "handle": "0x5f0",
//                        "name": "copies", "domain": "loader"}, ...]
//
// Sorted by process, kind and handle. If a resource has several names, the last
// one counts.
#ifndef KYMO_BACKENDS_STREAM_DECODE_RESOURCES_H_
#define KYMO_BACKENDS_STREAM_DECODE_RESOURCES_H_

#include <cstdint>
#include <span>

#include "profiler/model/trace_shard.h"

namespace kymo::stream {

struct Resource {
  int64_t pid = 0;
  uint8_t kind = 0;  // record::ResourceKind
  uint64_t handle = 0;
  model::NameId name = model::kEmptyName;
  model::NameId domain = model::kEmptyName;
};

// Adds nothing if there are no resources.
void AddResources(std::span<const Resource> resources,
                  model::TraceShard& shard);

}  // namespace kymo::stream

#endif  // KYMO_BACKENDS_STREAM_DECODE_RESOURCES_H_
