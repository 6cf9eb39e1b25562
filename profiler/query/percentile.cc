#include "profiler/query/percentile.h"

#include <sqlite3.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>

namespace kymo::query {
namespace {

constexpr int64_t kMostTimes = std::numeric_limits<uint32_t>::max();

struct CountedValue {
  double value;
  uint64_t times;  // that it counts
};

// SQLite makes it of zeros and throws it away without asking: plain data only.
struct Values {
  CountedValue* values;
  uint64_t size;
  uint64_t capacity;
  uint64_t times;  // of all values
  double percent;
  bool has_percent;
};

// False, with an error, if there is no memory for one more.
bool Grow(sqlite3_context* context, Values& values) {
  if (values.size < values.capacity) return true;
  const uint64_t capacity = std::max<uint64_t>(64, values.capacity * 2);
  auto* const grown = static_cast<CountedValue*>(
      sqlite3_realloc64(values.values, capacity * sizeof(CountedValue)));
  if (grown == nullptr) {
    sqlite3_result_error_nomem(context);
    return false;
  }
  values.values = grown;
  values.capacity = capacity;
  return true;
}

// `count`: of the arguments.
void Fail(sqlite3_context* context, int count, const char* what) {
  const std::string message =
      std::string("percentile(x, p") + (count < 3 ? "): " : ", n): ") + what;
  sqlite3_result_error(context, message.c_str(), -1);
}

bool IsLess(const CountedValue& a, const CountedValue& b) {
  return a.value < b.value;
}

// The value of place `below`, with `end`, the place behind those that it has.
// The next value stands behind it.
const CountedValue* Find(Values& of, uint64_t below, uint64_t& end) {
  CountedValue* at = of.values;
  CountedValue* const last = at + of.size;
  if (of.times == of.size) {  // each counts once: no need to sort all
    at += below;
    std::nth_element(of.values, at, last, IsLess);
    if (at + 1 != last) {
      std::iter_swap(at + 1, std::min_element(at + 1, last, IsLess));
    }
    end = below + 1;
    return at;
  }
  std::sort(at, last, IsLess);
  end = at->times;
  while (end <= below) end += (++at)->times;
  return at;
}

bool IsNumber(sqlite3_value* value) {
  const int type = sqlite3_value_numeric_type(value);
  return type == SQLITE_INTEGER || type == SQLITE_FLOAT;
}

}  // namespace

void PercentileStep(sqlite3_context* context, int count,
                    sqlite3_value** values) {
  auto* const of =
      static_cast<Values*>(sqlite3_aggregate_context(context, sizeof(Values)));
  if (of == nullptr) {
    sqlite3_result_error_nomem(context);
    return;
  }
  const double percent = sqlite3_value_double(values[1]);
  if (!IsNumber(values[1]) || !(percent >= 0 && percent <= 100)) {
    Fail(context, count, "p must be a number from 0 to 100");
    return;
  }
  if (of->has_percent && of->percent != percent) {
    Fail(context, count, "p must be the same for all rows");
    return;
  }
  of->has_percent = true;
  of->percent = percent;
  if (sqlite3_value_type(values[0]) == SQLITE_NULL) return;
  if (!IsNumber(values[0])) {
    Fail(context, count, "x must be a number");
    return;
  }
  const int64_t times = count < 3 ? 1 : sqlite3_value_int64(values[2]);
  if (times < 0 || times > kMostTimes) {
    Fail(context, count, "n must be from 0 to 4294967295");
    return;
  }
  if (times == 0 || !Grow(context, *of)) return;
  of->values[of->size++] = {sqlite3_value_double(values[0]),
                            static_cast<uint64_t>(times)};
  of->times += static_cast<uint64_t>(times);
}

void PercentileResult(sqlite3_context* context) {
  auto* const of = static_cast<Values*>(sqlite3_aggregate_context(context, 0));
  if (of == nullptr) return;
  if (of->size != 0) {
    // As if each value stood there as often as it counts.
    const double place = of->percent / 100 * static_cast<double>(of->times - 1);
    // Of large numbers a double has no units: it may be rounded up.
    const uint64_t below =
        std::min(static_cast<uint64_t>(place), of->times - 1);
    uint64_t end = 0;
    const CountedValue* const at = Find(*of, below, end);
    double result = at->value;
    const double rest = place - static_cast<double>(below);
    if (rest > 0 && below + 1 == end && end < of->times) {
      result += rest * (at[1].value - result);
    }
    sqlite3_result_double(context, result);
  }
  sqlite3_free(of->values);
  of->values = nullptr;
}

}  // namespace kymo::query
