#include "importers/chrome/events/event_args.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <optional>
#include <utility>

#include "profiler/base/strings.h"

namespace kymo::chrome_import {
namespace {

using model::ActivityType;
using model::Arg;
using model::NameId;

enum class Key : uint8_t {
  kOther,
  kExternalId,
  kCorrelation,
  kSequenceNumber,
  kFwdThreadId,
  kCallStack,
  kDevice,
  kStream,
  kFinished,
  kFolded,
  kEvIdx,
  kRecordFunctionId,
  kPythonModuleId,
  kInputDims,
  kInputTypes,
  kInputStrides,
  kConcreteInputs,
};

struct KeyName {
  std::string_view name;
  Key key = Key::kOther;
};

constexpr KeyName kKeys[] = {
    {"External id", Key::kExternalId},
    {"correlation", Key::kCorrelation},
    {"Sequence number", Key::kSequenceNumber},
    {"Fwd thread id", Key::kFwdThreadId},
    {"Call stack", Key::kCallStack},
    {"device", Key::kDevice},
    {"stream", Key::kStream},
    {"finished", Key::kFinished},
    {"kymo_folded", Key::kFolded},
    {"Ev Idx", Key::kEvIdx},
    {"Record function id", Key::kRecordFunctionId},
    {"Python module id", Key::kPythonModuleId},
    {kInputKeyTexts[kInputDims], Key::kInputDims},
    {kInputKeyTexts[kInputTypes], Key::kInputTypes},
    {kInputKeyTexts[kInputStrides], Key::kInputStrides},
    {kInputKeyTexts[kConcreteInputs], Key::kConcreteInputs},
};

// No two of the keys have the same slot, so a name is compared with one only.
constexpr size_t kSlots = 64;

constexpr size_t SlotOf(std::string_view name) {
  return (name.size() + static_cast<unsigned char>(name.front()) +
          2u * static_cast<unsigned char>(name.back())) %
         kSlots;
}

constexpr auto kKeyOfSlot = [] {
  std::array<KeyName, kSlots> slots{};
  for (const KeyName& key : kKeys) slots[SlotOf(key.name)] = key;
  return slots;
}();

static_assert(std::ranges::all_of(kKeys, [](const KeyName& key) {
  return kKeyOfSlot[SlotOf(key.name)].key == key.key;
}));

Key FindKey(std::string_view name) {
  if (name.empty()) return Key::kOther;
  const KeyName& key = kKeyOfSlot[SlotOf(name)];
  return key.name == name ? key.key : Key::kOther;
}

bool IsOperation(ActivityType type) {
  return type == ActivityType::kCpuOp || type == ActivityType::kUserAnnotation;
}

}  // namespace

bool HasDriverCorrelation(ActivityType type) {
  switch (type) {
    case ActivityType::kGpuMemcpy:
    case ActivityType::kGpuMemset:
    case ActivityType::kConcurrentKernel:
    case ActivityType::kCudaRuntime:
    case ActivityType::kCudaDriver:
    case ActivityType::kCudaSync:
    case ActivityType::kCudaEvent:
      return true;
    default:
      return false;
  }
}

bool IsDeviceWork(ActivityType type) {
  switch (type) {
    case ActivityType::kGpuUserAnnotation:
    case ActivityType::kGpuMemcpy:
    case ActivityType::kGpuMemset:
    case ActivityType::kConcurrentKernel:
      return true;
    default:
      return false;
  }
}

std::optional<int32_t> AsDevice(std::optional<int64_t> number) {
  if (!number || !std::in_range<int32_t>(*number)) return std::nullopt;
  return static_cast<int32_t>(*number);
}

ReadArgs EventArgsReader::Read(ActivityType type, const RawEvent& event,
                               std::string_view category) {
  ReadArgs read;
  if (event.args.empty() && category.empty()) return read;
  type_ = type;
  detail_ = model::Detail();
  rare_ = model::RareDetail();
  detail_.args_begin = static_cast<uint32_t>(out_.args.size());
  if (has_inputs_) texts_ = InputTexts();
  has_inputs_ = has_detail_ = false;
  if (event.args.empty()) {
    const auto it = categories_.find(ToAbsl(category));
    if (it != categories_.end()) return {.detail = it->second};
  }
  for (const RawArg& arg : event.args) {
    if (!ReadKnown(arg, read)) AddArg(arg.key, arg.value);
  }
  if (IsDeviceWork(type) && read.stream && !read.device) {
    // MTIA: the process of the file is the device.
    read.device = AsDevice(ParseInt(event.pid.text));
  }
  if (read.device.has_value() != read.stream.has_value()) {
    // Only both together name a row.
    const bool is_device = read.device.has_value();
    const std::string number =
        std::to_string(is_device ? *read.device : *read.stream);
    AddArg(is_device ? "device" : "stream", {.text = number});
    read.device.reset();
    read.stream.reset();
  }
  AddInputs();
  if (!category.empty()) {
    AddArg("cat", {.kind = JsonValue::Kind::kString, .text = category});
  }
  detail_.args_end = static_cast<uint32_t>(out_.args.size());
  if (!has_detail_) return read;
  read.detail = static_cast<model::DetailIndex>(out_.details.size());
  out_.rare_details.Set(detail_, rare_);
  out_.details.push_back(detail_);
  if (event.args.empty())
    categories_.emplace(std::string(category), read.detail);
  return read;
}

// Reads an argument for which a trace has a place. False if it stays an
// argument.
bool EventArgsReader::ReadKnown(const RawArg& arg, ReadArgs& read) {
  const JsonValue& value = arg.value;
  const auto set = [&](auto& to, auto number, bool is_good = true) {
    if (!number || !is_good) return false;
    to = static_cast<std::decay_t<decltype(to)>>(*number);
    has_detail_ = true;
    return true;
  };
  const bool is_number = value.kind == JsonValue::Kind::kScalar;
  const auto integer = [&] {
    return is_number ? ParseInt(value.text) : std::nullopt;
  };
  const auto is_positive = [](std::optional<int64_t> number) {
    return number && *number > 0;
  };
  const Key key = FindKey(arg.key);
  switch (key) {
    case Key::kOther:
      return false;
    case Key::kExternalId:
    case Key::kCorrelation: {
      const bool is_drivers = key == Key::kCorrelation;
      const auto number = integer();
      return IsDriverType() == is_drivers && is_positive(number) &&
             set(detail_.correlation_id, number);
    }
    case Key::kSequenceNumber:
      return set(detail_.sequence_nr, integer(), integer().value_or(-1) >= 0);
    case Key::kFwdThreadId:
      return set(rare_.forward_thread, integer(), integer().value_or(-1) >= 0);
    case Key::kCallStack: {
      if (!value.is_string()) return false;
      detail_.stack = stacks_.Find(Unescape(value.text, scratch_));
      has_detail_ = has_detail_ || detail_.stack != model::kEmptyStack;
      return detail_.stack != model::kEmptyStack;
    }
    case Key::kDevice:
      if (IsRuntimeOrHost()) return false;
      read.device = AsDevice(integer());
      return read.device.has_value();
    case Key::kStream:
      if (IsRuntimeOrHost() || !integer()) return false;
      read.stream = integer();
      return true;
    case Key::kFinished:
      read.is_open = value.text == "false";
      return read.is_open;
    case Key::kFolded:
      read.is_folded =
          set(rare_.calls, integer(),
              is_positive(integer()) &&
                  *integer() <= std::numeric_limits<uint32_t>::max());
      return read.is_folded;
    case Key::kEvIdx:
      return integer().has_value();
    case Key::kRecordFunctionId:
      if (!IsOperation(type_) || value.text != "0") return false;
      has_detail_ = true;  // the operation has more than a name
      return true;
    case Key::kPythonModuleId:
      read.is_module = type_ == ActivityType::kPythonFunction;
      return false;
    case Key::kInputDims:
    case Key::kInputTypes:
    case Key::kInputStrides:
    case Key::kConcreteInputs: {
      if (value.kind != JsonValue::Kind::kNested) return false;
      const auto input =
          static_cast<size_t>(key) - static_cast<size_t>(Key::kInputDims);
      texts_.text[input] = value.text;
      has_inputs_ = true;
      return true;
    }
  }
  return false;
}

bool EventArgsReader::IsRuntimeOrHost() const {
  return IsOperation(type_) || type_ == ActivityType::kCudaRuntime ||
         type_ == ActivityType::kCudaDriver ||
         type_ == ActivityType::kPythonFunction;
}

void EventArgsReader::AddInputs() {
  if (!has_inputs_) return;
  const KnownInputs& known = FindInputs();
  if (known.inputs != model::kEmptyName) {
    detail_.inputs = known.inputs;
    has_detail_ = true;
  }
  for (size_t key = 0; key < kInputKeys; ++key) {
    if (texts_.text[key].empty() || known.is_exact[key]) continue;
    AddArg(kInputKeyTexts[key],
           {.kind = JsonValue::Kind::kNested, .text = texts_.text[key]});
  }
}

const EventArgsReader::KnownInputs& EventArgsReader::FindInputs() {
  scratch_.clear();
  for (const std::string_view text : texts_.text) {
    scratch_ += text;
    scratch_ += '\0';
  }
  const auto [it, is_new] = inputs_.try_emplace(scratch_);
  if (is_new) {
    const EncodedInputs encoded = EncodeInputTexts(texts_);
    it->second = {.inputs = out_.strings.Intern(encoded.bytes),
                  .is_exact = encoded.is_exact};
  }
  return it->second;
}

void EventArgsReader::AddArg(std::string_view raw_key, const JsonValue& value) {
  has_detail_ = true;
  const NameId key = out_.strings.Intern(Unescape(raw_key, scratch_));
  if (value.is_string()) {
    const NameId text = out_.strings.Intern(Unescape(value.text, scratch_));
    out_.args.push_back(Arg::String(key, text));
    return;
  }
  if (value.kind == JsonValue::Kind::kScalar) {
    if (const auto number = ParseInt(value.text)) {
      out_.args.push_back(Arg::Int(key, *number));
      return;
    }
    // A whole number beyond 64 bits stays text: a double would change it.
    const bool is_whole =
        value.text.find_first_not_of("-0123456789") == std::string_view::npos;
    const auto number = is_whole ? std::nullopt : ParseDouble(value.text);
    if (number) {
      out_.args.push_back(Arg::Double(key, *number));
      return;
    }
  }
  out_.args.push_back(Arg::Json(key, out_.strings.Intern(value.text)));
}

}  // namespace kymo::chrome_import
