// event_json.h - events and averages in the JSON forms of the reference data.
#ifndef KYMO_TESTS_CONFORMANCE_EVENT_JSON_H_
#define KYMO_TESTS_CONFORMANCE_EVENT_JSON_H_

#include <string>

#include "profiler/events/averages/event_averages.h"
#include "profiler/events/averages/function_event_avg.h"
#include "tests/conformance/case.h"

namespace kymo::conformance {

std::string ExpectedEventsJson(const Case& c);  // expected_events.json
std::string EventsJson(const Case& c);          // events.json
std::string AveragesJson(const EventAverages& averages);

// total_average.json of real cases has no device values, that of synthetic
// cases no key.
std::string RealTotalJson(const FunctionEventAvg& total);
std::string SyntheticTotalJson(const FunctionEventAvg& total);

}  // namespace kymo::conformance

#endif  // KYMO_TESTS_CONFORMANCE_EVENT_JSON_H_
