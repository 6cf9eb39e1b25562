#include "profiler/tables/texts.h"

#include "profiler/model/op_inputs.h"
#include "profiler/text/json_text.h"

namespace kymo::tables {

Texts::Texts(const model::Trace& trace)
    : trace_(trace),
      names_(trace.strings().size()),
      track_kinds_{Add("thread"), Add("stream")},
      arg_types_{Add("int"), Add("double"), Add("string"), Add("json")},
      memory_sources_{Add("reported"), Add("heap"), Add("mapped")},
      allocation_(Add("allocation")),
      free_(Add("free")),
      out_of_memory_(Add("out_of_memory")) {
  for (size_t i = 0; i < categories_.size(); ++i) {
    categories_[i] =
        Add(model::ActivityTypeName(static_cast<model::ActivityType>(i)));
  }
  for (size_t i = 0; i < wait_kinds_.size(); ++i) {
    wait_kinds_[i] = Add(model::NameOf(static_cast<model::WaitKind>(i)));
  }
  for (size_t i = 0; i < run_queues_.size(); ++i) {
    run_queues_[i] = Add(model::kRunQueueNames[i]);
  }
  for (size_t i = 0; i < work_kinds_.size(); ++i) {
    work_kinds_[i] =
        Add(analysis::WorkKindName(static_cast<analysis::WorkKind>(i)));
  }
  for (size_t i = 0; i < device_types_.size(); ++i) {
    device_types_[i] = Add(DeviceTypeName(static_cast<DeviceType>(i)));
  }
  for (size_t i = 0; i < loss_names_.size(); ++i) {
    const auto loss = static_cast<model::Loss>(i);
    loss_names_[i] = Add(model::LossName(loss));
    loss_texts_[i] = Add(model::LossText(trace.ledger(), loss));
  }
}

TextId Texts::Add(std::string_view text) {
  if (const auto name = trace_.strings().Find(text)) return Of(*name);
  for (size_t i = 0; i < added_.size(); ++i) {
    if (added_[i] == text) return TextId{static_cast<uint32_t>(names_ + i)};
  }
  if (added_.size() == kMaxAdded) return kNoText;
  added_.emplace_back(text);
  return TextId{static_cast<uint32_t>(names_ + added_.size() - 1)};
}

std::unordered_map<uint32_t, Texts::OfInputs> Texts::InputsOfAll() const {
  std::unordered_map<uint32_t, OfInputs> all;
  for (const model::Detail& detail : trace_.data().details) {
    if (detail.inputs == model::kEmptyName) continue;
    const auto [it, is_new] = all.try_emplace(Index(detail.inputs));
    if (!is_new) continue;
    const std::string_view encoded = trace_.Name(detail.inputs);
    it->second = {model::InputDimsJson(encoded),
                  model::InputStridesJson(encoded),
                  json::JsonStringList(model::InputDTypes(encoded)),
                  json::JsonStringList(model::ConcreteInputs(encoded))};
  }
  return all;
}

std::string_view Texts::Get(TextId id) const {
  const size_t index = Index(id);
  if (index < names_) return trace_.Name(model::NameId{Index(id)});
  if (index < names_ + kMaxAdded) {
    const size_t added = index - names_;
    return added < added_.size() ? std::string_view(added_[added])
                                 : std::string_view();
  }
  const size_t of_inputs = index - names_ - kMaxAdded;
  const auto& all = inputs_.Get([this] { return InputsOfAll(); });
  const auto it = all.find(static_cast<uint32_t>(of_inputs % names_));
  if (it == all.end() || of_inputs / names_ >= kInputTexts) return {};
  return it->second[of_inputs / names_];
}

}  // namespace kymo::tables
