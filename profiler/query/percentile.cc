#include "profiler/query/percentile.h"

#include <sqlite3.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace kymo::query {
namespace {

// SQLite makes it of zeros and throws it away without asking: plain data only.
struct Values {
  double* values;
  uint64_t size;
  uint64_t capacity;
  double percent;
  bool has_percent;
};

// False, with an error, if there is no memory for one more.
bool Grow(sqlite3_context* context, Values& values) {
  if (values.size < values.capacity) return true;
  const uint64_t capacity = std::max<uint64_t>(64, values.capacity * 2);
  auto* const grown = static_cast<double*>(
      sqlite3_realloc64(values.values, capacity * sizeof(double)));
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

void PercentileStep(sqlite3_context* context, int, sqlite3_value** values) {
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
  if (Grow(context, *of)) {
    of->values[of->size++] = sqlite3_value_double(values[0]);
  }
}

void PercentileResult(sqlite3_context* context) {
  auto* const of = static_cast<Values*>(sqlite3_aggregate_context(context, 0));
  if (of == nullptr) return;
  if (of->size != 0) {
    const double place = of->percent / 100 * static_cast<double>(of->size - 1);
    const auto below = static_cast<uint64_t>(place);
    double* const end = of->values + of->size;
    std::nth_element(of->values, of->values + below, end);
    double result = of->values[below];
    const double rest = place - static_cast<double>(below);
    if (rest > 0) {
      result +=
          rest * (*std::min_element(of->values + below + 1, end) - result);
    }
    sqlite3_result_double(context, result);
  }
  sqlite3_free(of->values);
  of->values = nullptr;
}

}  // namespace kymo::query
