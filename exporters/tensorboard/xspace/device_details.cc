#include "exporters/tensorboard/xspace/device_details.h"

#include <algorithm>
#include <cctype>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "profiler/text/utf8.h"

namespace kymo::tensorboard {
namespace {

using model::Arg;
using model::ArgType;
using model::EventIndex;
using model::Trace;

// The last argument of a key counts.
const Arg* FindArg(const Trace& trace, EventIndex event, std::string_view key) {
  const Arg* found = nullptr;
  for (const Arg& arg : trace.args(event)) {
    if (trace.Name(arg.key) == key) found = &arg;
  }
  return found;
}

uint64_t Number(const Trace& trace, EventIndex event, std::string_view key) {
  const Arg* const arg = FindArg(trace, event, key);
  if (arg == nullptr) return 0;
  if (arg->type == ArgType::kInt && arg->int_value() > 0) {
    return static_cast<uint64_t>(arg->int_value());
  }
  const bool is_positive = arg->type == ArgType::kDouble &&
                           arg->double_value() > 0 &&
                           arg->double_value() < 1e18;
  return is_positive ? static_cast<uint64_t>(arg->double_value()) : 0;
}

// "[64, 1, 1]" as "64,1,1"; what is missing is 1.
std::string ThreeNumbers(const Trace& trace, EventIndex event,
                         std::string_view key) {
  const Arg* const arg = FindArg(trace, event, key);
  const std::string_view text = arg != nullptr && arg->has_text()
                                    ? trace.Name(arg->string_value())
                                    : std::string_view();
  std::string numbers;
  int count = 0;
  for (size_t i = 0; i < text.size() && count < 3;) {
    if (!std::isdigit(static_cast<unsigned char>(text[i]))) {
      ++i;
      continue;
    }
    if (count++ > 0) numbers += ',';
    for (; i < text.size() && std::isdigit(static_cast<unsigned char>(text[i]));
         ++i) {
      numbers += text[i];
    }
  }
  for (; count < 3; ++count) numbers += count == 0 ? "1" : ",1";
  return numbers;
}

}  // namespace

std::string KernelDetails(const Trace& trace, EventIndex event) {
  const uint64_t shared = Number(trace, event, "shared memory");
  const uint64_t static_shared =
      std::min(Number(trace, event, "static shared memory"), shared);
  return absl::StrCat(
      "regs:", Number(trace, event, "registers per thread"),
      " static_shared:", static_shared,
      " dynamic_shared:", shared - static_shared,
      " grid:", ThreeNumbers(trace, event, "grid"),
      " block:", ThreeNumbers(trace, event, "block"),
      " occ_pct:", Number(trace, event, "est. achieved occupancy %"));
}

std::string CopyDetails(const Trace& trace, EventIndex event) {
  const uint64_t bytes = Number(trace, event, "bytes");
  // One reader splits at colons and lines, another one at blanks.
  return absl::StrCat("num_bytes:", bytes, "\nsize:", bytes);
}

std::string FillDetails(const Trace& trace, EventIndex event) {
  return absl::StrCat("num_bytes:", Number(trace, event, "bytes"));
}

std::string CopyName(std::string_view name) {
  static constexpr std::string_view kKinds[][2] = {{"HtoD", "MemcpyHToD"},
                                                   {"DtoH", "MemcpyDToH"},
                                                   {"DtoD", "MemcpyDToD"},
                                                   {"PtoP", "MemcpyDToD"},
                                                   {"HtoH", "MemcpyHToH"}};
  for (const auto& [kind, copy] : kKinds) {
    if (name.find(kind) != std::string_view::npos) return std::string(copy);
  }
  std::string scratch;
  return std::string(json::ToUtf8(name, scratch));
}

}  // namespace kymo::tensorboard
