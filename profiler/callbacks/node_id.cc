#include "kymo/node_id.h"

#include <atomic>

#include "kymo/warning.h"

namespace kymo {
namespace {

constinit std::atomic<int64_t> default_node_id{-1};

}  // namespace

void SetDefaultNodeId(int64_t node_id) {
  if (node_id < 0) {
    Warn("setDefaultNodeId expects an id >= 0.");
    return;
  }
  default_node_id.store(node_id, std::memory_order_relaxed);
}

int64_t DefaultNodeId() noexcept {
  return default_node_id.load(std::memory_order_relaxed);
}

}  // namespace kymo
