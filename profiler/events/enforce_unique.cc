#include "profiler/events/enforce_unique.h"

#include "absl/strings/str_cat.h"
#include "profiler/text/python_text.h"

namespace kymo {
namespace {

// A tuple of one element has a comma behind it.
std::string TupleText(std::span<const EnforceUnique::Part> key) {
  std::string out = "(";
  for (const EnforceUnique::Part& part : key) {
    if (out.size() > 1) out += ", ";
    if (const auto* const number = std::get_if<int64_t>(&part)) {
      absl::StrAppend(&out, *number);
    } else {
      out += PythonString(std::get<std::string_view>(part));
    }
  }
  return out + (key.size() == 1 ? ",)" : ")");
}

}  // namespace

absl::Status EnforceUnique::See(std::span<const Part> key) {
  const auto [text, is_new] = seen_.insert(TupleText(key));
  if (is_new) return absl::OkStatus();
  return absl::AlreadyExistsError(absl::StrCat("duplicate key: ", *text));
}

}  // namespace kymo
