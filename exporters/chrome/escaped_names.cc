#include "exporters/chrome/escaped_names.h"

#include <cstddef>
#include <cstdint>

#include "exporters/json/json_text.h"
#include "profiler/base/parallel.h"

namespace kymo::chrome {
namespace {

constexpr size_t kGrain = 4096;

}  // namespace

EscapedNames::EscapedNames(const model::StringTable& strings)
    : blocks_(ParallelRangeCount(strings.size(), kGrain)),
      views_(strings.size()) {
  ParallelFor(strings.size(), kGrain, [&](size_t begin, size_t end) {
    std::string& block = blocks_[begin / kGrain];
    std::vector<size_t> ends;
    for (size_t i = begin; i < end; ++i) {
      json::AppendJsonString(
          block, strings.Get(model::NameId{static_cast<uint32_t>(i)}));
      ends.push_back(block.size());
    }
    size_t at = 0;  // the block has stopped moving
    for (size_t i = begin; i < end; ++i) {
      views_[i] = std::string_view(block).substr(at, ends[i - begin] - at);
      at = ends[i - begin];
    }
  });
}

}  // namespace kymo::chrome
