// finding_text.h - numbers and names in the sentences of findings.
//
//   TimeText(1'210'000'000)   // "1.21 s"
//   PercentText(45, 100)      // "45 %"
//   CountText(1'200'000)      // "1,200,000"
//   NameText("ns::f<int>()")  // shortened where it is long
//
// Threads: pure functions.
#ifndef KYMO_PROFILER_ANALYSIS_FINDINGS_FINDING_TEXT_H_
#define KYMO_PROFILER_ANALYSIS_FINDINGS_FINDING_TEXT_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "profiler/base/time.h"
#include "profiler/model/records.h"
#include "profiler/model/trace.h"

namespace kymo::analysis {

// Three digits and a unit: "1.21 s", "45.0 ms", "310 us", "17 ns".
std::string TimeText(DurationNs ns);

// "45 %"; one decimal below 10 %. 0 % of nothing.
std::string PercentText(double part, double whole);

// With commas between thousands.
std::string CountText(int64_t count);

// "1 call", "2 calls".
std::string CountText(int64_t count, std::string_view one,
                      std::string_view many);

// "; 2 threads more wait for these", of `others` besides those in a circle.
// Empty if there are none.
std::string OthersText(int64_t others, std::string_view one,
                       std::string_view many);

// At most 60 code points; "[unknown]" if it is empty.
std::string NameText(std::string_view name);

// "thread worker (4712)", "stream 7 of device 0".
std::string TrackText(const model::Trace& trace, model::TrackIndex track);

}  // namespace kymo::analysis

#endif  // KYMO_PROFILER_ANALYSIS_FINDINGS_FINDING_TEXT_H_
