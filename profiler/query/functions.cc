#include "profiler/query/functions.h"

#include <sqlite3.h>

#include <algorithm>
#include <new>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "profiler/query/percentile.h"
#include "profiler/tables/table.h"

namespace kymo::query {
namespace {

using model::EventIndex;
using model::Trace;

constexpr FunctionInfo kFunctions[] = {
    {"ancestor(event, name)",
     "The id of the innermost range called `name` around the event"},
    {"self_ns(event)", "The event's time without that of its direct children"},
    {"stack_text(stack)",
     "The functions of a stack, outermost first: main;train;mm"},
    {"overlap(a, b)", "For how many ns two events, by id, ran at once"},
    {"overlap(a_start, a_dur, b_start, b_dur)",
     "For how many ns two stretches of time overlap"},
    {"percentile(x, p)",
     "An aggregate: the p-th percentile (0 to 100) of x without NULLs, "
     "interpolated"},
    {"percentile(x, p, n)", "The same, but each x counts n times"},
};

const tables::TraceTables& TablesOf(sqlite3_context* context) {
  return *static_cast<const tables::TraceTables*>(sqlite3_user_data(context));
}
const Trace& TraceOf(sqlite3_context* context) {
  return TablesOf(context).trace();
}

// A number from 0 to below `count`; nothing for anything else.
std::optional<uint32_t> NumberBelow(sqlite3_value* value, size_t count) {
  if (sqlite3_value_numeric_type(value) != SQLITE_INTEGER) return std::nullopt;
  const sqlite3_int64 number = sqlite3_value_int64(value);
  if (number < 0 || static_cast<uint64_t>(number) >= count) return std::nullopt;
  return static_cast<uint32_t>(number);
}

void Ancestor(sqlite3_context* context, int, sqlite3_value** values) {
  const Trace& trace = TraceOf(context);
  const auto event = NumberBelow(values[0], trace.event_count());
  const auto* const text =
      reinterpret_cast<const char*>(sqlite3_value_text(values[1]));
  if (!event || text == nullptr) return;
  const auto name = trace.strings().Find(std::string_view(
      text, static_cast<size_t>(sqlite3_value_bytes(values[1]))));
  if (!name) return;
  for (EventIndex i = trace.parent()[*event]; i != model::kNoEvent;
       i = trace.parent()[i]) {
    if (trace.name()[i] == *name) {
      sqlite3_result_int64(context, i);
      return;
    }
  }
}

void SelfNs(sqlite3_context* context, int, sqlite3_value** values) {
  static const tables::Column& column =
      *tables::FindTable("events")->FindColumn("self_ns");
  const auto event = NumberBelow(values[0], TraceOf(context).event_count());
  if (!event) return;
  try {
    int64_t self_ns = 0;
    TablesOf(context).Int64s(column, *event, *event + 1, &self_ns, nullptr);
    sqlite3_result_int64(context, self_ns);
  } catch (const std::bad_alloc&) {
    sqlite3_result_error_nomem(context);
  }
}

void StackText(sqlite3_context* context, int, sqlite3_value** values) {
  const Trace& trace = TraceOf(context);
  const auto stack = NumberBelow(values[0], trace.stacks().stack_count());
  if (!stack) return;
  try {
    std::string text;
    for (const model::FrameId frame :
         trace.stacks().Frames(model::StackId{*stack})) {
      if (!text.empty()) text += ';';
      text += trace.Name(trace.stacks().frame(frame).function);
    }
    sqlite3_result_text64(context, text.data(), text.size(), SQLITE_TRANSIENT,
                          SQLITE_UTF8);
  } catch (const std::bad_alloc&) {
    sqlite3_result_error_nomem(context);
  }
}

struct Stretch {
  int64_t begin = 0;
  int64_t end = 0;
};

void SetOverlap(sqlite3_context* context, const Stretch& a, const Stretch& b) {
  const int64_t begin = std::max(a.begin, b.begin);
  const int64_t end = std::min(a.end, b.end);
  int64_t length = 0;
  if (end > begin && __builtin_sub_overflow(end, begin, &length)) {
    sqlite3_result_error(context, "overlap: the times are too far apart", -1);
    return;
  }
  sqlite3_result_int64(context, length);
}

void OverlapOfEvents(sqlite3_context* context, int, sqlite3_value** values) {
  const Trace& trace = TraceOf(context);
  Stretch stretches[2];
  for (int i = 0; i < 2; ++i) {
    const auto event = NumberBelow(values[i], trace.event_count());
    if (!event) return;
    stretches[i] = {trace.start()[*event], trace.end()[*event]};
  }
  SetOverlap(context, stretches[0], stretches[1]);
}

void OverlapOfTimes(sqlite3_context* context, int, sqlite3_value** values) {
  Stretch stretches[2];
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 2; ++j) {
      const int type = sqlite3_value_numeric_type(values[2 * i + j]);
      if (type != SQLITE_INTEGER && type != SQLITE_FLOAT) return;
    }
    Stretch& stretch = stretches[i];
    stretch.begin = sqlite3_value_int64(values[2 * i]);
    if (__builtin_add_overflow(stretch.begin,
                               sqlite3_value_int64(values[2 * i + 1]),
                               &stretch.end)) {
      sqlite3_result_error(context, "overlap: start + dur is too large", -1);
      return;
    }
  }
  SetOverlap(context, stretches[0], stretches[1]);
}

struct Scalar {
  const char* name;
  int arguments;
  void (*call)(sqlite3_context*, int, sqlite3_value**);
};
constexpr Scalar kScalars[] = {
    {"ancestor", 2, Ancestor},      {"self_ns", 1, SelfNs},
    {"stack_text", 1, StackText},   {"overlap", 2, OverlapOfEvents},
    {"overlap", 4, OverlapOfTimes},
};

}  // namespace

std::span<const FunctionInfo> Functions() { return kFunctions; }

absl::Status AddFunctions(const tables::TraceTables& tables,
                          sqlite3* database) {
  constexpr int kFlags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS;
  int rc = SQLITE_OK;
  for (const Scalar& scalar : kScalars) {
    if (rc != SQLITE_OK) break;
    rc = sqlite3_create_function_v2(database, scalar.name, scalar.arguments,
                                    kFlags,
                                    const_cast<tables::TraceTables*>(&tables),
                                    scalar.call, nullptr, nullptr, nullptr);
  }
  for (const int arguments : {2, 3}) {
    if (rc != SQLITE_OK) break;
    rc = sqlite3_create_function_v2(database, "percentile", arguments, kFlags,
                                    nullptr, nullptr, PercentileStep,
                                    PercentileResult, nullptr);
  }
  if (rc == SQLITE_OK) return absl::OkStatus();
  return absl::InternalError(absl::StrCat("could not add the SQL functions: ",
                                          sqlite3_errmsg(database)));
}

}  // namespace kymo::query
