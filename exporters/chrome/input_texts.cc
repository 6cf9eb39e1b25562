#include "exporters/chrome/input_texts.h"

#include <string_view>

#include "profiler/model/op_inputs.h"
#include "profiler/text/json_text.h"

namespace kymo::chrome {
namespace {

InputText MakeText(std::string_view encoded) {
  return {.concrete = json::JsonStringList(model::ConcreteInputs(encoded)),
          .types = json::JsonStringList(model::InputDTypes(encoded)),
          .strides = model::InputStridesJson(encoded),
          .dims = model::InputDimsJson(encoded)};
}

size_t Bytes(const InputText& text) {
  return sizeof(text) + text.concrete.size() + text.types.size() +
         text.strides.size() + text.dims.size();
}

}  // namespace

InputTexts::InputTexts(const model::Trace& trace, size_t max_kept_bytes)
    : trace_(trace) {
  size_t bytes = 0;
  for (const model::Detail& detail : trace.data().details) {
    if (bytes >= max_kept_bytes) break;
    if (detail.inputs == model::kEmptyName) continue;
    const auto [it, is_new] = kept_.try_emplace(Index(detail.inputs));
    if (!is_new) continue;
    it->second = MakeText(trace.Name(detail.inputs));
    bytes += Bytes(it->second);
  }
}

const InputText& InputTexts::Get(model::NameId inputs,
                                 InputText& scratch) const {
  const auto it = kept_.find(Index(inputs));
  if (it != kept_.end()) return it->second;
  scratch = MakeText(trace_.Name(inputs));
  return scratch;
}

}  // namespace kymo::chrome
