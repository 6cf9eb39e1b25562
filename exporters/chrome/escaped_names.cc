#include "exporters/chrome/escaped_names.h"

#include <cstddef>
#include <cstdint>

#include "profiler/base/parallel.h"
#include "profiler/text/json_text.h"

namespace kymo::chrome {
namespace {

constexpr size_t kGrain = 4096;

// By id: whether a text is an operation's inputs. Empty if none has inputs.
std::vector<bool> FindInputs(const model::Trace& trace) {
  std::vector<bool> is_inputs;
  for (const model::Detail& detail : trace.data().details) {
    if (detail.inputs == model::kEmptyName) continue;
    if (is_inputs.empty()) is_inputs.resize(trace.strings().size());
    is_inputs[Index(detail.inputs)] = true;
  }
  return is_inputs;
}

}  // namespace

EscapedNames::EscapedNames(const model::Trace& trace)
    : strings_(trace.strings()),
      blocks_(ParallelRangeCount(strings_.size(), kGrain)),
      views_(strings_.size()) {
  const std::vector<bool> is_inputs = FindInputs(trace);
  ParallelFor(strings_.size(), kGrain, [&](size_t begin, size_t end) {
    std::string& block = blocks_[begin / kGrain];
    std::vector<size_t> ends;
    for (size_t i = begin; i < end; ++i) {
      if (is_inputs.empty() || !is_inputs[i]) {
        json::AppendJsonString(
            block, strings_.Get(model::NameId{static_cast<uint32_t>(i)}));
      }
      ends.push_back(block.size());
    }
    size_t at = 0;  // the block has stopped moving
    for (size_t i = begin; i < end; ++i) {
      views_[i] = std::string_view(block).substr(at, ends[i - begin] - at);
      at = ends[i - begin];
    }
  });
}

std::string_view EscapedNames::Make(model::NameId name,
                                    std::string& scratch) const {
  scratch.clear();
  json::AppendJsonString(scratch, strings_.Get(name));
  return scratch;
}

}  // namespace kymo::chrome
