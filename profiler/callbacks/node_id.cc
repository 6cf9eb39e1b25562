#include "kymo/node_id.h"

#include "kymo/warning.h"
#include "profiler/record/host/host.h"

namespace kymo {

void SetDefaultNodeId(int64_t node_id) {
  if (node_id < 0) {
    Warn("setDefaultNodeId expects an id >= 0.");
    return;
  }
  record::SetNodeId(node_id);
}

int64_t DefaultNodeId() noexcept { return record::NodeId(); }

}  // namespace kymo
