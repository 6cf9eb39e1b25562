#include "tests/conformance/json_difference.h"

#include <simdjson.h>

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace kymo::conformance {
namespace {

using simdjson::dom::array;
using simdjson::dom::element;
using simdjson::dom::element_type;
using simdjson::dom::object;

constexpr double kTolerance = 1e-6;

std::string Compare(element actual, element expected, const std::string& path);

bool IsNumber(element value) {
  return value.is<double>() || value.is<int64_t>() || value.is<uint64_t>();
}

bool AreEqualNumbers(element a, element b) {
  const double x = a.get<double>().value_unsafe();
  const double y = b.get<double>().value_unsafe();
  if (!a.is<int64_t>() || !b.is<int64_t>()) {
    return std::abs(x - y) <=
           kTolerance * std::max({std::abs(x), std::abs(y), 1e-9});
  }
  return a.get<int64_t>().value_unsafe() == b.get<int64_t>().value_unsafe();
}

std::string Texts(const std::string& path, element a, element b) {
  return path + ": " + simdjson::minify(a) + " is not " + simdjson::minify(b);
}

std::string CompareArrays(array a, array b, const std::string& path) {
  if (a.size() != b.size()) {
    return path + ": " + std::to_string(a.size()) + " entries are not " +
           std::to_string(b.size());
  }
  size_t index = 0;
  auto other = b.begin();
  for (const element value : a) {
    const std::string difference =
        Compare(value, *other, path + "/" + std::to_string(index++));
    if (!difference.empty()) return difference;
    ++other;
  }
  return "";
}

std::string CompareObjects(object a, object b, const std::string& path) {
  for (const auto& [key, value] : b) {
    const std::string member = path + "/" + std::string(key);
    element own;
    if (a.at_key(key).get(own) != simdjson::SUCCESS) {
      return member + " is missing";
    }
    const std::string difference = Compare(own, value, member);
    if (!difference.empty()) return difference;
  }
  return a.size() == b.size() ? "" : path + ": has members too many";
}

std::string Compare(element actual, element expected, const std::string& path) {
  if (IsNumber(actual) && IsNumber(expected)) {
    return AreEqualNumbers(actual, expected) ? ""
                                             : Texts(path, actual, expected);
  }
  if (actual.type() != expected.type()) return Texts(path, actual, expected);
  switch (actual.type()) {
    case element_type::ARRAY:
      return CompareArrays(array(actual), array(expected), path);
    case element_type::OBJECT:
      return CompareObjects(object(actual), object(expected), path);
    default:
      return simdjson::minify(actual) == simdjson::minify(expected)
                 ? ""
                 : Texts(path, actual, expected);
  }
}

}  // namespace

std::string JsonDifference(std::string_view actual, std::string_view expected) {
  // A parser's elements end with its next text.
  simdjson::dom::parser first, second;
  element a, b;
  if (const auto error = first.parse(actual.data(), actual.size()).get(a)) {
    return std::string("not JSON: ") + simdjson::error_message(error);
  }
  if (const auto error =
          second.parse(expected.data(), expected.size()).get(b)) {
    return std::string("expected is not JSON: ") +
           simdjson::error_message(error);
  }
  return Compare(a, b, "");
}

}  // namespace kymo::conformance
