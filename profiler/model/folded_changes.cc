#include "profiler/model/folded_changes.h"

namespace kymo::model {

void FoldedChanges::Add(const FoldedChange& change) {
  Append(static_cast<uint64_t>(change.time_ns - last_ns_));
  const uint64_t bytes =
      static_cast<uint64_t>(change.bytes < 0 ? -change.bytes : change.bytes);
  Append(bytes << 2 | static_cast<uint64_t>(change.kind));
  last_ns_ = change.time_ns;
}

void FoldedChanges::Append(uint64_t number) {
  for (; number >= 0x80; number >>= 7) {
    packed_.push_back(static_cast<uint8_t>(number | 0x80));
  }
  packed_.push_back(static_cast<uint8_t>(number));
}

}  // namespace kymo::model
