#include "profiler/query/percentile.h"

#include <sqlite3.h>

#include <algorithm>
#include <cstdint>
#include <limits>

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
    sqlite3_result_error(
        context, "percentile(x, p): p must be a number from 0 to 100", -1);
    return;
  }
  if (of->has_percent && of->percent != percent) {
    sqlite3_result_error(
        context, "percentile(x, p): p must be the same for all rows", -1);
    return;
  }
  of->has_percent = true;
  of->percent = percent;
  if (sqlite3_value_type(values[0]) == SQLITE_NULL) return;
  if (!IsNumber(values[0])) {
    sqlite3_result_error(context, "percentile(x, p): x must be a number", -1);
    return;
  }
  const int64_t times = count < 3 ? 1 : sqlite3_value_int64(values[2]);
  if (times < 0 || times > kMostTimes) {
    sqlite3_result_error(
        context, "percentile(x, p, n): n must be from 0 to 4294967295", -1);
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
    std::sort(of->values, of->values + of->size,
              [](const CountedValue& a, const CountedValue& b) {
                return a.value < b.value;
              });
    // As if each value stood there as often as it counts.
    const double place = of->percent / 100 * static_cast<double>(of->times - 1);
    // Of large numbers a double has no units: it may be rounded up.
    const uint64_t below =
        std::min(static_cast<uint64_t>(place), of->times - 1);
    const CountedValue* at = of->values;
    uint64_t end = at->times;  // the place behind those of `at`
    while (end <= below) end += (++at)->times;
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
