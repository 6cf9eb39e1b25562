#include "profiler/report/ranks/job_averages.h"

namespace kymo::report {
namespace {

void WriteNumbers(const analysis::RankNumbers& numbers,
                  json::JsonWriter& json) {
  json.BeginObject();
  json.Member("count", numbers.count);
  json.Member("sum_ns", numbers.sum_ns);
  json.Key("deviation_ns");
  json.Double(numbers.deviation_ns());
  json.Member("least_ns", numbers.least_ns);
  json.Member("least_rank", numbers.least_rank);
  json.Member("most_ns", numbers.most_ns);
  json.Member("most_rank", numbers.most_rank);
  json.EndObject();
}

}  // namespace

void WriteJobAverages(const analysis::RankSums& sums, json::JsonWriter& json) {
  json.BeginObject();
  json.Key("ranks");
  json.BeginArray();
  for (const analysis::RankWork& rank : sums.ranks()) {
    json.BeginObject();
    json.Member("rank", rank.rank);
    json.Member("work_ns", rank.work_ns);
    json.EndObject();
  }
  json.EndArray();
  json.Key("averages");
  json.BeginArray();
  for (const auto& [name, of] : sums.names()) {
    json.BeginObject();
    json.Member("name", name);
    json.Key("calls");
    WriteNumbers(of.calls, json);
    json.Key("totals_of_ranks");
    WriteNumbers(of.totals, json);
    // [longest duration, calls] of each bucket that has any.
    json.Key("call_histogram");
    json.BeginArray();
    for (const auto& [bucket, count] : of.histogram) {
      json.BeginArray();
      json.Int(analysis::DurationBucketEnd(bucket));
      json.Int(count);
      json.EndArray();
    }
    json.EndArray();
    json.EndObject();
  }
  json.EndArray();
  json.EndObject();
}

}  // namespace kymo::report
