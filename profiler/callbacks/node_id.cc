#include "kymo/node_id.h"

#include <cstdint>
#include <limits>

#include "kymo/warning.h"
#include "profiler/record/host/host.h"

namespace kymo {
namespace {

// What FunctionEvent::node_id holds.
constexpr int64_t kMaxNodeId = std::numeric_limits<int32_t>::max();

}  // namespace

void SetDefaultNodeId(int64_t node_id) {
  if (node_id < 0) {
    Warn("setDefaultNodeId expects an id >= 0.");
    return;
  }
  if (node_id > kMaxNodeId) {
    Warn("setDefaultNodeId expects an id of at most 2147483647.");
    return;
  }
  record::SetNodeId(node_id);
}

int64_t DefaultNodeId() noexcept { return record::NodeId(); }

}  // namespace kymo
