// views.h - views for those who know the tables of Perfetto's trace processor.
//
//   for (const View& view : Views()) Execute(database, view.sql);
//
// slice, thread, process, counter, thread_track and counter_track have the
// columns that most queries use, with Perfetto's names and meanings: times are
// `ts` and `dur`, and the `dur` of a range that never ended is -1.
#ifndef KYMO_PROFILER_QUERY_VIEWS_H_
#define KYMO_PROFILER_QUERY_VIEWS_H_

#include <span>
#include <string_view>

namespace kymo::query {

struct View {
  std::string_view name;
  std::string_view columns;  // "id, ts, dur, ..."
  std::string_view sql;      // CREATE VIEW ...
};

std::span<const View> Views();

}  // namespace kymo::query

#endif  // KYMO_PROFILER_QUERY_VIEWS_H_
